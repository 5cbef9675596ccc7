package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/report"
	"fastbowlinglab/shared/retry"
)

const id = "an-abc"

// bucket is an S3 bucket whose calls can be made to fail.
type bucket struct {
	mu   sync.Mutex
	data map[string][]byte
	puts int
	fail func(op, key string) error
}

func (b *bucket) call(op, key string) error {
	if b.fail == nil {
		return nil
	}
	if err := b.fail(op, key); err != nil {
		return &smithy.OperationError{ServiceID: "S3", OperationName: op, Err: err}
	}
	return nil
}

func (b *bucket) GetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.call("GetObject", *in.Key); err != nil {
		return nil, err
	}
	d, ok := b.data[*in.Key]
	if !ok {
		return nil, &smithy.OperationError{ServiceID: "S3", OperationName: "GetObject", Err: &types.NoSuchKey{}}
	}
	return &s3.GetObjectOutput{Body: io.NopCloser(bytes.NewReader(d))}, nil
}

func (b *bucket) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	d, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.puts++
	if err := b.call("PutObject", *in.Key); err != nil {
		return nil, err
	}
	b.data[*in.Key] = d
	return &s3.PutObjectOutput{}, nil
}

// table answers GetItem with one row.
type table struct{ row *analysis.Row }

func (t table) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if t.row == nil {
		return &dynamodb.GetItemOutput{}, nil
	}
	item, err := attributevalue.MarshalMap(t.row)
	return &dynamodb.GetItemOutput{Item: item}, err
}

// echo is a reporter that writes down its input.
type echo struct {
	in     report.Input
	frames map[string]error
	err    error
}

func (e *echo) Build(ctx context.Context, in report.Input) ([]byte, []byte, error) {
	e.in, e.frames = in, map[string]error{}
	for _, c := range in.Result.Clips {
		for _, p := range c.Phases {
			_, err := in.Frame(ctx, p.FrameKey)
			e.frames[p.FrameKey] = err
			if err != nil && !errors.Is(err, report.ErrNoFrame) {
				return nil, nil, err
			}
		}
	}
	js, err := json.Marshal([]any{in.AnalysisID, in.Athlete, in.Result, in.Findings, in.Coaching})
	if e.err != nil {
		return nil, nil, e.err
	}
	return append([]byte("%PDF-"), js...), js, err
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// setting is a finished pose pass whose report is to be rendered.
type setting struct {
	deps   Deps
	bucket *bucket
	row    *analysis.Row
	echo   *echo
	in     names.RenderIn
}

func newSetting(t *testing.T) *setting {
	t.Helper()
	work := names.PrefixWork + id + "/2/7/"
	good, gone, foreign := work+"frame-0-release.jpg", work+"frame-0-run_up.jpg", names.PrefixWork+"an-other/1/1/frame-0-release.jpg"
	res := motion.Result{Version: motion.ResultVersion, Engine: "e", Model: "full", Clips: []motion.Clip{
		{Index: 0, Phases: []motion.Phase{{Name: motion.RunUp, FrameKey: gone}, {Name: motion.Release, FrameKey: good}, {Name: motion.FollowThrough, FrameKey: foreign}}},
		{Index: 1, Refused: reason.MediaCut}}}
	who := aitask.Author{Provider: aitask.RulesProvider, Model: "rules", Version: "1"}
	findings := aitask.Document{Version: aitask.DocumentVersion, Task: aitask.Findings, Author: who, Findings: &aitask.FindingsText{
		Summary: "s", Items: []aitask.Finding{{Title: "t", Detail: "d", Kind: aitask.Strength}}}}
	drill := aitask.Drill{Title: "t", Purpose: "p", Steps: []string{"s"}, Dose: "d"}
	coaching := aitask.Document{Version: aitask.DocumentVersion, Task: aitask.Coaching, Author: who, Coaching: &aitask.CoachingText{
		Summary: "s", Safety: "mind", Drills: []aitask.Drill{drill, drill, drill}}}
	s := &setting{echo: &echo{}, in: names.RenderIn{Run: names.Run{AnalysisID: id, Attempt: 2},
		ResultKey: names.PoseResultKey(id, 2, 7), FindingsKey: names.TextKey(id, 2, "findings"), CoachingKey: names.TextKey(id, 2, "coaching")}}
	s.bucket = &bucket{data: map[string][]byte{
		s.in.ResultKey: mustJSON(t, res), s.in.FindingsKey: mustJSON(t, findings), s.in.CoachingKey: mustJSON(t, coaching),
		good: []byte("jpeg"), foreign: []byte("jpeg"),
	}}
	s.row = &analysis.Row{AnalysisID: id, AthleteID: "a", Status: analysis.Analysing, Attempt: 2, AthleteName: "கவின்", TimeZone: "Asia/Colombo",
		CreatedAt: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Clips: []analysis.Clip{{Name: "one.mov"}, {Name: "two.mov"}}}
	s.deps = Deps{DB: table{s.row}, Table: "t", Objects: s.bucket, Bucket: "b", Reporter: s.echo, Retry: retry.Policy{Tries: 3, Base: time.Microsecond, Max: time.Microsecond}}
	return s
}

// invoke calls the function as Lambda does and gives the error's name.
func (s *setting) invoke(t *testing.T) (names.RenderOut, string) {
	t.Helper()
	payload := mustJSON(t, s.in)
	b, err := New(s.deps).Invoke(t.Context(), payload)
	var wire messages.InvokeResponse_Error
	if errors.As(err, &wire) {
		return names.RenderOut{}, wire.Type
	}
	if err != nil {
		t.Fatal(err)
	}
	var out names.RenderOut
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out, ""
}

func TestStoresBothFiles(t *testing.T) {
	s := newSetting(t)
	out, e := s.invoke(t)
	if e != "" || out.PDFKey != names.ReportPDFKey(id, 2) || out.JSONKey != names.ReportJSONKey(id, 2) {
		t.Fatalf("%+v %s", out, e)
	}
	if !bytes.HasPrefix(s.bucket.data[out.PDFKey], []byte("%PDF-")) || len(s.bucket.data[out.JSONKey]) == 0 {
		t.Error("the files are not stored")
	}
	in := s.echo.in
	if in.Athlete != "கவின்" || in.TimeZone != "Asia/Colombo" || !in.Submitted.Equal(s.row.CreatedAt) || strings.Join(in.ClipNames, " ") != "one.mov two.mov" {
		t.Errorf("input %+v", in)
	}
	if in.Findings.Author.Provider != aitask.RulesProvider || in.Findings.Summary != "s" || in.Coaching.Safety != "mind" || len(in.Result.Clips) != 2 {
		t.Errorf("input %+v", in)
	}
	for k, err := range s.echo.frames {
		if want := strings.HasSuffix(k, "7/frame-0-release.jpg"); (err == nil) != want {
			t.Errorf("frame %s: %v", k, err)
		}
	}
}

func TestAHugePictureIsLeftOut(t *testing.T) {
	s := newSetting(t)
	key := names.PrefixWork + id + "/2/7/frame-0-release.jpg"
	s.bucket.data[key] = make([]byte, report.MaxFrameBytes+1)
	if _, e := s.invoke(t); e != "" || !errors.Is(s.echo.frames[key], report.ErrNoFrame) {
		t.Errorf("error %q, picture %v", e, s.echo.frames[key])
	}
}

func TestAgainChangesNothing(t *testing.T) {
	s := newSetting(t)
	s.invoke(t)
	before := maps.Clone(s.bucket.data)
	if _, e := s.invoke(t); e != "" {
		t.Fatal(e)
	}
	for k, v := range before {
		if !bytes.Equal(v, s.bucket.data[k]) {
			t.Errorf("%s changed", k)
		}
	}
}

func TestAfterTheEnd(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  analysis.Status
		attempt int
		pdf     string
		want    string
	}{
		{"ready with this report", analysis.Ready, 2, names.ReportPDFKey(id, 2), ""},
		{"ready with another report", analysis.Ready, 2, names.ReportPDFKey(id, 1), "Conceded"},
		{"ready at another attempt", analysis.Ready, 3, names.ReportPDFKey(id, 3), "Conceded"},
		{"failed", analysis.Failed, 2, "", "Conceded"},
		{"rejected", analysis.Rejected, 2, "", "Conceded"},
		{"restarted", analysis.Analysing, 3, "", "Conceded"},
		{"not begun", analysis.Queued, 2, "", "Conceded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSetting(t)
			s.row.Status, s.row.Attempt, s.row.ReportPDF = c.status, c.attempt, c.pdf
			if _, e := s.invoke(t); e != c.want {
				t.Errorf("error %q, want %q", e, c.want)
			}
			if s.bucket.puts != 0 {
				t.Errorf("%d writes after the end", s.bucket.puts)
			}
		})
	}
}

func TestOwnKeys(t *testing.T) {
	for key, want := range map[string]bool{
		names.PoseResultKey(id, 1, 2): true, names.TextKey(id, 1, "findings"): true,
		names.PoseResultKey("an-other", 1, 2): false, names.PoseResultKey(id+"x", 1, 2): false,
		names.PrefixWork + id + "/../an-other/x": false, names.ClipKey(id, 0): false, "": false,
	} {
		if own(id, key) != want {
			t.Errorf("%q is the analysis's own: %t, want %t", key, !want, want)
		}
	}
}

func TestErrorsHaveNames(t *testing.T) {
	throttle := &smithy.GenericAPIError{Code: "SlowDown"}
	for _, c := range []struct {
		name  string
		spoil func(*setting)
		want  fault.Name
	}{
		{"no analysis", func(s *setting) { s.deps.DB = table{} }, fault.Permanent},
		{"no id", func(s *setting) { s.in.AnalysisID = "" }, fault.Permanent},
		{"another analysis's result", func(s *setting) { s.in.ResultKey = names.PoseResultKey("an-other", 1, 1) }, fault.Permanent},
		{"a path out of the folder", func(s *setting) { s.in.FindingsKey = names.PrefixWork + id + "/../an-other/x" }, fault.Permanent},
		{"result is missing", func(s *setting) { delete(s.bucket.data, s.in.ResultKey) }, fault.Permanent},
		{"result is no JSON", func(s *setting) { s.bucket.data[s.in.ResultKey] = []byte("{") }, fault.Permanent},
		{"result is too large", func(s *setting) { s.bucket.data[s.in.ResultKey] = make([]byte, motion.MaxResultBytes+1) }, fault.Permanent},
		{"findings are coaching", func(s *setting) { s.bucket.data[s.in.FindingsKey] = s.bucket.data[s.in.CoachingKey] }, fault.Permanent},
		{"a bug", func(s *setting) { s.echo.err = errors.New("bug") }, fault.Permanent},
		{"reads throttled", func(s *setting) {
			s.bucket.fail = func(op, _ string) error { return map[string]error{"GetObject": throttle}[op] }
		}, fault.Transient},
		{"pictures throttled", func(s *setting) {
			s.bucket.fail = func(_, key string) error {
				if strings.HasSuffix(key, ".jpg") {
					return throttle
				}
				return nil
			}
		}, fault.Transient},
		{"writes throttled", func(s *setting) {
			s.bucket.fail = func(op, _ string) error { return map[string]error{"PutObject": throttle}[op] }
		}, fault.Transient},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSetting(t)
			c.spoil(s)
			if _, e := s.invoke(t); e != string(c.want) {
				t.Errorf("error %q, want %q", e, c.want)
			}
		})
	}
}

func TestAThrottleIsTriedAgain(t *testing.T) {
	s := newSetting(t)
	seen := map[string]bool{}
	s.bucket.fail = func(op, key string) error {
		if !seen[op+key] {
			seen[op+key] = true
			return &smithy.GenericAPIError{Code: "SlowDown"}
		}
		return nil
	}
	if _, e := s.invoke(t); e != "" {
		t.Errorf("error %q though the second try works", e)
	}
}

// Words about other numbers are never printed beside these.
func TestWordsAboutOtherNumbers(t *testing.T) {
	for name, about := range map[string]string{"other": "0123456789abcdef", "of a release before": ""} {
		s := newSetting(t)
		doc, err := aitask.ReadDocument(bytes.NewReader(s.bucket.data[s.in.FindingsKey]), aitask.Findings)
		if err != nil {
			t.Fatal(err)
		}
		doc.About = about
		s.bucket.data[s.in.FindingsKey] = mustJSON(t, doc)
		want := fault.Permanent
		if about == "" {
			want = ""
		}
		if _, e := s.invoke(t); e != string(want) {
			t.Errorf("%s: error %q, want %q", name, e, want)
		}
	}
}
