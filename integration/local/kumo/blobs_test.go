package kumo_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/awserr"
)

// Many readers of ranges of a large clip at once, and uploads of one, by PUT and
// by form: none of it may need memory in proportion.
func TestLargeObjectsDoNotFillTheMemory(t *testing.T) {
	p := run(t, filepath.Join(t.TempDir(), "state"))
	defer p.kill()
	p.bucket(t)
	const size = 96 << 20
	body := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	out, err := p.s3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("large"), Body: bytes.NewReader(body),
		ContentType: aws.String("video/mp4"), Metadata: map[string]string{"kind": "clip"}})
	check(t, err)
	old := out.VersionId
	_, err = p.s3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("large"), Body: strings.NewReader("small")})
	check(t, err)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 4 {
				at := int64(w*4+i) * 1_000_003
				got, err := p.s3.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("large"), VersionId: old,
					Range: aws.String(fmt.Sprintf("bytes=%d-%d", at, at+9))})
				if err != nil {
					t.Error(err)
					return
				}
				b, err := io.ReadAll(got.Body)
				if err = errors.Join(err, got.Body.Close()); err != nil || !bytes.Equal(b, body[at:at+10]) ||
					*got.VersionId != *old || got.Metadata["kind"] != "clip" || *got.ContentType != "video/mp4" || *got.ETag != *out.ETag {
					t.Errorf("at %d: %q %v %+v", at, b, err, got)
				}
			}
		})
	}
	wg.Wait()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	check(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kb int
	_, err = fmt.Sscan(rest, &kb)
	check(t, err)
	t.Logf("the server's memory peaked at %d MB", kb>>10)
	if kb>>10 > 150 {
		t.Errorf("%d MB for an object of %d MB", kb>>10, size>>20)
	}

	now, err := p.s3.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("large"), Range: aws.String("bytes=0-9")})
	check(t, err)
	b, err := io.ReadAll(now.Body)
	check(t, errors.Join(err, now.Body.Close()))
	if string(b) != "small" {
		t.Errorf("the newest version is %q", b)
	}
	whole, err := p.s3.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("large"), VersionId: old})
	check(t, err)
	if *whole.ContentLength != size {
		t.Errorf("head says %d bytes", *whole.ContentLength)
	}
	get := func(rng string) error {
		got, err := p.s3.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("large"), VersionId: old, Range: &rng})
		if err == nil {
			err = got.Body.Close()
		}
		return err
	}
	if err := get("bytes=" + strconv.Itoa(size) + "-"); !awserr.Is(err, "InvalidRange") {
		t.Errorf("a range past the end: %v", err)
	}
	_, err = p.s3.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("large"), VersionId: old})
	check(t, err)
	if err := get("bytes=0-1"); awserr.KindOf(err) != awserr.NotFound {
		t.Errorf("a version that was deleted: %v", err)
	}
}
