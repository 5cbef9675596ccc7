// Package findings is the first text stage of an analysis: it writes what the
// measured action shows. The notes of the athlete travel as data.
package findings

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
	return handler.New(names.FnFindings, func(ctx context.Context, in names.TextIn) (names.TextOut, error) {
		row, err := d.Open(ctx, in.Run)
		if err != nil {
			return names.TextOut{}, err
		}
		result, err := d.Result(ctx, in.Run, in.ResultKey)
		if err != nil {
			return names.TextOut{}, err
		}
		return d.Tasks.Run(ctx, in.Run, aitask.Findings, aitask.Input{Result: result, Notes: row.Notes})
	})
}
