package operator_test

import (
	"strings"
	"testing"
	"time"

	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

func redriveForm(machine, execution string) string {
	return `{"action":"redrive","operator":"ada","machine":"` + machine + `","execution":"` + execution + `"}`
}

// TestRedriveOnlyWhereItIsSafe: a run that still speaks for something open goes on;
// after an end it would concede, and the form says what to do instead.
func TestRedriveOnlyWhereItIsSafe(t *testing.T) {
	w := newWorld(t)
	w.row(t, "an-open", analysis.Analysing)
	w.row(t, "an-ended", analysis.Failed)
	failed := closed{status: sfntypes.ExecutionStatusFailed, name: "States.Runtime", why: "a path is missing"}
	w.steps.closed = map[string]closed{"an-open-1": failed, "an-open-2": failed, "an-ended-1": failed, "an-old-1": failed,
		"stopped": {status: sfntypes.ExecutionStatusAborted}, "over": {status: sfntypes.ExecutionStatusAborted},
		"lost": {status: sfntypes.ExecutionStatusTimedOut}, "never": {status: sfntypes.ExecutionStatusFailed, name: "Lambda.Unknown"},
		"held": {status: sfntypes.ExecutionStatusFailed, name: "Held", why: "night has the effect"}, "done": {status: sfntypes.ExecutionStatusSucceeded},
		"ancient": {status: sfntypes.ExecutionStatusAborted, notAllowed: true}}
	now := time.Now()
	runs := w.deps.Runs
	runs.Now = func() time.Time { return now }
	runs.Leases.Now = runs.Now
	w.deps.Runs = runs
	for _, run := range []struct{ name, effect string }{{"lost", "measure"}, {"over", "report"}, {"stopped", "tags"}} {
		r, err := runs.Begin(t.Context(), run.name, run.effect, "{}")
		if err != nil {
			t.Fatal(err)
		}
		if run.name == "over" {
			if _, err := runs.End(t.Context(), r, "complete", time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct{ machine, execution, says string }{
		{"analysis", "an-ended-1", "has its end, failed"},
		{"analysis", "an-open-2", "is held by an-open-1"},
		{"analysis", "an-old-1", "analysis not found"},
		{"analysis", "an-nobody-1", "there is no execution"},
		{"analysis", "held", "is no execution of an analysis"},
		{"backfill", "over", "run over has ended (complete)"},
		{"backfill", "held", "ended by itself (Held: night has the effect)"},
		{"nightly", "done", "has succeeded"},
		{"nightly", "ancient", "Step Functions refuses"},
		{"wrong", "x", "machine is one of"},
	} {
		want(t, w.ask(t, redriveForm(c.machine, c.execution)), "Permanent: ", c.says)
	}
	if len(w.steps.log) != 0 {
		t.Fatalf("%v", w.steps.log)
	}
	for i, begun := range []string{`"begun":true`, `"begun":false`} { // two operators, one redrive
		for _, c := range []string{redriveForm("analysis", "an-open-1"), redriveForm("backfill", "stopped"), redriveForm("backfill", "never")} {
			want(t, w.ask(t, c), `"status":"RUNNING"`, `"redrives":1`, begun)
		}
		if len(w.steps.log) != 3 {
			t.Errorf("asked %d times: %v", i+1, w.steps.log)
		}
	}
	now = now.Add(names.RunLease + names.ClockSkew + time.Second) // the effect of the run that timed out goes to another
	if _, err := runs.Begin(t.Context(), "next", "measure", "{}"); err != nil {
		t.Fatal(err)
	}
	got := w.ask(t, redriveForm("backfill", "lost"))
	if !strings.Contains(got, "Permanent: ") || !strings.Contains(got, "abandoned") {
		t.Errorf("a run that lost its effect: %s", got)
	}
}
