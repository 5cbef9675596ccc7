package settle_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/functions/settle"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
)

type world struct {
	t    *testing.T
	life analysis.Store
	ends outcome.Store
	db   *dynamodb.Client
}

func newWorld(t *testing.T) *world {
	db := dynamotest.New(t)
	l := credit.Store{DB: db, Credits: names.Credits.Name, Effects: names.Effects.Name}
	if _, err := l.Enter(t.Context(), credit.Grant{AthleteID: "a", Credits: 50, Operator: "op", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	return &world{t, analysis.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name},
		outcome.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Notices: names.Notices.Name}, db}
}

// running makes an analysis that is held by its first execution.
func (w *world) running(key string) string {
	w.t.Helper()
	r, _, err := w.life.Create(w.t.Context(), "a", key, analysis.Submission{Clips: []analysis.Clip{{Name: "c"}}})
	if err == nil {
		_, err = w.life.Queue(w.t.Context(), r.AnalysisID, r.Clips)
	}
	if err == nil {
		_, err = w.life.Begin(w.t.Context(), r.AnalysisID, 1, analysis.ExecutionName(r.AnalysisID, 1), nil)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return r.AnalysisID
}

func (w *world) settle(payload string) (out names.EndOut, errType string) {
	w.t.Helper()
	b, err := settle.New(w.ends).Invoke(w.t.Context(), []byte(payload))
	if e, ok := err.(messages.InvokeResponse_Error); ok {
		return out, e.Type
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		w.t.Fatal(err)
	}
	return out, ""
}

func catchAll(id string, attempt int, name string) string {
	return fmt.Sprintf(`{"analysis_id":%q,"attempt":%d,"error":%q,"cause":"c"}`, id, attempt, name)
}

func event(name, status string) string {
	return fmt.Sprintf(`{"version":"0","source":"aws.states","detail-type":"Step Functions Execution Status Change",
		"detail":{"executionArn":"arn:aws:states:eu-west-1:1:execution:m:%s","name":%q,"status":%q,"input":"{}","error":null,"cause":null}}`, name, name, status)
}

func TestReasons(t *testing.T) {
	w := newWorld(t)
	for name, want := range map[string]reason.Code{
		string(fault.ModelUnavailable): reason.ModelUnavailable, string(fault.ModelNoAnswer): reason.ModelNoAnswer,
		string(fault.OutcomeUnknown): reason.OutcomeUnknown, string(fault.PoseFailed): reason.PoseFailed,
		"States.HeartbeatTimeout": reason.PoseFailed, "States.Timeout": reason.DeadlinePassed,
		string(fault.Permanent): reason.StageFailed, "Lambda.Unknown": reason.StageFailed, "Whatever": reason.StageFailed,
	} {
		out, errType := w.settle(catchAll(w.running(name), 1, name))
		if errType != "" || !out.Won || out.Status != "failed" || out.Reason != string(want) {
			t.Errorf("%s: %+v %s, want %s", name, out, errType, want)
		}
	}
	for status, want := range map[string]reason.Code{"ABORTED": reason.Stopped, "TIMED_OUT": reason.DeadlinePassed, "FAILED": reason.StageFailed} {
		out, errType := w.settle(event(analysis.ExecutionName(w.running(status), 1), status))
		if errType != "" || !out.Won || out.Reason != string(want) {
			t.Errorf("%s: %+v %s, want %s", status, out, errType, want)
		}
	}
}

// Every name that a handler may give has a reason that was chosen for it.
func TestEveryFaultHasAReason(t *testing.T) {
	chosen := map[fault.Name]reason.Code{
		fault.Transient: reason.StageFailed, fault.Permanent: reason.StageFailed, fault.Conceded: reason.StageFailed,
		fault.Released: reason.PoseFailed, fault.OutcomeUnknown: reason.OutcomeUnknown, fault.ModelUnavailable: reason.ModelUnavailable,
		fault.ModelNoAnswer: reason.ModelNoAnswer, fault.PoseFailed: reason.PoseFailed,
	}
	for _, n := range fault.Names() {
		if want, ok := chosen[n]; !ok || outcome.ReasonOf(string(n)) != want {
			t.Errorf("%s ends as %s; chosen: %s", n, outcome.ReasonOf(string(n)), want)
		}
	}
}

func TestNotItsBusiness(t *testing.T) {
	w := newWorld(t)
	id := w.running("k")
	name := analysis.ExecutionName(id, 1)
	for what, payload := range map[string]string{
		"an earlier attempt":                        catchAll(id, 7, "X"),
		"the event of another attempt":              event(analysis.ExecutionName(id, 2), "ABORTED"),
		"an execution that succeeded":               event(name, "SUCCEEDED"),
		"one that still runs":                       event(name, "RUNNING"),
		"somebody else's execution":                 event("daily-report", "FAILED"),
		"an execution without an analysis":          event("an-nobody-1", "FAILED"),
		"an execution that does not hold its place": fmt.Sprintf(`{"analysis_id":%q,"attempt":1,"execution":"twin","error":"X","cause":""}`, id),
	} {
		if out, errType := w.settle(payload); errType != "" || out.Won {
			t.Errorf("%s: %+v %s; want nothing done", what, out, errType)
		}
	}
	if r, err := w.life.Get(t.Context(), id); err != nil || r.Status != analysis.Analysing {
		t.Errorf("status %s, %v", r.Status, err)
	}
	for what, payload := range map[string]string{
		"no analysis": catchAll("an-nobody", 1, "X"), "no id": `{}`, "no JSON": `[`, "event of another service": `{"source":"aws.s3","detail":{}}`,
	} {
		if _, errType := w.settle(payload); errType != string(fault.Permanent) {
			t.Errorf("%s: error %q, want Permanent", what, errType)
		}
	}
}

// The event of an execution that was settled by its own catch-all changes nothing.
func TestEventAfterCatchAll(t *testing.T) {
	w := newWorld(t)
	id := w.running("k")
	if out, _ := w.settle(catchAll(id, 1, string(fault.PoseFailed))); !out.Won {
		t.Fatalf("catch-all: %+v", out)
	}
	if out, _ := w.settle(event(analysis.ExecutionName(id, 1), "FAILED")); out.Status != "failed" || out.Reason != string(reason.PoseFailed) {
		t.Errorf("event: %+v", out)
	}
}
