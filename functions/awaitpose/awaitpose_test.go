package awaitpose_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"fastbowlinglab/functions/awaitpose"
	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

var pass = names.VerdictOut{Verdict: names.VerdictPass, ResultKey: "work/x/1/1/result.json"}

func invoke(t *testing.T, d awaitpose.Deps, w *posetest.World) (token, errName string) {
	t.Helper()
	token = w.Tokens.Open()
	payload, err := json.Marshal(names.TokenIn{Run: w.Run, TaskToken: token})
	if err != nil {
		t.Fatal(err)
	}
	_, err = awaitpose.New(d).Invoke(t.Context(), payload)
	if err == nil {
		return token, ""
	}
	var e messages.InvokeResponse_Error
	if !errors.As(err, &e) {
		t.Fatalf("error of type %T: %v", err, err)
	}
	return token, e.Type
}

func TestAwaitPose(t *testing.T) {
	for _, c := range []struct {
		name   string
		setUp  func(*testing.T, *posetest.World, *awaitpose.Deps)
		want   fault.Name
		output string
	}{
		{name: "RegistersForARunningPass", setUp: claimed},
		{name: "AnswersADoneJob", output: `{"verdict":"pass","reason":"","result_key":"work/x/1/1/result.json"}`,
			setUp: func(t *testing.T, w *posetest.World, d *awaitpose.Deps) {
				claimed(t, w, d)
				_, err := w.Jobs.Complete(t.Context(), w.Job().Lease(), pass)
				check(t, err)
			}},
		{name: "FailedJob", want: fault.PoseFailed, setUp: func(t *testing.T, w *posetest.World, d *awaitpose.Deps) {
			claimed(t, w, d)
			_, err := w.Jobs.Fail(t.Context(), w.Job().Lease(), posejob.Failure{Error: fault.PoseFailed, Detail: "poison"})
			check(t, err)
		}},
		{name: "ReleasedJobGoesBackToDispatch", want: fault.Released, setUp: func(t *testing.T, w *posetest.World, d *awaitpose.Deps) {
			claimed(t, w, d)
			_, err := w.Jobs.Release(t.Context(), w.Job().Lease())
			check(t, err)
		}},
		{name: "EarlierAttempt", want: fault.Conceded, setUp: func(t *testing.T, w *posetest.World, d *awaitpose.Deps) {
			later := names.Run{AnalysisID: w.Run.AnalysisID, Attempt: 2}
			w.Analysis(later, analysis.Analysing, 1)
			w.Dispatch(later)
		}},
		{name: "NoJob", want: fault.Permanent, setUp: func(*testing.T, *posetest.World, *awaitpose.Deps) {}},
		{name: "DatabaseDown", want: fault.Transient, setUp: func(t *testing.T, w *posetest.World, d *awaitpose.Deps) {
			f := &dynamotest.Faults{Next: func(string) dynamotest.Fault { return dynamotest.NotDone }}
			d.Jobs = w.Store(w.Server.Faulty(f))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := posetest.New(t, 1)
			d := awaitpose.Deps{Jobs: w.Jobs, Tokens: w.Answerer()}
			c.setUp(t, w, &d)
			token, name := invoke(t, d, w)
			if name != string(c.want) {
				t.Errorf("error %q, want %q", name, c.want)
			}
			if got := w.Tokens.Get(token); got.Output != c.output {
				t.Errorf("token = %+v, want output %q", got, c.output)
			}
			if c.want == "" && w.Job().Token2 != token {
				t.Error("the token is not on the row")
			}
		})
	}
}

func claimed(t *testing.T, w *posetest.World, _ *awaitpose.Deps) {
	w.Dispatch(w.Run)
	_, err := w.Jobs.Claim(t.Context(), w.Run.AnalysisID, posejob.Claimant{Name: "worker"})
	check(t, err)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
