package posetest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Objects is a bucket.
type Objects struct {
	mu   sync.Mutex
	data map[string][]byte
	fail func(operation, key string) error
}

// NewObjects makes an empty bucket.
func NewObjects() *Objects { return &Objects{data: map[string][]byte{}} }

// All is a copy of what is stored.
func (o *Objects) All() map[string][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.data)
}

// Put stores bytes; nil removes them.
func (o *Objects) Put(key string, body []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if body == nil {
		delete(o.data, key)
		return
	}
	o.data[key] = body
}

// Fail makes every call ask fn whether it fails; nil ends that.
func (o *Objects) Fail(fn func(operation, key string) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail = fn
}

// PutObject implements poseworker.Objects.
func (o *Objects) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail != nil {
		if err := o.fail("PutObject", *in.Key); err != nil {
			return nil, err
		}
	}
	o.data[*in.Key] = body
	return &s3.PutObjectOutput{}, nil
}

// GetObject implements poseworker.Objects.
func (o *Objects) GetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail != nil {
		if err := o.fail("GetObject", *in.Key); err != nil {
			return nil, err
		}
	}
	body, ok := o.data[*in.Key]
	if !ok {
		return nil, &types.NoSuchKey{}
	}
	return &s3.GetObjectOutput{Body: io.NopCloser(bytes.NewReader(body))}, nil
}
