package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/reason"
)

// createIn is the body of POST /v1/analyses.
type createIn struct {
	Athlete   athleteIn `json:"athlete"`
	Email     string    `json:"email"`
	Push      bool      `json:"push"`
	TimeZone  string    `json:"time_zone"`
	Notes     string    `json:"notes"`
	Consent   bool      `json:"consent"`
	ConsentBy consentIn `json:"consent_by"`
	Clips     []clipIn  `json:"clips"`
}

type athleteIn struct {
	Name     string `json:"name"`
	UnderAge bool   `json:"under_age"`
}

// consentIn says who consents; without it, the athlete.
type consentIn struct {
	Role string `json:"role"`
	Name string `json:"name"`
}

type clipIn struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	SizeBytes int64  `json:"size_bytes"`
}

func (in createIn) submission() (analysis.Submission, error) {
	s := analysis.Submission{AthleteName: in.Athlete.Name, Email: in.Email, TimeZone: in.TimeZone, Notes: in.Notes, Consent: in.Consent,
		UnderAge: in.Athlete.UnderAge, ConsentRole: in.ConsentBy.Role, ConsentName: in.ConsentBy.Name, Push: in.Push}
	for _, c := range in.Clips {
		s.Clips = append(s.Clips, analysis.Clip{Name: c.Name, Type: c.Type, SizeBytes: c.SizeBytes})
	}
	return s.Clean()
}

// created is the answer of create and uploads. Uploads is empty once the clips
// are pinned.
type created struct {
	AnalysisID string          `json:"analysis_id"`
	Status     analysis.Status `json:"status"`
	Uploads    []upload        `json:"uploads"`
}

func (d Deps) create(ctx context.Context, r request) (answer, error) {
	key, err := r.idempotencyKey()
	if err != nil {
		return answer{}, err
	}
	var in createIn
	if err := decodeBody(r.Body, &in); err != nil {
		return answer{}, err
	}
	sub, err := in.submission()
	if err != nil {
		return answer{}, err
	}
	if err := d.admit(ctx, r.Athlete, analysis.ID(r.Athlete, key)); err != nil {
		return answer{}, err
	}
	row, _, err := d.Life.Create(ctx, r.Athlete, key, sub)
	if err != nil {
		return answer{}, err
	}
	return d.withUploads(ctx, row, http.StatusCreated)
}

// own reads an analysis of the caller's; anybody else's is not found.
func (d Deps) own(ctx context.Context, r request) (analysis.Row, error) {
	id := r.PathParameters["analysis_id"]
	if !analysis.WellFormed(id) {
		return analysis.Row{}, errNotFound
	}
	row, err := d.Life.Get(ctx, id)
	if err != nil {
		return analysis.Row{}, err
	}
	if row.AthleteID != r.Athlete {
		return analysis.Row{}, errNotFound
	}
	return row, nil
}

// view is an analysis as its athlete sees it. Stage says, for people, what is
// being done; Progress is the part done, in [0,1], null while nobody can tell.
type view struct {
	AnalysisID string          `json:"analysis_id"`
	Status     analysis.Status `json:"status"`
	Reason     reason.Code     `json:"reason,omitempty"`
	Message    string          `json:"message,omitempty"`
	Stage      string          `json:"stage,omitempty"`
	Progress   *float64        `json:"progress"`
	Attempt    int             `json:"attempt"`
	Refunded   bool            `json:"refunded"`
	Clips      []analysis.Clip `json:"clips"`
	CreatedAt  time.Time       `json:"created_at"`
	QueuedAt   *time.Time      `json:"queued_at,omitempty"`
	EndedAt    *time.Time      `json:"ended_at,omitempty"`
	Deadline   *time.Time      `json:"deadline,omitempty"`
	// EstimatedEnd is a guess from the progress of this attempt, while there is one.
	EstimatedEnd *time.Time        `json:"estimated_end,omitempty"`
	RerunOf      string            `json:"rerun_of,omitempty"`
	ConsentBy    *analysis.Consent `json:"consent_by,omitempty"`
}

func viewOf(row analysis.Row) view {
	v := view{
		AnalysisID: row.AnalysisID, Status: row.Status, Reason: reason.Code(row.Reason), Attempt: row.Attempt,
		Refunded: row.Status.Ended() && row.Status != analysis.Ready,
		Clips:    row.Clips, CreatedAt: row.CreatedAt,
		QueuedAt: known(row.QueuedAt), EndedAt: known(row.EndedAt), Deadline: known(row.Deadline),
		RerunOf: row.RerunOf, ConsentBy: row.ConsentBy,
	}
	if row.Reason != "" {
		v.Message = v.Reason.Sentence()
	}
	switch row.Status {
	case analysis.Reserved:
		v.Stage = "waiting for uploads"
	case analysis.Queued:
		v.Stage = "queued"
	case analysis.Analysing:
		v.Stage = "analysing"
	case analysis.Ready:
		one := 1.0
		v.Progress = &one
	}
	return v
}

func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (d Deps) show(ctx context.Context, r request) (answer, error) {
	row, err := d.own(ctx, r)
	if err != nil {
		return answer{}, err
	}
	v := viewOf(row)
	if row.Status == analysis.Analysing && d.Progress != nil {
		p, ok, err := d.Progress.Progress(ctx, row.AnalysisID, row.Attempt)
		if err != nil { // the status is worth more than the progress
			slog.WarnContext(ctx, "progress not read", "analysis_id", row.AnalysisID, "detail", err.Error())
		} else if ok {
			v.Stage, v.Progress = p.Stage, &p.Part
			v.EstimatedEnd = p.estimate(row.ClaimedAt)
		}
	}
	return answer{Status: http.StatusOK, Body: v, ETag: true}, nil
}

// listOut is a page of analyses, newest first.
type listOut struct {
	Analyses []view `json:"analyses"`
	Next     string `json:"next_cursor,omitempty"`
}

func (d Deps) list(ctx context.Context, r request) (answer, error) {
	limit, err := r.limit(defaultPage)
	if err != nil {
		return answer{}, err
	}
	var from analysis.Cursor
	if err := r.cursor(&from); err != nil {
		return answer{}, err
	}
	page, err := d.Life.ByAthlete(ctx, r.Athlete, from, int32(limit))
	if err != nil {
		return answer{}, err
	}
	out := listOut{Analyses: []view{}}
	for _, row := range page.Rows {
		out.Analyses = append(out.Analyses, viewOf(row))
	}
	if page.Next != (analysis.Cursor{}) {
		out.Next = cursorText(page.Next)
	}
	return answer{Status: http.StatusOK, Body: out, ETag: true}, nil
}
