package poseworker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
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
	read    func() // called for every chunk that was read
}

// put stores an object. Its key holds the fence, so that writing it again
// writes the same owner's bytes.
func (s chunkStore) put(ctx context.Context, key, contentType string, body []byte) error {
	err := s.timed(ctx, func(ctx context.Context) error {
		return s.retry.Do(ctx, func() error {
			_, err := s.objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &key, ContentType: &contentType, Body: bytes.NewReader(body)})
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	return nil
}

// timed does something to one object. Storage that takes the request and says nothing
// would hold the pass until it is given up as stuck; and what it may yet do if it is
// asked again is its absence.
func (s chunkStore) timed(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, names.PoseStoreTime)
	defer cancel()
	err := fn(ctx)
	if awserr.KindOf(err).Retryable() {
		return errors.Join(media.ErrAway, err)
	}
	return err
}

// packed is a chunk as it is stored, and what its row must know.
func packed(key string, c pose.Chunk) ([]byte, posejob.Checkpoint, error) {
	body, err := posejob.Pack(c)
	if err != nil {
		return nil, posejob.Checkpoint{}, err
	}
	sum := sha256.Sum256(body)
	return body, posejob.Checkpoint{Key: key, SHA256: sum[:], Frames: len(c.Frames), Last: c.Last}, nil
}

// load reads checkpoints in order. One whose object is missing or is not what
// the row says ends the list: the pass goes on from there.
func (s chunkStore) load(ctx context.Context, cps []posejob.Checkpoint) ([]pose.Chunk, error) {
	var out []pose.Chunk
	for i, cp := range cps {
		var body []byte
		err := s.timed(ctx, func(ctx context.Context) (err error) {
			body, err = object.Read(ctx, s.objects, s.retry, s.bucket, cp.Key, posejob.MaxChunkBytes)
			return err
		})
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
		s.read() // hundreds of them, from slow storage, are no stall
	}
	return out, nil
}
