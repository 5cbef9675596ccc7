// Package begin starts a run: it marks the analysis as analysing, held by this
// execution, and reads the flags once. Whoever is not the holder is told not to
// go on.
package begin

import (
	"context"
	"errors"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
)

// Deps is what the function works with.
type Deps struct {
	Life       analysis.Store
	Parameters flags.Store
	Prefix     string // SSM path of the settings
}

// New makes the function.
func New(d Deps) lambda.Handler { return handler.New(names.FnBegin, d.run) }

func (d Deps) run(ctx context.Context, in names.BeginIn) (names.BeginOut, error) {
	if in.AnalysisID == "" || in.Attempt < 1 || in.Execution == "" {
		return names.BeginOut{}, fault.New(fault.Permanent, "begin: analysis_id, attempt and execution are needed")
	}
	set, err := flags.Read(ctx, d.Parameters, d.Prefix)
	if err != nil {
		return names.BeginOut{}, awserr.Fault(err, "begin")
	}
	b, err := d.Life.Begin(ctx, in.AnalysisID, in.Attempt, in.Execution, set)
	if errors.Is(err, analysis.ErrNotFound) {
		return names.BeginOut{}, fault.Wrap(fault.Permanent, err, "begin")
	}
	if err != nil {
		return names.BeginOut{}, awserr.Fault(err, "begin")
	}
	out := names.BeginOut{Proceed: b.Proceed, Status: string(b.Row.Status), PoseRoad: b.Row.Flags[flags.PoseRoad]}
	if b.Duplicate {
		metric.Count(ctx, metric.DuplicateRun, 1, "analysis_id", in.AnalysisID, "attempt", in.Attempt,
			"execution", in.Execution, "holder", b.Row.Execution)
	}
	if out.Proceed && out.PoseRoad != flags.RoadQueue && out.PoseRoad != flags.RoadHTTP {
		return names.BeginOut{}, fault.New(fault.Permanent,
			"begin: flag %s is %q, and this release has the roads %q and %q only", flags.PoseRoad, out.PoseRoad, flags.RoadQueue, flags.RoadHTTP)
	}
	return out, nil
}
