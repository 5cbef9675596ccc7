package revise

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/object"
	"fastbowlinglab/shared/retry"
)

// Objects is what Files needs of S3.
type Objects interface {
	object.Getter
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Files reads and writes the files of analyses.
type Files struct {
	Objects Objects
	Bucket  string
	Retry   retry.Policy
}

func (f Files) get(ctx context.Context, key string, most int64) ([]byte, error) {
	b, err := object.Read(ctx, f.Objects, f.Retry, f.Bucket, key, most)
	return b, awserr.Fault(err, "read "+key)
}

func (f Files) put(ctx context.Context, key string, b []byte) error {
	kind := "application/json"
	err := f.Retry.Do(ctx, func() error {
		_, err := f.Objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &f.Bucket, Key: &key, Body: bytes.NewReader(b), ContentType: &kind})
		return err
	})
	return awserr.Fault(err, "write "+key)
}

// result reads a pose result of the analysis.
func (f Files) result(ctx context.Context, id, key string) (motion.Result, error) {
	if !strings.HasPrefix(key, names.PrefixWork+id+"/") {
		return motion.Result{}, fault.New(fault.Permanent, "revise %s: its result is at %.80q", id, key)
	}
	b, err := f.get(ctx, key, motion.MaxResultBytes)
	if err != nil {
		return motion.Result{}, err
	}
	r, err := motion.ReadResult(bytes.NewReader(b))
	if err != nil {
		return r, fault.Wrap(fault.Permanent, err, "read %s", key)
	}
	if !r.Usable() {
		return r, fault.New(fault.Permanent, "%s: no clip was measured", key)
	}
	return r, nil
}

// findings reads the findings that coaching goes by.
func (f Files) findings(ctx context.Context, run names.Run, key string) (*aitask.FindingsText, error) {
	b, err := f.get(ctx, key, aitask.MaxDocument)
	if err != nil {
		return nil, err
	}
	doc, err := aitask.ReadDocument(bytes.NewReader(b), aitask.Findings)
	if err != nil {
		return nil, fault.Wrap(fault.Permanent, err, "read %s of %s", key, run.AnalysisID)
	}
	return doc.Findings, nil
}

// maxReport bounds report.json, in bytes.
const maxReport = 64 << 20

// made names an object and its digest.
func (f Files) made(ctx context.Context, key string) (backfill.Made, error) {
	b, err := f.get(ctx, key, maxReport)
	if err != nil {
		return backfill.Made{}, fmt.Errorf("take the digest: %w", err)
	}
	sum := sha256.Sum256(b)
	return backfill.Made{Key: key, Hash: hex.EncodeToString(sum[:])}, nil
}
