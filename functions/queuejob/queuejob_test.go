package queuejob_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/functions/queuejob"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

func deps(w *posetest.World) queuejob.Deps {
	return queuejob.Deps{Jobs: w.Jobs, Tokens: w.Answerer(), Queue: w.Queue, QueueURL: posetest.QueueURL, Retry: posetest.Quick}
}

// invoke calls the function as the state machine does, with a new token.
func invoke(t *testing.T, d queuejob.Deps, w *posetest.World) (token string, out queuejob.Out, errName string) {
	t.Helper()
	token = w.Tokens.Open()
	payload, err := json.Marshal(names.TokenIn{Run: w.Run, TaskToken: token})
	if err != nil {
		t.Fatal(err)
	}
	body, err := queuejob.New(d).Invoke(t.Context(), payload)
	if err != nil {
		var e messages.InvokeResponse_Error
		if !errors.As(err, &e) {
			t.Fatalf("error of type %T: %v", err, err)
		}
		return token, out, e.Type
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	return token, out, ""
}

func claim(t *testing.T, w *posetest.World) posejob.Lease {
	t.Helper()
	j, err := w.Jobs.Claim(t.Context(), w.Run.AnalysisID, posejob.Claimant{Name: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	return j.Lease()
}

func TestQueuesTheIDAlone(t *testing.T) {
	w := posetest.New(t, 1)
	token, out, _ := invoke(t, deps(w), w)
	if !out.Queued || out.State != posejob.Waiting {
		t.Errorf("out = %+v", out)
	}
	if b := w.Queue.Bodies(); len(b) != 1 || b[0] != w.Run.AnalysisID {
		t.Errorf("queue = %q", b)
	}
	if w.Tokens.Get(token).Closed || w.Job().Token1 != token {
		t.Error("the token waits for the claim")
	}
}

func TestARetryLeavesOneJob(t *testing.T) {
	w := posetest.New(t, 1)
	invoke(t, deps(w), w)
	token, _, _ := invoke(t, deps(w), w)
	j := w.Job()
	if j.Token1 != token || j.Returns != 0 || j.State != posejob.Waiting {
		t.Errorf("job = %+v", j)
	}
}

func TestAnswersForALiveOwner(t *testing.T) {
	w := posetest.New(t, 1)
	invoke(t, deps(w), w)
	claim(t, w)
	token, out, _ := invoke(t, deps(w), w)
	if got := w.Tokens.Get(token); got.Output != `{"claimed":true,"fence":1}` || out.Queued {
		t.Errorf("token = %+v, out = %+v", got, out)
	}
	if n := w.Queue.Len(); n != 1 {
		t.Errorf("%d messages; the second dispatch must send none", n)
	}
}

func TestAnswersForADoneJob(t *testing.T) {
	w := posetest.New(t, 1)
	invoke(t, deps(w), w)
	if _, err := w.Jobs.Complete(t.Context(), claim(t, w), names.VerdictOut{Verdict: names.VerdictPass}); err != nil {
		t.Fatal(err)
	}
	token, out, _ := invoke(t, deps(w), w)
	if got := w.Tokens.Get(token); got.Output == "" || out.State != posejob.Done || w.Queue.Len() != 1 {
		t.Errorf("token = %+v, out = %+v, %d messages", got, out, w.Queue.Len())
	}
}

func TestThirdReturnWithoutCheckpointFails(t *testing.T) {
	w := posetest.New(t, 1)
	invoke(t, deps(w), w)
	claim(t, w)
	for i := 1; i <= names.MaxReturns; i++ {
		w.Await(w.Run)
		_, _, name := invoke(t, deps(w), w)
		if want := map[bool]string{true: string(fault.PoseFailed)}[i == names.MaxReturns]; name != want {
			t.Errorf("return %d: error %q, want %q", i, name, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		want  fault.Name
		setUp func(*posetest.World, *queuejob.Deps)
	}{
		{"AnalysisEnded", fault.Conceded, func(w *posetest.World, _ *queuejob.Deps) {
			w.Analysis(w.Run, analysis.Failed, 1)
		}},
		{"AnalysisRestarted", fault.Conceded, func(w *posetest.World, _ *queuejob.Deps) {
			w.Analysis(names.Run{AnalysisID: w.Run.AnalysisID, Attempt: 2}, analysis.Analysing, 1)
		}},
		{"NoAnalysis", fault.Permanent, func(w *posetest.World, _ *queuejob.Deps) { w.Run.AnalysisID = "an-other" }},
		{"NoID", fault.Permanent, func(w *posetest.World, _ *queuejob.Deps) { w.Run.AnalysisID = "" }},
		{"QueueDown", fault.Transient, func(w *posetest.World, _ *queuejob.Deps) {
			w.Queue.Fail(func(string) error { return dynamotest.ErrInjected })
		}},
		{"DatabaseDown", fault.Transient, func(w *posetest.World, d *queuejob.Deps) {
			f := &dynamotest.Faults{Next: func(string) dynamotest.Fault { return dynamotest.NotDone }}
			d.Jobs = w.Store(w.Server.Faulty(f))
		}},
		{"StepFunctionsDown", fault.Transient, func(w *posetest.World, d *queuejob.Deps) {
			w.Dispatch(w.Run)
			claim(w.T.(*testing.T), w)
			w.Tokens.Fail(func(string) error { return dynamotest.ErrInjected })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := posetest.New(t, 1)
			d := deps(w)
			c.setUp(w, &d)
			if _, _, name := invoke(t, d, w); name != string(c.want) {
				t.Errorf("error %q, want %q", name, c.want)
			}
		})
	}
}
