// Package reject ends an analysis as rejected, refunded: its footage cannot be
// analysed. A verdict that comes after the end, or from another attempt, changes
// nothing.
package reject

import (
	"context"
	"slices"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
)

// New makes the function.
func New(ends outcome.Store) lambda.Handler {
	return handler.New(names.FnReject, func(ctx context.Context, in names.RejectIn) (names.EndOut, error) {
		if in.AnalysisID == "" || in.Attempt < 1 {
			return names.EndOut{}, fault.New(fault.Permanent, "reject: analysis_id and attempt are needed")
		}
		why := reason.Code(in.Reason)
		if !slices.Contains(reason.Codes(), why) {
			return names.EndOut{}, fault.New(fault.Permanent, "reject: %q is no reason", in.Reason)
		}
		res, err := ends.Reject(ctx, in.AnalysisID, in.Attempt, outcome.By(names.FnReject, in.Run, in.Execution), why)
		return res.Out(), awserr.Fault(err, "reject")
	})
}
