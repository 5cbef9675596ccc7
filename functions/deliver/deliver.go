// Package deliver ends an analysis as ready. Whoever comes second is shown the
// end that stands.
package deliver

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
)

// New makes the function.
func New(ends outcome.Store) lambda.Handler {
	return handler.New(names.FnDeliver, func(ctx context.Context, in names.DeliverIn) (names.EndOut, error) {
		if in.AnalysisID == "" || in.Attempt < 1 || in.PDFKey == "" || in.JSONKey == "" {
			return names.EndOut{}, fault.New(fault.Permanent, "deliver: analysis_id, attempt, pdf_key and json_key are needed")
		}
		res, err := ends.Deliver(ctx, in.AnalysisID, in.Attempt, outcome.By(names.FnDeliver, in.Run, in.Execution),
			outcome.Report{PDFKey: in.PDFKey, JSONKey: in.JSONKey, ResultKey: in.ResultKey})
		return res.Out(), awserr.Fault(err, "deliver")
	})
}
