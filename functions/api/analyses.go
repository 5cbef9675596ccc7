package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/reason"
)

// createIn is the body of POST /v1/analyses.
type createIn struct {
	Athlete struct {
		Name string `json:"name"`
	} `json:"athlete"`
	Email    string `json:"email"`
	TimeZone string `json:"time_zone"`
	Notes    string `json:"notes"`
	Consent  bool   `json:"consent"`
	Clips    []struct {
		Name      string `json:"name"`
		Type      string `json:"type"`
		SizeBytes int64  `json:"size_bytes"`
	} `json:"clips"`
}

func (in createIn) submission() (analysis.Submission, error) {
	s := analysis.Submission{AthleteName: in.Athlete.Name, Email: in.Email, TimeZone: in.TimeZone, Notes: in.Notes, Consent: in.Consent}
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
	if err := d.admit(ctx, r.Athlete, key); err != nil {
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
	row, err := d.Life.Get(ctx, r.PathParameters["analysis_id"])
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
}

func viewOf(row analysis.Row) view {
	v := view{
		AnalysisID: row.AnalysisID, Status: row.Status, Reason: reason.Code(row.Reason), Attempt: row.Attempt,
		Refunded: row.Status.Ended() && row.Status != analysis.Ready,
		Clips:    row.Clips, CreatedAt: row.CreatedAt,
		QueuedAt: known(row.QueuedAt), EndedAt: known(row.EndedAt), Deadline: known(row.Deadline),
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
		stage, part, ok, err := d.Progress.Progress(ctx, row.AnalysisID, row.Attempt)
		if err != nil { // the status is worth more than the progress
			slog.WarnContext(ctx, "progress not read", "analysis_id", row.AnalysisID, "detail", err.Error())
		} else if ok {
			v.Stage, v.Progress = stage, &part
		}
	}
	return answer{Status: http.StatusOK, Body: v, ETag: true}, nil
}

// Limits of a page.
const (
	defaultPage = 20
	maxPage     = 100
)

func (d Deps) list(ctx context.Context, r request) (answer, error) {
	limit := defaultPage
	if q := r.QueryStringParameters["limit"]; q != "" {
		n, err := strconv.Atoi(q)
		if err != nil || n < 1 || n > maxPage {
			return answer{}, invalid("limit: a number from 1 to %d", maxPage)
		}
		limit = n
	}
	var from analysis.Cursor
	if q := r.QueryStringParameters["cursor"]; q != "" {
		b, err := base64.RawURLEncoding.DecodeString(q)
		if err != nil || json.Unmarshal(b, &from) != nil || from.CreatedAt == "" || from.AnalysisID == "" {
			return answer{}, invalid("cursor: not one that this API gave")
		}
	}
	page, err := d.Life.ByAthlete(ctx, r.Athlete, from, int32(limit))
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Analyses []view `json:"analyses"`
		Next     string `json:"next_cursor,omitempty"`
	}{Analyses: []view{}}
	for _, row := range page.Rows {
		out.Analyses = append(out.Analyses, viewOf(row))
	}
	if page.Next != (analysis.Cursor{}) {
		b, err := json.Marshal(page.Next)
		if err != nil {
			return answer{}, err
		}
		out.Next = base64.RawURLEncoding.EncodeToString(b)
	}
	return answer{Status: http.StatusOK, Body: out}, nil
}
