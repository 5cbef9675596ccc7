package parity

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"fastbowlinglab/integration/demo"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// TestPrivilegesSuffice runs the main job, a refused one, and a round of the
// reconciler, on a cloud that refuses whatever the synthesised policies do not
// allow. A statement that is missing shows as a denied request.
func TestPrivilegesSuffice(t *testing.T) {
	w := start(t)
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	for clip, want := range map[string]analysis.Status{"bowler.mp4": analysis.Ready, "not_bowling.mp4": analysis.Rejected} {
		sum := w.run(t, filepath.Join(root, "integration/samples", clip))
		if sum.Status != string(want) {
			t.Errorf("%s ended %s (%s), want %s", clip, sum.Status, sum.Reason, want)
		}
	}
	if _, err := w.cloud.Tick(t.Context(), names.FnReconcile); err != nil {
		t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.denied {
		t.Error(d)
	}
	for _, program := range []string{names.FnAPI, names.FnBegin, names.FnWake, names.FnPrecheck, names.FnQueueJob, names.FnAwaitPose,
		names.FnFindings, names.FnCoaching, names.FnRender, names.FnDeliver, names.FnReject, names.FnNotify, names.FnReconcile, names.PoseWorker} {
		if w.asked[program] == 0 {
			t.Errorf("no request of %s was checked", program)
		}
	}
}

func (w *world) run(t *testing.T, clip string) demo.Summary {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	sum, err := demo.Run(ctx, demo.Config{
		API: w.cloud.API,
		Athlete: func(sub string) demo.Token {
			return func(context.Context) (string, error) { return w.cloud.AthleteToken(sub, time.Hour) }
		},
		Operator: func(context.Context) (string, error) { return w.cloud.OperatorToken("operator", time.Hour) },
		Cloud:    &demo.Cloud{AWS: w.cloud.AWS(), StateMachineARN: local.StateMachineARN},
		Clip:     clip, Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
