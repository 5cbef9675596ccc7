package api

import (
	"context"
	"log/slog"
	"net/http"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/reason"
)

// standing is the answer of confirm and cancel.
type standing struct {
	AnalysisID string          `json:"analysis_id"`
	Status     analysis.Status `json:"status"`
	Reason     reason.Code     `json:"reason,omitempty"`
}

// confirm pins the clips, queues the analysis and starts its execution. Each
// step can be repeated: a lost answer, or a crash between two of them, is
// repaired by confirming again. The answer says what the confirm did, and so is
// the same however late: the status is GET's to tell.
func (d Deps) confirm(ctx context.Context, r request) (answer, error) {
	if err := noBody(r.Body); err != nil {
		return answer{}, err
	}
	row, err := d.own(ctx, r)
	if err != nil {
		return answer{}, err
	}
	if row.Status == analysis.Reserved {
		pinned, err := analysis.Pin(ctx, d.Objects, d.Bucket, row.Clips)
		if err != nil {
			return answer{}, err
		}
		if row, err = d.Life.Queue(ctx, row.AnalysisID, pinned); err != nil && row.AnalysisID == "" {
			return answer{}, err
		}
	}
	if row.QueuedAt.IsZero() {
		if err := d.expired(ctx, row); err != nil {
			return answer{}, err
		}
	}
	if row.Status == analysis.Queued {
		if _, err := analysis.Start(ctx, d.Steps, d.MachineARN, row.AnalysisID, row.Attempt); err != nil {
			return answer{}, err
		}
	}
	return answer{Status: http.StatusAccepted, Body: standing{AnalysisID: row.AnalysisID, Status: analysis.Queued}}, nil
}

// expired says why an analysis cannot be confirmed any more. One that is past its
// deadline has its end from now on, whether or not the reconciler has come by. It is
// nil where another confirm, by a clock behind ours, was in time.
func (d Deps) expired(ctx context.Context, row analysis.Row) error {
	if row.Status == analysis.Reserved {
		res, err := d.Ends.Expire(ctx, row.AnalysisID, "confirm#"+row.AthleteID)
		if err != nil || !res.Status.Ended() {
			return err
		}
		row.Status, row.Reason = res.Status, string(res.Reason)
	}
	return ended(row)
}

// cancel ends an analysis that no worker has claimed, with a refund.
func (d Deps) cancel(ctx context.Context, r request) (answer, error) {
	if err := noBody(r.Body); err != nil {
		return answer{}, err
	}
	row, err := d.own(ctx, r)
	if err != nil {
		return answer{}, err
	}
	res, err := d.Ends.Cancel(ctx, row.AnalysisID, "cancel#"+r.Athlete)
	if err != nil {
		return answer{}, err
	}
	if !res.Won {
		row.Status, row.Reason = res.Status, string(res.Reason)
		return answer{}, ended(row)
	}
	if !row.QueuedAt.IsZero() {
		if err := analysis.Stop(ctx, d.Steps, d.MachineARN, row.Holder(), "Cancelled"); err != nil {
			// The end stands; the execution finds it at its next step.
			slog.WarnContext(ctx, "execution not stopped", "analysis_id", row.AnalysisID, "detail", err.Error())
		}
	}
	return answer{Status: http.StatusOK, Body: standing{row.AnalysisID, res.Status, res.Reason}}, nil
}

// ended says why a step is not possible any more.
func ended(row analysis.Row) problem {
	p := problem{Status: http.StatusConflict, Code: "analysis_ended", Title: "The analysis has ended.",
		More: map[string]any{"analysis_id": row.AnalysisID, "analysis_status": row.Status}}
	if !row.Status.Ended() {
		p.Code, p.Title = "analysis_running", "The analysis is already being worked on."
	}
	if row.Reason != "" {
		p.More["reason"], p.Detail = row.Reason, reason.Code(row.Reason).Sentence()
	}
	return p
}
