package precheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/functions/precheck"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/usage"
)

// world is everything around the function: a row, a bucket behind HTTP, a
// model setting, and a detector that sees what it is told to.
type world struct {
	row      *analysis.Row
	model    aitask.Model
	modelErr error
	other    aitask.Provider // of the setting "other"
	effects  memory
	calls    []usage.Call
	person   func(img image.Image) []pose.Person
	down     atomic.Bool // storage answers 503
	together media.Together

	url     string
	objects map[string][]byte // written
	looked  int
	widest  int
	signed  []string // version ids
}

func (w *world) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if w.row == nil {
		return &dynamodb.GetItemOutput{}, nil
	}
	item, err := attributevalue.MarshalMap(*w.row)
	return &dynamodb.GetItemOutput{Item: item}, err
}

func (w *world) PresignGetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.PresignOptions)) (*v4.PresignedHTTPRequest, error) {
	w.signed = append(w.signed, *in.VersionId)
	return &v4.PresignedHTTPRequest{URL: w.url + "/" + *in.Key + "?X-Amz-Signature=secret"}, nil
}

func (w *world) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	b, err := io.ReadAll(in.Body)
	w.objects[*in.Key] = b
	return &s3.PutObjectOutput{}, err
}

func (w *world) Model(context.Context, aitask.Task) (aitask.Model, error) { return w.model, w.modelErr }

func (w *world) detect(img image.Image, least float64) ([]pose.Person, error) {
	w.looked++
	w.widest = max(w.widest, img.Bounds().Dx())
	return w.person(img), nil
}

// put makes a world whose analysis has the given files as clips.
func put(t *testing.T, files ...string) *world {
	t.Helper()
	w := &world{model: aitask.DefaultModel, objects: map[string][]byte{}, person: somebody, effects: memory{},
		together: *media.DefaultTogether(names.DefaultPoseModel)}
	w.row = &analysis.Row{AnalysisID: "an-1", Attempt: 2, Status: analysis.Analysing}
	paths := map[string]string{}
	for i, f := range files {
		key := names.ClipKey("an-1", i)
		paths["/"+key] = f
		w.row.Clips = append(w.row.Clips, analysis.Clip{Name: "my clip.mp4", Key: key, VersionID: "v" + key[len(key)-1:]})
	}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.down.Load() {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.ServeFile(rw, r, paths[r.URL.Path])
	}))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	return w
}

func (w *world) run(t *testing.T) (names.VerdictOut, error) {
	t.Helper()
	h := precheck.New(precheck.Deps{DB: w, Analyses: "t", Sign: w, Objects: w, Bucket: "b", Tasks: w.runner(), Detect: w.detect, Limits: media.DefaultLimits(), Together: w.together})
	out, err := h.Invoke(t.Context(), []byte(`{"analysis_id":"an-1","attempt":2}`))
	var v names.VerdictOut
	if err == nil {
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatal(err)
		}
	}
	return v, err
}

func (w *world) runner() *aitask.Runner {
	return &aitask.Runner{Effects: w.effects, Objects: w, Bucket: "b", Models: w,
		Providers: map[string]aitask.Provider{aitask.RulesProvider: precheck.Rules{}, "other": w.other},
		Record:    func(_ context.Context, c usage.Call) error { w.calls = append(w.calls, c); return nil }}
}

// memory keeps results as the effects table does, for one caller.
type memory map[string][]byte

func (m memory) Once(ctx context.Context, key string, _ time.Duration, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	if b, ok := m[key]; ok {
		return b, nil
	}
	b, err := fn(ctx)
	if err == nil {
		m[key] = b
	}
	return b, err
}

func (w *world) record(t *testing.T) precheck.Record {
	t.Helper()
	var r precheck.Record
	if err := json.Unmarshal(w.objects["work/an-1/2/precheck.json"], &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func somebody(img image.Image) []pose.Person {
	return []pose.Person{{Score: 0.9, Radius: float64(img.Bounds().Dy()) / 5}}
}

func nobody(image.Image) []pose.Person { return nil }

func sample(t *testing.T, name string) string {
	return filepath.Join(projectRoot(t), "integration", "samples", name)
}

// media file of the field cases; skipped where they are missing.
func fieldCase(t *testing.T, name string) string {
	t.Helper()
	p := filepath.Join(filepath.Dir(projectRoot(t)), "shared", "cases", "media", name)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("skipped: cases/media/%s is not here", name)
	}
	return p
}

func projectRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func write(t *testing.T, content string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "clip")
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// half is the sample cut in the middle, as an upload that broke off.
func half(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(sample(t, "bowler.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	return write(t, string(b[:len(b)/2]))
}

func TestPass(t *testing.T) {
	w := put(t, sample(t, "bowler.mp4"))
	v, err := w.run(t)
	if err != nil || v != (names.VerdictOut{Verdict: names.VerdictPass}) {
		t.Fatalf("%+v, %v", v, err)
	}
	if w.looked != names.PrecheckPerClip || w.widest > names.PrecheckWidth {
		t.Errorf("%d frames, %d pixels wide", w.looked, w.widest)
	}
	if r := w.record(t); len(r.Clips) != 1 || r.Clips[0].Frames != 150 || r.Provider != "rules" || !strings.Contains(r.Said, "By rules, from person detection: somebody was found in 3 of 3 frames") {
		t.Errorf("record %+v", r)
	}
	if len(w.signed) != 1 || w.signed[0] != "v0" {
		t.Errorf("signed versions %v, want the pinned one", w.signed)
	}
	first := string(w.objects["work/an-1/2/precheck.json"])
	if strings.Contains(first, "my clip") || strings.Contains(first, "secret") {
		t.Error("the record holds the athlete's file name or a signature")
	}
	if again, err := w.run(t); err != nil || again != v || string(w.objects["work/an-1/2/precheck.json"]) != first {
		t.Errorf("called again: %+v, %v", again, err)
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		file func(t *testing.T) string
		want reason.Code
	}{
		{"Empty", func(t *testing.T) string { return write(t, "") }, reason.MediaEmpty},
		{"Text", func(t *testing.T) string { return write(t, "this is not a film\n") }, reason.MediaNotVideo},
		{"CutInHalf", half, reason.MediaCut},
		{"CutWithIndexInFront", func(t *testing.T) string { return fieldCase(t, "m07_truncated_moov_first.mp4") }, reason.MediaCut},
		{"NoVideoTrack", func(t *testing.T) string { return fieldCase(t, "m06_audio_only.mp4") }, reason.MediaNoVideo},
		{"TooLarge", func(t *testing.T) string { return fieldCase(t, "m14_8k.mp4") }, reason.MediaTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := put(t, c.file(t))
			v, err := w.run(t)
			if err != nil || v.Verdict != names.VerdictReject || v.Reason != string(c.want) {
				t.Errorf("%+v, %v, want reject for %s", v, err, c.want)
			}
			if w.looked != 0 || len(w.calls) != 0 {
				t.Errorf("%d frames were looked at, %d calls", w.looked, len(w.calls))
			}
		})
	}
}

func TestOneBadClipDoesNotSinkTheRest(t *testing.T) {
	w := put(t, write(t, ""), sample(t, "bowler.mp4"))
	v, err := w.run(t)
	if err != nil || v.Verdict != names.VerdictPass {
		t.Fatalf("%+v, %v", v, err)
	}
	if r := w.record(t); r.Clips[0].Refused != reason.MediaEmpty || r.Clips[1].Refused != "" {
		t.Errorf("record %+v", r)
	}
}

// More footage than the pose pass takes is refused before it is looked at: the clip that
// takes the others over, and the analysis where it is the first.
func TestMoreThanThePassTakes(t *testing.T) {
	clip := sample(t, "bowler.mp4")
	w := put(t, clip, clip)
	w.together.MaxFrames = 200 // of 150 each
	v, err := w.run(t)
	if err != nil || v.Verdict != names.VerdictPass {
		t.Fatalf("%+v, %v", v, err)
	}
	if r := w.record(t); r.Clips[0].Refused != "" || r.Clips[1].Refused != reason.MediaTooLong || len(r.Clips[1].Looks) != 0 {
		t.Errorf("record %+v", r)
	}
	w = put(t, clip)
	w.together.MaxTime = time.Second
	v, err = w.run(t)
	if err != nil || v.Verdict != names.VerdictReject || v.Reason != string(reason.MediaTooLong) || w.looked != 0 || len(w.calls) != 0 {
		t.Errorf("%+v, %v; %d frames were looked at, %d calls", v, err, w.looked, len(w.calls))
	}
}

func TestNobodyIsThere(t *testing.T) {
	w := put(t, sample(t, "bowler.mp4"))
	w.person = nobody
	if v, err := w.run(t); err != nil || v.Reason != string(reason.NoPerson) {
		t.Errorf("%+v, %v", v, err)
	}
	// A doubtful person is not nobody.
	w.effects = memory{} // another analysis
	w.person = func(img image.Image) []pose.Person { return []pose.Person{{Score: 0.3, Radius: 60}} }
	if v, err := w.run(t); err != nil || v.Verdict != names.VerdictPass {
		t.Errorf("doubtful: %+v, %v", v, err)
	}
}

func TestLongClipIsNotJudgedByThreeStills(t *testing.T) {
	w := put(t, fieldCase(t, "m17_screen_recording_sparse.mp4")) // 21 s
	w.person = nobody
	if v, err := w.run(t); err != nil || v.Verdict != names.VerdictPass {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestFramesOfManyClipsStayWithinTheLimit(t *testing.T) {
	for _, n := range []int{3, names.MaxClips} {
		files := make([]string, n)
		for i := range files {
			files[i] = sample(t, "bowler.mp4")
		}
		w := put(t, files...)
		if _, err := w.run(t); err != nil {
			t.Fatal(err)
		}
		if w.looked > names.PrecheckFrames || w.looked < n || w.looked < min(names.PrecheckFrames, 3*n) {
			t.Errorf("%d clips: %d frames", n, w.looked)
		}
	}
}

func TestNoVerdictWhenItIsNotTheFootage(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*world)
		want fault.Name
	}{
		{"StorageDown", func(w *world) { w.down.Store(true) }, fault.Transient},
		{"EndedAlready", func(w *world) { w.row.Status = analysis.Failed }, fault.Conceded},
		{"OtherAttempt", func(w *world) { w.row.Attempt = 3 }, fault.Conceded},
		{"NoSuchAnalysis", func(w *world) { w.row = nil }, fault.Permanent},
		{"NotPinned", func(w *world) { w.row.Clips[0].VersionID = "" }, fault.Permanent},
		{"OtherProvider", func(w *world) { w.model = aitask.Model{Provider: "acme", Setting: "/x/model/precheck"} }, fault.ModelUnavailable},
		{"SettingUnreadable", func(w *world) { w.modelErr = fault.New(fault.Transient, "SSM is away") }, fault.Transient},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := put(t, sample(t, "bowler.mp4"))
			c.set(w)
			v, err := w.run(t)
			var e messages.InvokeResponse_Error
			if !errors.As(err, &e) || e.Type != string(c.want) {
				t.Errorf("%+v, %v, want the error %s", v, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error holds a signature: %v", err)
			}
			if len(w.objects) != 0 {
				t.Error("a record was written")
			}
			if len(w.calls) != 0 {
				t.Errorf("%d calls were made", len(w.calls))
			}
		})
	}
}
