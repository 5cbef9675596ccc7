// Package revise makes a delivered report again: with new texts, or measured
// again from the stored keypoints and with new texts. What was delivered stays as
// it is; the new report stands beside it, as a revision with a number.
//
// Every step is guarded by a key of its own, so that it may be done again: a text
// is called for once a revision, the measured result and the files follow from
// what they are made of, and the analysis's row takes a revision once, under the
// conditions of the run that makes it. Nothing here touches a credit; a notice is
// written when the order asks for one, in the transaction that adds the revision.
package revise

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// Texts makes the calls of the two texts; *aitask.Runner does.
type Texts interface {
	Revise(ctx context.Context, run names.Run, t aitask.Task, revision string, in aitask.Input) (names.TextOut, error)
}

// Jobs reads pose jobs, which know where the keypoints are; *posejob.Store does.
type Jobs interface {
	Get(ctx context.Context, id string) (posejob.Job, error)
}

// Render makes the files of a revision: function render, called. Errors carry a
// name of package fault.
type Render func(context.Context, names.RenderIn) (names.RenderOut, error)

// Takeovers is how often an item whose worker died is made again: it is harmless,
// and one that kills its workers is given up.
const Takeovers = 5

// Redo is the backfill's work on reports.
type Redo struct {
	Get     func(ctx context.Context, id string) (analysis.Row, error)
	Texts   Texts
	Render  Render
	Publish Publisher
	Files   Files
	Jobs    Jobs
	Measure bool // from the stored keypoints; else the newest result is reported again
	Now     func() time.Time
}

func (d Redo) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

// Times that the steps of an item need.
const (
	textLeast  = 60 * time.Second
	renderTime = 25 * time.Second
)

// Do implements backfill.Work.
func (d Redo) Do(ctx context.Context, o backfill.Order) (backfill.Made, error) {
	made, err := d.revise(ctx, o)
	return made, open(err)
}

// open marks what is no final answer as something that may be asked for again.
func open(err error) error {
	if err == nil || errors.Is(err, backfill.ErrNotSent) || backfill.Decided(err) || fault.NameOf(err) == fault.Conceded {
		return err
	}
	return backfill.NotSent(err)
}

func (d Redo) revise(ctx context.Context, o backfill.Order) (backfill.Made, error) {
	row, err := d.Get(ctx, o.AnalysisID)
	if errors.Is(err, analysis.ErrNotFound) {
		return backfill.Made{}, fault.Wrap(fault.Permanent, err, "revise")
	}
	if err != nil {
		return backfill.Made{}, err
	}
	name := names.RevisionName(o.Run.Effect, o.Version)
	if v, ok := row.Revised(name); ok {
		return d.made(ctx, v)
	}
	if row.Status != analysis.Ready || row.ResultKey == "" {
		return backfill.Made{}, fault.New(fault.Permanent, "revise %s: it is %s, without a report", o.AnalysisID, row.Status)
	}
	if !row.Kept() {
		return backfill.Made{}, fault.New(fault.Permanent, "revise %s: it is no longer kept", o.AnalysisID)
	}
	if len(row.Revisions) >= names.MaxRevisions {
		return backfill.Made{}, fault.New(fault.Permanent, "revise %s: it has %d revisions, which is the most", o.AnalysisID, len(row.Revisions))
	}
	run := names.Run{AnalysisID: row.AnalysisID, Attempt: row.Attempt}
	in, result, err := d.result(ctx, row, name)
	if err != nil {
		return backfill.Made{}, err
	}
	if d.Measure && in == row.Newest().ResultKey {
		slog.InfoContext(ctx, "measured again, the same", "analysis_id", row.AnalysisID, "revision", name)
		return d.Files.made(ctx, in)
	}
	text := aitask.Input{Result: result, Notes: row.Notes}
	findings, err := d.text(ctx, run, aitask.Findings, name, text)
	if err != nil {
		return backfill.Made{}, err
	}
	if text.Findings, err = d.Files.findings(ctx, run, findings); err != nil {
		return backfill.Made{}, err
	}
	coaching, err := d.text(ctx, run, aitask.Coaching, name, text)
	if err != nil {
		return backfill.Made{}, err
	}
	v := analysis.Revision{Number: len(row.Revisions) + 1, Name: name, Changed: o.Changed, ResultKey: in, By: o.Run.ID}
	if v.Changed == "" {
		v.Changed = d.changed()
	}
	if err := room(ctx, d.now(), renderTime-5*time.Second); err != nil {
		return backfill.Made{}, err
	}
	files, err := d.Render(ctx, names.RenderIn{Run: run, ResultKey: in, FindingsKey: findings, CoachingKey: coaching,
		Revision: name, Number: v.Number, Changed: v.Changed})
	if err != nil {
		return backfill.Made{}, err
	}
	v.ReportPDF, v.ReportJSON = files.PDFKey, files.JSONKey
	if v, err = d.Publish.Add(ctx, row, v, o); err != nil {
		return backfill.Made{}, err
	}
	return d.made(ctx, v)
}

// changed is what a revision changes, where the operator does not say.
func (d Redo) changed() string {
	if d.Measure {
		return "Measured again from the same footage; findings and coaching are written again."
	}
	return "Findings and coaching are written again."
}

// text makes the call of a text, once a revision whoever asks.
func (d Redo) text(ctx context.Context, run names.Run, t aitask.Task, name string, in aitask.Input) (string, error) {
	if err := room(ctx, d.now(), textLeast+renderTime); err != nil {
		return "", err
	}
	call, cancel := context.WithTimeout(ctx, names.TextTime)
	defer cancel()
	if until, ok := ctx.Deadline(); ok { // what is made is of no use if it cannot be kept
		if most := until.Add(-renderTime); time.Until(most) < names.TextTime {
			call, cancel = context.WithDeadline(ctx, most)
			defer cancel()
		}
	}
	out, err := d.Texts.Revise(call, run, t, name, in)
	if err != nil {
		return "", err
	}
	if out.State == names.EffectDone {
		return out.Key, nil
	}
	busy := fault.New(fault.Transient, "%s of %s is being written elsewhere until %s", t, run.AnalysisID, out.Until)
	until, err := time.Parse(time.RFC3339, out.Until)
	if err != nil {
		return "", errors.Join(busy, err)
	}
	return "", backfill.Later(until, busy)
}

// room is an error when less than need is left: what was made so far is kept, and
// the next call goes on from there.
func room(ctx context.Context, now time.Time, need time.Duration) error {
	if until, ok := ctx.Deadline(); ok && until.Sub(now) < need {
		return backfill.NotSent(fault.New(fault.Transient, "too little time is left for the next step"))
	}
	return nil
}

func (d Redo) made(ctx context.Context, v analysis.Revision) (backfill.Made, error) {
	return d.Files.made(ctx, v.ReportJSON)
}
