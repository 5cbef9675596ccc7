package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/tags"
	"fastbowlinglab/shared/usage"
)

// JobReader reads pose jobs; posejob.Store does.
type JobReader interface {
	Get(ctx context.Context, analysisID string) (posejob.Job, error)
}

// exportOut is everything that is held about an athlete, as erasure.Rules says,
// a page of analyses at a time. The first page has the ledger.
type exportOut struct {
	Me       meOut            `json:"me"`
	Balance  int64            `json:"balance"`
	Ledger   []credit.Entry   `json:"ledger,omitempty"`
	Analyses []exportAnalysis `json:"analyses"`
	Next     string           `json:"next_cursor,omitempty"`
}

// exportAnalysis is one analysis with what was submitted, what was told, what
// was worked out, and every file: clips, keypoints, pictures, texts, reports.
// EmailSuppressed says why no mail goes to the address, "" if it does.
type exportAnalysis struct {
	view
	AthleteName     string            `json:"athlete_name"`
	Email           string            `json:"email"`
	EmailSuppressed string            `json:"email_suppressed,omitempty"`
	Push            bool              `json:"push"`
	TimeZone        string            `json:"time_zone"`
	Notes           string            `json:"notes"`
	Consent         bool              `json:"consent"`
	Flags           map[string]string `json:"flags,omitempty"`
	StartedAt       *time.Time        `json:"started_at,omitempty"`
	ClaimedAt       *time.Time        `json:"claimed_at,omitempty"`
	Notices         []exportNotice    `json:"notices"`
	PoseJob         *exportJob        `json:"pose_job,omitempty"`
	ModelCalls      []exportCall      `json:"model_calls"`
	Tags            []exportTags      `json:"tags"`
	Files           []file            `json:"files"`
	MoreFiles       bool              `json:"more_files,omitempty"` // there are more than can be shown
}

type exportNotice struct {
	Kind    string         `json:"kind"`
	Channel outbox.Channel `json:"channel"`
	State   outbox.State   `json:"state"`
	SentAt  *time.Time     `json:"sent_at,omitempty"`
}

// exportJob is the pose pass; its keypoints are among the files.
type exportJob struct {
	State       string    `json:"state"`
	Attempt     int       `json:"attempt"`
	Model       string    `json:"model,omitempty"`
	Part        float64   `json:"part"`
	Checkpoints int       `json:"checkpoints"`
	CreatedAt   time.Time `json:"created_at"`
}

// exportCall is a call of a model; what it was told and said is among the files.
type exportCall struct {
	Task     string    `json:"task"`
	Provider string    `json:"provider"`
	Model    string    `json:"model"`
	At       time.Time `json:"at"`
	Outcome  string    `json:"outcome"`
}

// exportTags is what an analysis was tagged with, in one version.
type exportTags struct {
	Version    string    `json:"version"`
	ActionType string    `json:"action_type"`
	Arm        string    `json:"arm"`
	Flags      []string  `json:"flags"`
	At         time.Time `json:"written_at"`
}

// Limits of a page of an export: an answer of Lambda's has at most 6 MB, and each
// file has a long link. An analysis is never divided.
const (
	maxExport      = 5
	maxExportFiles = 1500
)

func (d Deps) export(ctx context.Context, r request) (answer, error) {
	var from analysis.Cursor
	if err := r.cursor(&from); err != nil {
		return answer{}, err
	}
	page, err := d.Life.ByAthlete(ctx, r.Athlete, from, maxExport)
	if err != nil {
		return answer{}, err
	}
	me, err := d.me(ctx, r)
	if err != nil {
		return answer{}, err
	}
	l, err := d.Ledger.Read(ctx, r.Athlete)
	if err != nil {
		return answer{}, err
	}
	out := exportOut{Me: me.Body.(meOut), Balance: l.Balance, Analyses: []exportAnalysis{}}
	if from == (analysis.Cursor{}) {
		out.Ledger = l.Entries
	}
	files, next := 0, page.Next
	for i, row := range page.Rows {
		a, err := d.exportOne(ctx, row)
		if err != nil {
			return answer{}, err
		}
		out.Analyses = append(out.Analyses, a)
		if files += len(a.Files); files >= maxExportFiles && i < len(page.Rows)-1 {
			next = analysis.Cursor{CreatedAt: stamp.Format(row.CreatedAt), AnalysisID: row.AnalysisID}
			break
		}
	}
	if next != (analysis.Cursor{}) {
		out.Next = cursorText(next)
	}
	return answer{Status: http.StatusOK, Body: out}, nil
}

func (d Deps) exportOne(ctx context.Context, row analysis.Row) (exportAnalysis, error) {
	a := exportAnalysis{view: viewOf(row), AthleteName: row.AthleteName, Email: row.Email, Push: row.Push, TimeZone: row.TimeZone,
		Notes: row.Notes, Consent: row.Consent, Flags: row.Flags, StartedAt: known(row.StartedAt), ClaimedAt: known(row.ClaimedAt),
		Notices: []exportNotice{}, ModelCalls: []exportCall{}, Tags: []exportTags{}, Files: []file{}}
	told, err := outbox.List(ctx, d.Rows, d.Notices, row.AnalysisID)
	if err != nil {
		return a, err
	}
	for _, n := range told {
		a.Notices = append(a.Notices, exportNotice{n.Kind, n.Channel, n.State, known(n.SentAt)})
	}
	if row.Email != "" {
		if a.EmailSuppressed, err = d.People.Suppressed(ctx, row.Email); err != nil {
			return a, err
		}
	}
	if err := d.exportWork(ctx, row, &a); err != nil {
		return a, err
	}
	for _, prefix := range []string{names.PrefixClips, names.PrefixWork, names.PrefixReports} {
		files, more, err := d.files(ctx, prefix+row.AnalysisID+"/", maxFiles-len(a.Files))
		if err != nil {
			return a, err
		}
		a.Files, a.MoreFiles = append(a.Files, files...), a.MoreFiles || more
	}
	return a, d.confirmed(ctx, row, a.Files)
}

// confirmed lets the links of clips lead to what was confirmed, and so analysed,
// whatever was uploaded over it since.
func (d Deps) confirmed(ctx context.Context, row analysis.Row, files []file) error {
	for _, c := range row.Clips {
		i := slices.IndexFunc(files, func(f file) bool { return f.Name == c.Key })
		if i < 0 || c.VersionID == "" {
			continue
		}
		l, err := d.Signer.linkTo(ctx, c.Key, &c.VersionID)
		if err != nil {
			return err
		}
		files[i].link, files[i].SizeBytes = l, c.SizeBytes
	}
	return nil
}

// exportWork adds what was worked out: the pose pass, the model calls, the tags.
func (d Deps) exportWork(ctx context.Context, row analysis.Row, a *exportAnalysis) error {
	job, err := d.Jobs.Get(ctx, row.AnalysisID)
	switch {
	case err == nil:
		a.PoseJob = &exportJob{string(job.State), job.Attempt, job.Model, job.Progress.Fraction, len(job.Checkpoints), job.CreatedAt}
	case !errors.Is(err, posejob.ErrNoJob):
		return err
	}
	bill, err := d.Usage.Query(ctx, usage.Query{AnalysisID: row.AnalysisID})
	if err != nil {
		return err
	}
	for _, c := range bill.Lines {
		a.ModelCalls = append(a.ModelCalls, exportCall{c.Task, c.Provider, c.Model, c.At, c.Outcome})
	}
	rows, err := tags.Of(ctx, d.Rows, d.Tags, row.Day(), row.AnalysisID)
	for _, g := range rows {
		a.Tags = append(a.Tags, exportTags{g.Version, g.ActionType, g.Arm, append([]string{}, g.Flags...), g.At})
	}
	return err
}
