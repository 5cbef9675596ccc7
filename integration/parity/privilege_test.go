package parity

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/integration/apiclient"
	"fastbowlinglab/integration/demo"
	"fastbowlinglab/integration/demo/embedded"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// TestPrivilegesSuffice runs the main job, a refused one, a rerun, an export, a
// deletion and a round of the reconciler, on a cloud that refuses whatever the synthesised policies do not
// allow. A statement that is missing shows as a denied request.
func TestPrivilegesSuffice(t *testing.T) {
	w := start(t)
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for clip, want := range map[string]analysis.Status{"bowler.mp4": analysis.Ready, "not_bowling.mp4": analysis.Rejected} {
		sum := w.run(t, filepath.Join(root, "integration/samples", clip))
		if sum.Status != string(want) {
			t.Errorf("%s ended %s (%s), want %s", clip, sum.Status, sum.Reason, want)
		}
		last = sum.AnalysisID
	}
	if _, err := w.cloud.Tick(t.Context(), names.FnReconcile); err != nil {
		t.Error(err)
	}
	w.aftermath(t, last)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.denied {
		t.Error(d)
	}
	for _, program := range []string{names.FnAPI, names.FnBegin, names.FnWake, names.FnPrecheck, names.FnQueueJob, names.FnAwaitPose,
		names.FnFindings, names.FnCoaching, names.FnRender, names.FnDeliver, names.FnReject, names.FnNotify, names.FnReconcile, names.FnErase, names.PoseWorker} {
		if w.asked[program] == 0 {
			t.Errorf("no request of %s was checked", program)
		}
	}
}

// aftermath is what an athlete may do later: analyse the same clips again, see
// what is held, and have it deleted.
func (w *world) aftermath(t *testing.T, id string) {
	t.Helper()
	ctx := t.Context()
	row, err := analysis.Get(ctx, dynamodb.NewFromConfig(w.cloud.AWS()), names.Analyses.Name, id)
	if err != nil {
		t.Fatal(err)
	}
	who := row.AthleteID
	athlete, err := w.cloud.AthleteToken(who, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	operator, err := w.cloud.OperatorToken("operator", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	op, c := &apiclient.Client{Base: w.cloud.API, Token: operator}, &apiclient.Client{Base: w.cloud.API, Token: athlete}
	if _, err := op.Grant(ctx, "aftermath", apiclient.GrantRequest{AthleteID: who, Credits: 1, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	again, err := c.Rerun(ctx, id, "aftermath")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Cancel(ctx, again.AnalysisID, ""); err != nil {
		t.Log(err) // a worker was quicker
	}
	if ex, err := c.Export(ctx, ""); err != nil || len(ex.Analyses) != 2 {
		t.Errorf("export of %d analyses, %v", len(ex.Analyses), err)
	}
	if _, err := c.Erase(ctx); err != nil {
		t.Error(err)
	}
	if _, err := w.cloud.Tick(ctx, names.FnErase); err != nil {
		t.Error(err)
	}
}

func (w *world) run(t *testing.T, clip string) demo.Summary {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	sum, err := demo.Run(ctx, embedded.Config(w.cloud, clip, "", t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
