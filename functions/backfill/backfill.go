// Package backfill is the function of statemachine/backfill.asl.json: each step
// is a call of it.
package backfill

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
)

// New makes the function: names.BatchIn to names.BatchOut.
func New(j backfill.Job) lambda.Handler {
	steps := map[string]func(context.Context, names.BatchIn) (names.BatchOut, error){
		names.StepPreflight: j.Preflight, names.StepOpen: j.Open, names.StepWork: j.Work, names.StepTally: j.Tally, names.StepClose: j.Close,
	}
	return handler.New(names.FnBackfill, func(ctx context.Context, in names.BatchIn) (names.BatchOut, error) {
		step, ok := steps[in.Step]
		if !ok || in.Run == "" {
			return names.BatchOut{}, fault.New(fault.Permanent, "backfill: step %q of run %q: there is no such step, or no run", in.Step, in.Run)
		}
		return step(ctx, in)
	})
}
