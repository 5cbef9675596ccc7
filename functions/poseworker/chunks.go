package poseworker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/object"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/retry"
)

// chunkStore keeps chunks in storage as gzipped JSON.
type chunkStore struct {
	objects Objects
	bucket  string
	retry   retry.Policy
	log     *slog.Logger
}

// put stores an object. Its key holds the fence, so that writing it again
// writes the same owner's bytes.
func (s chunkStore) put(ctx context.Context, key, contentType, encoding string, body []byte) error {
	in := &s3.PutObjectInput{Bucket: &s.bucket, Key: &key, ContentType: &contentType}
	if encoding != "" {
		in.ContentEncoding = &encoding
	}
	err := s.retry.Do(ctx, func() error {
		in.Body = bytes.NewReader(body)
		_, err := s.objects.PutObject(ctx, in)
		return err
	})
	if err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	return nil
}

// save stores a chunk and gives what its row must know.
func (s chunkStore) save(ctx context.Context, key string, c pose.Chunk) (posejob.Checkpoint, error) {
	body, err := posejob.Pack(c)
	if err != nil {
		return posejob.Checkpoint{}, err
	}
	if err := s.put(ctx, key, "application/gzip", "", body); err != nil {
		return posejob.Checkpoint{}, err
	}
	sum := sha256.Sum256(body)
	return posejob.Checkpoint{Key: key, SHA256: sum[:], Frames: len(c.Frames), Last: c.Last}, nil
}

// load reads checkpoints in order. One whose object is missing or is not what
// the row says ends the list: the pass goes on from there.
func (s chunkStore) load(ctx context.Context, cps []posejob.Checkpoint) ([]pose.Chunk, error) {
	var out []pose.Chunk
	for i, cp := range cps {
		body, err := object.Read(ctx, s.objects, s.retry, s.bucket, cp.Key, posejob.MaxChunkBytes)
		if err != nil && !errors.Is(err, object.ErrNotFound) && !errors.Is(err, object.ErrTooLarge) {
			return nil, fmt.Errorf("read checkpoint %s: %w", cp.Key, err)
		}
		var c pose.Chunk
		if err == nil {
			c, err = posejob.Unpack(body, cp, i)
		}
		if err != nil {
			s.log.Warn("a checkpoint is no use; going on before it", "key", cp.Key, "error", err.Error())
			return out, nil
		}
		out = append(out, c)
	}
	return out, nil
}
