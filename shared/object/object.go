// Package object reads whole objects of S3 into memory, never more of one than
// its caller allows. Whoever needs a part, a version or a stream asks S3 itself.
package object

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/retry"
)

// Getter is what Read needs of S3.
type Getter interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// Errors that say what Read found. Asking again finds the same.
var (
	ErrNotFound = errors.New("no such object")
	ErrTooLarge = errors.New("the object is too large")
)

// Read reads an object of at most most bytes. A missing one is ErrNotFound, a
// larger one ErrTooLarge; a body that is cut on the way is asked for again, and
// in the end is fault.Transient. Any other error is as S3 gave it: the caller
// says what was being read, and names it (awserr.Fault) where it leaves a process.
func Read(ctx context.Context, objects Getter, p retry.Policy, bucket, key string, most int64) ([]byte, error) {
	var b []byte
	err := p.Do(ctx, func() error {
		out, err := objects.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
		if err != nil {
			return err
		}
		defer out.Body.Close()
		b, err = io.ReadAll(io.LimitReader(out.Body, most+1))
		return fault.Wrap(fault.Transient, err, "read the body")
	})
	switch {
	case awserr.KindOf(err) == awserr.NotFound:
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	case err != nil:
		return nil, err
	case int64(len(b)) > most:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, most)
	}
	return b, nil
}
