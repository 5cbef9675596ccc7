package api

import (
	"context"
	"errors"
	"net/http"

	"fastbowlinglab/shared/analysis"
)

// rerun analyses the clips of an analysis that has ended once more, for a credit
// of its own. The clips are those that were pinned; nothing is uploaded. As a
// confirm's, the answer is the same however late.
func (d Deps) rerun(ctx context.Context, r request) (answer, error) {
	key, err := r.idempotencyKey()
	if err != nil {
		return answer{}, err
	}
	if err := noBody(r.Body); err != nil {
		return answer{}, err
	}
	of, err := d.own(ctx, r)
	if err != nil {
		return answer{}, err
	}
	if err := d.admit(ctx, r.Athlete, analysis.RerunID(r.Athlete, key, of.AnalysisID)); err != nil {
		return answer{}, err
	}
	row, _, err := d.Life.Rerun(ctx, d.Objects, d.Bucket, key, of)
	switch {
	case errors.Is(err, analysis.ErrMoved):
		return answer{}, ended(of)
	case errors.Is(err, analysis.ErrClipsGone):
		return answer{}, problem{Status: http.StatusConflict, Code: "clips_gone", Title: "The clips are no longer kept.",
			Detail: "Upload them again as a new analysis.", More: map[string]any{"analysis_id": of.AnalysisID}}
	case err != nil:
		return answer{}, err
	}
	if row.Status == analysis.Queued {
		if _, err := analysis.Start(ctx, d.Steps, d.MachineARN, row.AnalysisID, row.Attempt); err != nil {
			return answer{}, err
		}
	}
	return answer{Status: http.StatusCreated, Body: created{row.AnalysisID, analysis.Queued, []upload{}}}, nil
}
