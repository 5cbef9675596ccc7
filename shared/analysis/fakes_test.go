package analysis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go"

	"fastbowlinglab/shared/analysis"
)

// fakeSteps is Step Functions as far as names go.
type fakeSteps struct {
	mu      sync.Mutex
	started map[string]int
	stopped map[string]int
	lost    int // answers to lose after the execution was started
}

func (f *fakeSteps) StartExecution(_ context.Context, in *sfn.StartExecutionInput, _ ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.started == nil {
		f.started = map[string]int{}
	}
	f.started[*in.Name]++
	if f.lost > 0 {
		f.lost--
		return nil, errors.New("connection reset")
	}
	if f.stopped[*in.Name] > 0 {
		msg := "closed"
		return nil, &sfntypes.ExecutionAlreadyExists{Message: &msg}
	}
	return &sfn.StartExecutionOutput{}, nil
}

func (f *fakeSteps) StopExecution(_ context.Context, in *sfn.StopExecutionInput, _ ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped == nil {
		f.stopped = map[string]int{}
	}
	name := (*in.ExecutionArn)[strings.LastIndexByte(*in.ExecutionArn, ':')+1:]
	f.stopped[name]++
	if f.stopped[name] > 1 {
		return nil, &sfntypes.ExecutionDoesNotExist{}
	}
	return &sfn.StopExecutionOutput{}, nil
}

func TestStart(t *testing.T) {
	steps := &fakeSteps{lost: 2}
	if existed, err := analysis.Start(t.Context(), steps, machine, "an-1", 1); err != nil || existed {
		t.Errorf("two lost answers: existed %t, %v", existed, err)
	}
	steps.stopped = map[string]int{"an-1-1": 1}
	if existed, err := analysis.Start(t.Context(), steps, machine, "an-1", 1); err != nil || !existed {
		t.Errorf("a closed one: existed %t, %v", existed, err)
	}
	if n := steps.started["an-1-1"]; n != 4 {
		t.Errorf("%d requests, want 4: one that exists is not asked for again", n)
	}
}

// objects is a versioned bucket that answers ranges as S3 does.
type objects map[string][]byte

func (o objects) GetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	b, ok := o[*in.Key]
	if !ok {
		return nil, &s3types.NoSuchKey{}
	}
	version, etag := "v-"+*in.Key, `"e"`
	out := &s3.GetObjectOutput{VersionId: &version, ETag: &etag}
	if *in.Key == "unversioned" {
		out.VersionId = nil
	}
	if in.Range != nil {
		if len(b) == 0 {
			return nil, &smithy.GenericAPIError{Code: "InvalidRange"}
		}
		n := min(len(b), 512)
		cr := fmt.Sprintf("bytes 0-%d/%d", n-1, len(b))
		out.ContentRange, b = &cr, b[:n]
	}
	size := int64(len(b))
	out.ContentLength, out.Body = &size, io.NopCloser(bytes.NewReader(b))
	return out, nil
}

func TestPin(t *testing.T) {
	mp4 := append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), make([]byte, 9000)...)
	o := objects{"mp4": mp4, "empty": {}, "html": []byte("<html><body>error"), "unversioned": {1}}
	got, err := analysis.Pin(t.Context(), o, "b", []analysis.Clip{{Key: "mp4", SizeBytes: 1}, {Key: "empty"}, {Key: "html"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		size    int64
		sniffed string
	}{{int64(len(mp4)), "video/mp4"}, {0, http.DetectContentType(nil)}, {17, "text/html; charset=utf-8"}}
	for i, w := range want {
		if c := got[i]; c.SizeBytes != w.size || c.Sniffed != w.sniffed || c.VersionID != "v-"+c.Key || c.ETag != `"e"` {
			t.Errorf("clip %d = %+v, want %+v", i, c, w)
		}
	}
	var missing *analysis.MissingError
	if _, err := analysis.Pin(t.Context(), o, "b", []analysis.Clip{{Key: "x"}, {Key: "mp4"}, {Key: "y"}}); !errors.As(err, &missing) || fmt.Sprint(missing.Clips) != "[0 2]" {
		t.Errorf("missing clips: %v", err)
	}
	if _, err := analysis.Pin(t.Context(), o, "b", []analysis.Clip{{Key: "unversioned"}}); err == nil {
		t.Error("an object without a version is pinned")
	}
}
