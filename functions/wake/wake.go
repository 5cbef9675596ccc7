// Package wake asks for a pose worker, so that it starts while the precheck
// runs. Nothing is held open while it does.
package wake

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
)

// New makes the function.
func New(f fleet.Fleet) lambda.Handler {
	return handler.New(names.FnWake, func(ctx context.Context, _ names.Run) (names.WakeOut, error) {
		seq, err := f.Wake(ctx)
		return names.WakeOut{Seq: seq}, awserr.Fault(err, "wake")
	})
}
