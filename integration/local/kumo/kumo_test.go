package kumo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/integration/local/kumo"
	"fastbowlinglab/shared/awserr"
)

// TestMain is also the process that TestAcknowledgedWritesSurviveKill9 kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("KUMO_TEST_DIR"); dir != "" {
		serve(dir)
		return
	}
	os.Exit(m.Run())
}

const bucket = "fbl-test"

type cloud struct {
	url string
	aws aws.Config
	s3  *s3.Client
	sqs *sqs.Client
}

func clients(url string) *cloud {
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(url), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	return &cloud{url, cfg, s3.NewFromConfig(cfg), sqs.NewFromConfig(cfg)}
}

// start serves kumo in memory over a socket, with one versioned bucket.
func start(t *testing.T) *cloud {
	t.Helper()
	var h http.Handler
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) }))
	handler, release, err := kumo.New(kumo.Config{URL: srv.URL})
	check(t, err)
	h = handler
	t.Cleanup(func() { srv.Close(); check(t, release()) })
	c := clients(srv.URL)
	c.bucket(t)
	return c
}

func (c *cloud) bucket(t *testing.T) {
	t.Helper()
	_, err := c.s3.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(bucket)})
	if err != nil && !awserr.Is(err, "BucketAlreadyOwnedByYou") {
		t.Fatal(err)
	}
	_, err = c.s3.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: aws.String(bucket),
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusEnabled}})
	check(t, err)
}

func (c *cloud) put(t *testing.T, key, body string) (version string) {
	t.Helper()
	out, err := c.s3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader(body),
		ContentType: aws.String("video/mp4"), Metadata: map[string]string{"kind": "clip"}})
	check(t, err)
	return *out.VersionId
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestHeadObjectNamesItsVersion(t *testing.T) {
	c := start(t)
	old := c.put(t, "clip", "first")
	now := c.put(t, "clip", "second!")
	empty := c.put(t, "empty", "")
	for _, tc := range []struct {
		name, key string
		ask       *string
		version   string
		size      int64
	}{
		{"Newest", "clip", nil, now, 7}, {"Old", "clip", &old, old, 5}, {"Empty", "empty", nil, empty, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := c.s3.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: &tc.key, VersionId: tc.ask})
			check(t, err)
			if aws.ToString(out.VersionId) != tc.version || aws.ToInt64(out.ContentLength) != tc.size ||
				aws.ToString(out.ContentType) != "video/mp4" || out.Metadata["kind"] != "clip" || aws.ToString(out.ETag) == "" {
				t.Errorf("version %q (want %s), %d bytes, %s %v", aws.ToString(out.VersionId), tc.version, aws.ToInt64(out.ContentLength),
					aws.ToString(out.ContentType), out.Metadata)
			}
		})
	}
	_, err := c.s3.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("none")})
	if awserr.KindOf(err) != awserr.NotFound {
		t.Errorf("a missing object: %v", err)
	}
}

// The confirm, the worker and ffmpeg read a named version by presigned URL, with ranges.
func TestPresignedURLOfAnOldVersion(t *testing.T) {
	c := start(t)
	old := c.put(t, "pre", "0123456789")
	c.put(t, "pre", "overwritten")
	get := func(age time.Duration, rng string) (int, string, http.Header) {
		p, err := s3.NewPresignClient(c.s3).PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket),
			Key: aws.String("pre"), VersionId: &old}, s3.WithPresignExpires(time.Minute))
		check(t, err)
		if !strings.HasPrefix(p.URL, c.url) {
			t.Fatalf("signed for %s", p.URL)
		}
		u, err := url.Parse(p.URL)
		check(t, err)
		q := u.Query()
		q.Set("X-Amz-Date", time.Now().Add(-age).UTC().Format("20060102T150405Z")) // the signature is not checked
		u.RawQuery = q.Encode()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.String(), nil)
		check(t, err)
		if rng != "" {
			req.Header.Set("Range", rng)
		}
		return do(t, req)
	}
	if code, body, h := get(0, ""); code != 200 || body != "0123456789" || h.Get("X-Amz-Version-Id") != old {
		t.Errorf("whole: %d %q %s", code, body, h.Get("X-Amz-Version-Id"))
	}
	if code, body, h := get(0, "bytes=2-4"); code != 206 || body != "234" || h.Get("Content-Range") != "bytes 2-4/10" {
		t.Errorf("range: %d %q %s", code, body, h.Get("Content-Range"))
	}
	if code, _, _ := get(0, "bytes=10-"); code != 416 {
		t.Errorf("a range past the end: %d", code)
	}
	if code, body, _ := get(2*time.Minute, ""); code != 403 || !strings.Contains(body, "expired") {
		t.Errorf("an expired URL: %d %s", code, body)
	}
}

func TestPresignedPutAndNoOverwrite(t *testing.T) {
	c := start(t)
	p, err := s3.NewPresignClient(c.s3).PresignPutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("up-" + t.Name())})
	check(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.URL, strings.NewReader("body"))
	check(t, err)
	if code, body, _ := do(t, req); code != 200 {
		t.Errorf("presigned PUT: %d %s", code, body)
	}
	once := func() error {
		_, err := c.s3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("once-" + c.url),
			Body: strings.NewReader("x"), IfNoneMatch: aws.String("*")})
		return err
	}
	check(t, once())
	if err := once(); awserr.KindOf(err) != awserr.Condition {
		t.Errorf("a second If-None-Match: %v", err)
	}
}

func TestPresignedPostPolicy(t *testing.T) {
	c := start(t)
	post := func(key, contentType, body string) int {
		p, err := s3.NewPresignClient(c.s3).PresignPostObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("clips/1")},
			func(o *s3.PresignPostOptions) {
				o.Expires = time.Minute
				o.Conditions = []any{[]any{"content-length-range", 1, 10}, map[string]string{"Content-Type": "video/mp4"}}
			})
		check(t, err)
		p.Values["key"], p.Values["Content-Type"] = key, contentType
		var form bytes.Buffer
		w := newForm(&form, p.Values, body)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL, &form)
		check(t, err)
		req.Header.Set("Content-Type", w)
		code, _, _ := do(t, req)
		return code
	}
	for _, tc := range []struct {
		name, key, contentType, body string
		ok                           bool
	}{
		{"OK", "clips/1", "video/mp4", "12345", true},
		{"TooLong", "clips/1", "video/mp4", "12345678901", false},
		{"Empty", "clips/1", "video/mp4", "", false},
		{"OtherKey", "clips/2", "video/mp4", "12345", false},
		{"OtherType", "clips/1", "text/html", "12345", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if code := post(tc.key, tc.contentType, tc.body); (code < 300) != tc.ok {
				t.Errorf("%d", code)
			}
		})
	}
}

func newForm(w io.Writer, values map[string]string, body string) (contentType string) {
	const sep = "form-separator"
	for k, v := range values {
		fmt.Fprintf(w, "--%s\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", sep, k, v)
	}
	fmt.Fprintf(w, "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"clip.mp4\"\r\nContent-Type: video/mp4\r\n\r\n%s\r\n--%s--\r\n", sep, body, sep)
	return "multipart/form-data; boundary=" + sep
}

func do(t *testing.T, req *http.Request) (int, string, http.Header) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	check(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	check(t, err)
	return resp.StatusCode, string(b), resp.Header
}

// An uploader that stalls must not hold up the others.
func TestAStalledUploadStopsNobody(t *testing.T) {
	c := start(t)
	pr, pw := io.Pipe()
	defer pw.Close()
	req, err := http.NewRequest(http.MethodPut, c.url+"/"+bucket+"/stalled", pr)
	check(t, err)
	req.ContentLength = 1 << 20
	go func() { _, _ = http.DefaultClient.Do(req) }() // never answered: the test ends first
	_, err = pw.Write(make([]byte, 1000))
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for i := range 20 { // long enough for the server to be at the stalled one's body
		_, err = c.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("quick" + strconv.Itoa(i)), Body: strings.NewReader("x")})
		check(t, err)
	}
}

func TestLargeUploadGoesThroughAFile(t *testing.T) {
	c := start(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 3<<16) // 3 MiB
	_, err := c.s3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("big"), Body: bytes.NewReader(big)})
	check(t, err)
	out, err := c.s3.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("big")})
	check(t, err)
	defer out.Body.Close()
	got, err := io.ReadAll(out.Body)
	check(t, err)
	if !bytes.Equal(got, big) {
		t.Errorf("%d bytes came back of %d", len(got), len(big))
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "fbl-upload-*"))
	check(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOneUserAtATimeAndPrepared(t *testing.T) {
	start(t)
	if _, _, err := kumo.New(kumo.Config{}); err == nil {
		t.Error("two users at once")
	}
	if _, _, err := kumo.New(kumo.Config{Dir: t.TempDir()}); !errors.Is(err, kumo.ErrNotPrepared) {
		t.Errorf("a folder that this process does not keep: %v", err)
	}
}

func TestChunkedBodiesAreRefused(t *testing.T) {
	c := start(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, c.url+"/"+bucket+"/k", strings.NewReader("4\r\nbody\r\n0\r\n\r\n"))
	check(t, err)
	req.Header.Set("X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
	if code, body, _ := do(t, req); code != 501 || !strings.Contains(body, "aws-chunked") {
		t.Errorf("%d %s", code, body)
	}
}
