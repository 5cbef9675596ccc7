package aitask

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/usage"
)

// objects is a bucket in memory.
type objects struct {
	mu   sync.Mutex
	held map[string][]byte
	err  error
}

func (o *objects) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return nil, o.err
	}
	b, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	if o.held == nil {
		o.held = map[string][]byte{}
	}
	o.held[*in.Key] = b
	return &s3.PutObjectOutput{}, nil
}

// scripted is a provider whose calls are counted and answered by say.
type scripted struct {
	calls atomic.Int32
	say   func(ctx context.Context, n int) (Reply, error)
}

func (p *scripted) Check(model string) error {
	if model == "retired" {
		return errors.New("no such model")
	}
	return nil
}
func (p *scripted) Version(Task) string { return "" }
func (p *scripted) Call(ctx context.Context, _ Request) (Reply, error) {
	return p.say(ctx, int(p.calls.Add(1)))
}

const goodFindings = `{"summary":"S.","items":[{"title":"T","detail":"D.","kind":"observation"}]}`

func good(context.Context, int) (Reply, error) {
	return Reply{Text: goodFindings, Tokens: usage.Tokens{Input: usage.Count(7), Output: usage.Count(3)}}, nil
}

// fixed is a setting that does not change.
type fixed struct{ model string }

func (f fixed) Model(_ context.Context, t Task) (Model, error) {
	return ParseModel("/fbl/model/"+string(t), f.model)
}

type world struct {
	db       *dynamodb.Client
	objects  *objects
	provider *scripted
	ahead    time.Duration // of the clock
	model    string
	run      names.Run
}

func newWorld(t *testing.T, say func(context.Context, int) (Reply, error)) *world {
	return &world{db: dynamotest.New(t), objects: &objects{}, provider: &scripted{say: say}, model: "script:m1",
		run: names.Run{AnalysisID: "an-1", Attempt: 1}}
}

func (w *world) runner() *Runner {
	now := func() time.Time { return time.Now().Add(w.ahead) }
	return &Runner{
		Effects: effect.New(w.db, names.Effects.Name, effect.Takeovers(1), effect.Now(now)),
		Objects: w.objects, Bucket: names.Bucket, Models: fixed{w.model}, Now: now, Retry: retry.Policy{Tries: 1},
		Providers: map[string]Provider{"script": w.provider, RulesProvider: Rules{}},
		Record: func(ctx context.Context, c usage.Call) error {
			return usage.Record(ctx, w.db, names.Usage.Name, c)
		},
	}
}

func (w *world) do(t *testing.T) (names.TextOut, error) {
	t.Helper()
	return w.runner().Run(t.Context(), w.run, Findings, Input{})
}

// outcomes lists the outcomes of the usage rows.
func (w *world) outcomes(t *testing.T) []string {
	t.Helper()
	out, err := w.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &names.Usage.Name})
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, it := range out.Items {
		s = append(s, it["outcome"].(*ddb.AttributeValueMemberS).Value)
	}
	return s
}

func TestRunStoresTheAnswerAndCountsTheCall(t *testing.T) {
	w := newWorld(t, good)
	out, err := w.do(t)
	want := names.TextOut{State: names.EffectDone, Key: names.TextKey("an-1", 1, "findings")}
	if err != nil || out != want {
		t.Fatalf("got %+v, %v; want %+v", out, err, want)
	}
	doc, err := ReadDocument(bytes.NewReader(w.objects.held[out.Key]), Findings)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Author != (Author{"script", "m1", "findings-2"}) || doc.Findings.Summary != "S." {
		t.Errorf("stored %+v", doc)
	}
	if o := w.outcomes(t); len(o) != 1 || o[0] != "ok" {
		t.Errorf("usage rows %v", o)
	}
	// A later attempt reuses the answer where it is.
	w.run.Attempt = 2
	again, err := w.do(t)
	if err != nil || again != want || w.provider.calls.Load() != 1 {
		t.Errorf("attempt 2: %+v, %v after %d calls; want the answer of attempt 1", again, err, w.provider.calls.Load())
	}
}

func TestConcurrentExecutionsMakeOneCall(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	w := newWorld(t, func(ctx context.Context, n int) (Reply, error) {
		close(started)
		<-finish
		return good(ctx, n)
	})
	first := make(chan error, 1)
	go func() {
		_, err := w.runner().Run(t.Context(), w.run, Findings, Input{})
		first <- err
	}()
	<-started
	for range 5 {
		out, err := w.do(t)
		if err != nil || out.State != names.EffectInProgress {
			t.Fatalf("while the call runs: %+v, %v", out, err)
		}
		until, err := time.Parse(time.RFC3339, out.Until)
		if err != nil || until.Before(time.Now()) {
			t.Errorf("until %q, %v", out.Until, err)
		}
	}
	close(finish)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if out, err := w.do(t); err != nil || out.State != names.EffectDone {
		t.Errorf("afterwards: %+v, %v", out, err)
	}
	if n := w.provider.calls.Load(); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}

func TestFailedCalls(t *testing.T) {
	fail := func(f Failure) func(context.Context, int) (Reply, error) {
		return func(ctx context.Context, n int) (Reply, error) {
			if n > 1 {
				return good(ctx, n)
			}
			return Reply{}, &CallError{Failure: f, Detail: "as the test says"}
		}
	}
	text := func(s string) func(context.Context, int) (Reply, error) {
		return func(context.Context, int) (Reply, error) { return Reply{Text: s}, nil }
	}
	for _, c := range []struct {
		name          string
		say           func(context.Context, int) (Reply, error)
		first, second fault.Name // "" is done
		calls         int32
	}{
		{"ThrottleIsTriedAgain", fail(Throttled), fault.Transient, "", 2},
		{"NotSentIsTriedAgain", fail(NotSent), fault.Transient, "", 2},
		{"RetiredModelCanBeReplaced", fail(Unavailable), fault.ModelUnavailable, "", 2},
		{"RefusalIsNotPaidTwice", fail(NoAnswer), fault.ModelNoAnswer, fault.ModelNoAnswer, 1},
		{"EmptyAnswer", text(""), fault.ModelNoAnswer, fault.ModelNoAnswer, 1},
		{"CutAnswer", text(goodFindings[:30]), fault.ModelNoAnswer, fault.ModelNoAnswer, 1},
		{"WrongTypes", text(`{"summary":7,"items":[]}`), fault.ModelNoAnswer, fault.ModelNoAnswer, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.say)
			for i, want := range []fault.Name{c.first, c.second} {
				out, err := w.do(t)
				if want == "" {
					if err != nil || out.State != names.EffectDone {
						t.Fatalf("call %d: %+v, %v; want done", i+1, out, err)
					}
				} else if err == nil || fault.NameOf(err) != want {
					t.Fatalf("call %d: %+v, %v; want %s", i+1, out, err, want)
				}
			}
			if n := w.provider.calls.Load(); n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
			if o := w.outcomes(t); len(o) != int(c.calls) {
				t.Errorf("usage rows %v, want one a call", o)
			}
		})
	}
}

func TestLostAnswerGetsOneTakeoverThenUnknown(t *testing.T) {
	w := newWorld(t, func(context.Context, int) (Reply, error) {
		return Reply{}, &CallError{Failure: Unknown, Detail: "the connection broke"}
	})
	if _, err := w.do(t); fault.NameOf(err) != fault.Transient {
		t.Fatalf("first: %v", err)
	}
	if out, err := w.do(t); err != nil || out.State != names.EffectInProgress {
		t.Fatalf("before its claim ran out: %+v, %v", out, err)
	}
	w.ahead += 10 * time.Minute
	if _, err := w.do(t); fault.NameOf(err) != fault.Transient {
		t.Fatalf("takeover: %v", err)
	}
	w.ahead += 10 * time.Minute
	if _, err := w.do(t); fault.NameOf(err) != fault.OutcomeUnknown {
		t.Fatalf("after the takeover: %v", err)
	}
	if n := w.provider.calls.Load(); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

func TestSettingThatNamesNothing(t *testing.T) {
	for _, model := range []string{"acme:m", "script:retired", "rules:gpt"} {
		w := newWorld(t, good)
		w.model = model
		_, err := w.do(t)
		if fault.NameOf(err) != fault.ModelUnavailable || !strings.Contains(err.Error(), "/fbl/model/findings") {
			t.Errorf("%s: %v; want ModelUnavailable naming the setting", model, err)
		}
		if n := w.provider.calls.Load(); n != 0 {
			t.Errorf("%s: %d calls", model, n)
		}
		// Put right, the next try goes through; put wrong again, the answer stands.
		w.model = "script:m1"
		if _, err := w.do(t); err != nil {
			t.Errorf("after the setting was put right: %v", err)
		}
		w.model = model
		if out, err := w.do(t); err != nil || out.State != names.EffectDone {
			t.Errorf("a recorded answer was not reused: %+v, %v", out, err)
		}
	}
}

// Field case 39: a model that is retired, found out by the setting's check or by
// the call itself, gives way to the fallback; nothing else does.
func TestFallbackModel(t *testing.T) {
	gone := func(ctx context.Context, n int) (Reply, error) {
		if n == 1 {
			return Reply{}, &CallError{Failure: Unavailable, Detail: "end of life"}
		}
		return good(ctx, n)
	}
	throttled := func(context.Context, int) (Reply, error) {
		return Reply{}, &CallError{Failure: Throttled, Detail: "busy"}
	}
	for _, c := range []struct {
		name, setting string
		say           func(context.Context, int) (Reply, error)
		want          fault.Name // "" is done
		calls         int32
	}{
		{"RetiredInTheCall", "script:m1, script:m2", gone, "", 2},
		{"RefusedByTheCheck", "script:retired,script:m2", good, "", 1},
		{"UnknownProvider", "acme:m,script:m2", good, "", 1},
		{"BothGone", "script:retired,script:retired", good, fault.ModelUnavailable, 0},
		{"ThrottleIsNoReason", "script:m1,script:m2", throttled, fault.Transient, 1},
		{"NoFallback", "script:m1", gone, fault.ModelUnavailable, 1},
		{"ThreeModels", "script:m1,script:m2,script:m3", good, fault.ModelUnavailable, 0},
		{"EmptyFallback", "script:m1,", good, fault.ModelUnavailable, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.say)
			w.model = c.setting
			out, err := w.do(t)
			if c.want == "" && (err != nil || out.State != names.EffectDone) {
				t.Errorf("%+v, %v; want done by the fallback", out, err)
			}
			if c.want != "" && (err == nil || fault.NameOf(err) != c.want) {
				t.Errorf("%+v, %v; want %s", out, err, c.want)
			}
			if n := w.provider.calls.Load(); n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
		})
	}
}

func TestAnswerThatCannotBeStoredIsNotPaidAgainAtOnce(t *testing.T) {
	w := newWorld(t, good)
	w.objects.err = &smithy.GenericAPIError{Code: "SlowDown"}
	if _, err := w.do(t); fault.NameOf(err) != fault.Transient {
		t.Fatalf("got %v", err)
	}
	w.objects.err = nil
	if out, err := w.do(t); err != nil || out.State != names.EffectInProgress {
		t.Errorf("got %+v, %v; want in progress until the claim runs out", out, err)
	}
	if o := w.outcomes(t); len(o) != 1 || o[0] != "ok" {
		t.Errorf("usage rows %v", o)
	}
}

func TestRulesThroughTheRunner(t *testing.T) {
	w := newWorld(t, good)
	w.model = "rules"
	in := Input{Result: measured(t, "bowler.full")}
	out, err := w.runner().Run(t.Context(), w.run, Findings, in)
	if err != nil {
		t.Fatal(err)
	}
	first := w.objects.held[out.Key]
	w.run.AnalysisID = "an-2"
	out, err = w.runner().Run(t.Context(), w.run, Findings, in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, w.objects.held[out.Key]) {
		t.Error("the same input gave other bytes")
	}
	doc, err := ReadDocument(bytes.NewReader(first), Findings)
	if err != nil || doc.Author != (Author{RulesProvider, RulesModel, RulesVersion}) {
		t.Errorf("author %+v, %v", doc.Author, err)
	}
}

func TestReadDocumentRefuses(t *testing.T) {
	for name, s := range map[string]string{
		"OtherTask":    `{"version":1,"task":"coaching","author":{},"findings":{"summary":"s","items":[{"title":"t","detail":"d","kind":"limits"}]}}`,
		"OtherVersion": `{"version":2,"task":"findings","author":{},"findings":{"summary":"s","items":[{"title":"t","detail":"d","kind":"limits"}]}}`,
		"NoText":       `{"version":1,"task":"findings","author":{}}`,
		"BadText":      `{"version":1,"task":"findings","author":{},"findings":{"summary":"s","items":[]}}`,
		"NoJSON":       `{`,
		"TooLong":      `{"version":1,"task":"` + strings.Repeat("x", MaxDocument) + `"}`,
	} {
		if _, err := ReadDocument(strings.NewReader(s), Findings); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
