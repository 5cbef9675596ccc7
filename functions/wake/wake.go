// Package wake asks for pose workers, as many as the open analyses want, so that
// they start while the precheck runs. Nothing is held open while it does.
package wake

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
)

// New makes the function. open counts the work as it stands, nil for one job.
func New(f fleet.Fleet, open fleet.Work) lambda.Handler {
	return handler.New(names.FnWake, func(ctx context.Context, _ names.Run) (names.WakeOut, error) {
		seq, err := f.Wake(ctx, open)
		return names.WakeOut{Seq: seq}, awserr.Fault(err, "wake")
	})
}
