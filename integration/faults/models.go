package faults

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

// precheck is the precheck of this world: it looks at nothing, and refuses the
// footage that the seed says.
func (w *world) precheck(*virtual.Cloud) lambda.Handler {
	return handler.New(names.FnPrecheck, func(ctx context.Context, in names.Run) (names.VerdictOut, error) {
		if w.plan.event(doReject, in.AnalysisID, 0.1) {
			return names.VerdictOut{Verdict: names.VerdictReject, Reason: string(reason.NotBowling)}, nil
		}
		return names.VerdictOut{Verdict: names.VerdictPass}, nil
	})
}

// model is how the paid model answers: mostly in seconds; sometimes in minutes,
// as on the day of incident A; sometimes not at all.
func (w *world) model(_ context.Context, claim string) virtual.ModelAnswer {
	d := w.plan.dice
	a := virtual.ModelAnswer{After: d.Between(2*time.Second, 20*time.Second, "model "+claim)}
	if w.plan.event(doSlowModel, claim, 0.15) {
		a.After = d.Between(90*time.Second, 320*time.Second, "slow model "+claim)
	}
	f := []aitask.Failure{aitask.Throttled, aitask.NoAnswer, aitask.Unknown}[d.IntN(3, "refusal "+claim)]
	chance := w.plan.rate
	if d.Chance(0.15, "lost answers") { // a mode of its own: whoever is asked is not heard
		f, chance = aitask.Unknown, 0.6
	}
	if w.plan.event(doLostModel, claim, chance) {
		a.Refuse = &f
	}
	return a
}
