package render

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// Objects is what this function needs of S3.
type Objects interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

var (
	errNoObject = errors.New("no such object")
	errTooLarge = errors.New("the object is too large")
)

// own reports whether a key lies in the analysis's own working folder.
func own(analysisID, key string) bool {
	return path.Clean(key) == key && strings.HasPrefix(key, names.PrefixWork+analysisID+"/")
}

// get reads an object of at most limit bytes.
func (d Deps) get(ctx context.Context, key string, limit int64) ([]byte, error) {
	var data []byte
	err := d.Retry.Do(ctx, func() error {
		out, err := d.Objects.GetObject(ctx, &s3.GetObjectInput{Bucket: &d.Bucket, Key: &key})
		if err != nil {
			return err
		}
		defer out.Body.Close()
		if data, err = io.ReadAll(io.LimitReader(out.Body, limit+1)); err != nil {
			return fault.Wrap(fault.Transient, err, "read the body") // cut on the way
		}
		return nil
	})
	switch {
	case awserr.KindOf(err) == awserr.NotFound:
		return nil, fault.Wrap(fault.Permanent, errors.Join(errNoObject, err), "render: get %s", key)
	case err != nil:
		return nil, awserr.Fault(err, "render: get "+key)
	case int64(len(data)) > limit:
		return nil, fault.Wrap(fault.Permanent, errTooLarge, "render: get %s: more than %d bytes", key, limit)
	}
	return data, nil
}

// put stores an object; repeating it stores the same.
func (d Deps) put(ctx context.Context, key, contentType string, data []byte) error {
	err := d.Retry.Do(ctx, func() error {
		_, err := d.Objects.PutObject(ctx, &s3.PutObjectInput{
			Bucket: &d.Bucket, Key: &key, ContentType: &contentType, Body: bytes.NewReader(data),
		})
		return err
	})
	return awserr.Fault(err, "render: put "+key)
}
