// Package coaching is the second text stage of an analysis: drills that follow
// from its findings.
package coaching

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/functions/internal/aistage"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
)

// Deps is what the function works with.
type Deps = aistage.Deps

// New makes the function: names.TextIn to names.TextOut.
func New(d Deps) lambda.Handler {
	return handler.New(names.FnCoaching, func(ctx context.Context, in names.TextIn) (names.TextOut, error) {
		row, err := d.Open(ctx, in.Run)
		if err != nil {
			return names.TextOut{}, err
		}
		result, err := d.Result(ctx, in.Run, in.ResultKey)
		if err != nil {
			return names.TextOut{}, err
		}
		seen, err := d.Findings(ctx, in.Run, in.FindingsKey)
		if err != nil {
			return names.TextOut{}, err
		}
		return d.Tasks.Run(ctx, in.Run, aitask.Coaching, aitask.Input{Result: result, Notes: row.Notes, Findings: &seen})
	})
}
