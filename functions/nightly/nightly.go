// Package nightly is the function of statemachine/nightly.asl.json: each step is
// a call of it.
package nightly

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/nightly"
)

// New makes the function: names.BatchIn to names.BatchOut.
func New(j nightly.Job) lambda.Handler {
	steps := map[string]func(context.Context, names.BatchIn) (names.BatchOut, error){
		names.StepOpen: j.Open, names.StepWork: j.Work, names.StepClose: j.Close,
	}
	return handler.New(names.FnNightly, func(ctx context.Context, in names.BatchIn) (names.BatchOut, error) {
		step, ok := steps[in.Step]
		if !ok || in.Run == "" {
			return names.BatchOut{}, fault.New(fault.Permanent, "nightly: step %q of run %q: there is no such step, or no run", in.Step, in.Run)
		}
		return step(ctx, in)
	})
}
