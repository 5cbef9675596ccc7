// Package objecttest is a bucket in memory, for tests; no program imports it.
package objecttest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Bucket is a bucket of S3. Whole objects are read and written.
type Bucket struct {
	mu   sync.Mutex
	data map[string][]byte
	fail func(operation, key string) error
}

// New makes an empty bucket.
func New() *Bucket { return &Bucket{data: map[string][]byte{}} }

// All is a copy of what is stored.
func (b *Bucket) All() map[string][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.data)
}

// Get gives an object's bytes; nil where there is none.
func (b *Bucket) Get(key string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data[key]
}

// Put stores bytes; nil removes them.
func (b *Bucket) Put(key string, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if body == nil {
		delete(b.data, key)
		return
	}
	b.data[key] = body
}

// Fail makes every call ask fn whether it fails; nil ends that.
func (b *Bucket) Fail(fn func(operation, key string) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = fn
}

// PutObject stores an object as S3 does.
func (b *Bucket) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		if err := b.fail("PutObject", *in.Key); err != nil {
			return nil, err
		}
	}
	b.data[*in.Key] = body
	return &s3.PutObjectOutput{}, nil
}

// GetObject gives an object as S3 does, NoSuchKey where there is none.
func (b *Bucket) GetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		if err := b.fail("GetObject", *in.Key); err != nil {
			return nil, err
		}
	}
	body, ok := b.data[*in.Key]
	if !ok {
		return nil, &types.NoSuchKey{}
	}
	return &s3.GetObjectOutput{Body: io.NopCloser(bytes.NewReader(body))}, nil
}
