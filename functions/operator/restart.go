package operator

import (
	"context"
	"errors"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
)

// RestartIn asks for a new run of an open analysis. Attempt is the one that it is
// at now: asked twice, it is restarted once.
type RestartIn struct {
	By
	AnalysisID string `json:"analysis_id"`
	Attempt    int    `json:"attempt"`
}

// RestartOut is the row afterwards.
type RestartOut struct {
	AnalysisID string          `json:"analysis_id"`
	Attempt    int             `json:"attempt"`
	Status     analysis.Status `json:"status"`
	Execution  string          `json:"execution"`
}

func (d Deps) restart(ctx context.Context, in RestartIn) (RestartOut, error) {
	if in.AnalysisID == "" || in.Attempt < 1 {
		return RestartOut{}, fault.New(fault.Permanent, "restart: analysis_id and the attempt that it is at are needed")
	}
	r, err := d.Life.Restart(ctx, d.Steps, d.MachineARN, in.AnalysisID, in.Attempt)
	if errors.Is(err, analysis.ErrMoved) || errors.Is(err, analysis.ErrNotFound) {
		return RestartOut{}, fault.Wrap(fault.Permanent, err, "nothing was restarted")
	}
	return RestartOut{r.AnalysisID, r.Attempt, r.Status, analysis.ExecutionName(r.AnalysisID, r.Attempt)}, awserr.Fault(err, "restart")
}
