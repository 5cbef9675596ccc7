package render

import (
	"bytes"
	"context"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/object"
)

// Objects is what this function needs of S3.
type Objects interface {
	object.Getter
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// own reports whether a key lies in the analysis's own working folder.
func own(analysisID, key string) bool {
	return path.Clean(key) == key && strings.HasPrefix(key, names.PrefixWork+analysisID+"/")
}

// get reads an object of at most limit bytes.
func (d Deps) get(ctx context.Context, key string, limit int64) ([]byte, error) {
	data, err := object.Read(ctx, d.Objects, d.Retry, d.Bucket, key, limit)
	return data, awserr.Fault(err, "render: get "+key)
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
