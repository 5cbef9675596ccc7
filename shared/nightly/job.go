package nightly

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
)

// Days lists deliveries; analysis.Store does.
type Days interface {
	Delivered(ctx context.Context, day string) ([]analysis.Row, error)
}

// Tagger tags one analysis, the same whenever it is asked. Errors:
// *effect.InProgress; others carry a name of package fault.
type Tagger interface {
	Tag(ctx context.Context, row analysis.Row, version string) (aitask.Tagged, error)
}

// Job carries out the steps of statemachine/nightly.asl.json.
type Job struct {
	Runs   batchrun.Store
	Rows   Rows
	Days   Days
	Tagger Tagger
	Now    func() time.Time
}

func (j Job) now() time.Time {
	if j.Now != nil {
		return j.Now()
	}
	return time.Now()
}

// spec is what a run tags; it is also the input that an operator gives.
type spec struct {
	Day     string `json:"day"`
	Version string `json:"version"`
}

// parse reads an input. Without a day it is the one before the run's start.
func (j Job) parse(in names.BatchIn) (spec, error) {
	var s spec
	if len(in.Input) > 0 {
		d := json.NewDecoder(bytes.NewReader(in.Input))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return s, fault.New(fault.Permanent, "nightly: the input is not as statemachine/OPERATIONS.md shows it: %v", err)
		}
	}
	if s.Version == "" {
		s.Version = names.TagsVersion
	}
	if s.Day == "" {
		at, err := time.Parse(time.RFC3339, in.Started)
		if err != nil {
			return s, fault.Wrap(fault.Permanent, err, "nightly: no day, and the start is not known")
		}
		s.Day = at.UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	}
	day, err := time.Parse(time.DateOnly, s.Day)
	if err != nil {
		return s, fault.Wrap(fault.Permanent, err, "nightly: day")
	}
	if over := day.AddDate(0, 0, 1).Add(names.NightlySettle); j.now().Before(over) {
		return s, fault.New(fault.Permanent, "nightly: %s is not over; it can be tagged from %s on", s.Day, over.Format(time.RFC3339))
	}
	return s, nil
}

// Open takes the lease of the tags for the run. Asked again it gives the same
// answer.
func (j Job) Open(ctx context.Context, in names.BatchIn) (names.BatchOut, error) {
	s, err := j.parse(in)
	if err != nil {
		return names.BatchOut{}, err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return names.BatchOut{}, fmt.Errorf("encode the run's spec: %w", err)
	}
	before, err := j.Runs.Evidence(ctx, names.EffectTags)
	if err != nil {
		return before, awserr.Fault(err, "preflight of the tags")
	}
	r, err := j.Runs.Begin(ctx, in.Run, names.EffectTags, string(b))
	var held *lease.Held
	if errors.As(err, &held) {
		before.State, before.HeldBy, before.Until = names.BatchHeld, held.Owner, held.Until.UTC().Format(time.RFC3339)
		return before, nil
	}
	if err != nil {
		return before, awserr.Fault(err, "open "+in.Run)
	}
	if r.Spec != string(b) { // a name is one run: an execution of another machine has it
		return before, fault.New(fault.Permanent, "open %s: it was opened as %s, and this would be %s: start another", in.Run, r.Spec, b)
	}
	slog.InfoContext(ctx, "run opened", "run", r.ID, "effect", r.Effect, "fence", r.Fence, "day", s.Day, "version", s.Version)
	before.State = names.BatchOpen
	return before, nil
}

// oneWorker is the batch that stands for the whole day.
const oneWorker = "day"

// leaving is the time that a call keeps for its end.
const leaving = 15 * time.Second

// Work tags what has no checkpoint for as long as ctx allows. State More hands
// the rest on to another call.
func (j Job) Work(ctx context.Context, in names.BatchIn) (names.BatchOut, error) {
	r, s, err := j.step(ctx, in.Run)
	if err != nil {
		return names.BatchOut{}, err
	}
	w := worker{Job: j, run: r, spec: s, me: rand.Text()}
	out, err := w.work(ctx)
	if errors.Is(err, batchrun.ErrBusy) {
		slog.InfoContext(ctx, "another call is at work", "run", in.Run, "detail", err.Error())
		return names.BatchOut{State: names.BatchMore, Until: out.Until, Batches: []string{}}, nil
	}
	return out, awserr.Fault(err, "work on "+s.Day)
}

func (j Job) step(ctx context.Context, run string) (batchrun.Run, spec, error) {
	var s spec
	r, err := j.Runs.Step(ctx, run)
	if errors.Is(err, batchrun.ErrNotFound) {
		return r, s, fault.Wrap(fault.Permanent, err, "nightly")
	}
	if err != nil {
		return r, s, awserr.Fault(err, "step of run "+run)
	}
	err = json.Unmarshal([]byte(r.Spec), &s)
	return r, s, fault.Wrap(fault.Permanent, err, "decode the spec of run %s", run)
}

// worker is one call of Work.
type worker struct {
	Job
	run   batchrun.Run
	spec  spec
	me    string
	batch batchrun.Batch
	taken time.Time
}

func (w *worker) take(ctx context.Context, now time.Time) error {
	b, err := w.Runs.Take(ctx, w.run, oneWorker, w.me, now.Add(batchrun.WorkerLease(names.EffectTags)))
	w.batch, w.taken = b, now
	return err
}

func (w *worker) work(ctx context.Context) (names.BatchOut, error) {
	if err := w.take(ctx, w.now()); err != nil {
		return names.BatchOut{Until: w.batch.Until.Add(names.ClockSkew + time.Second).UTC().Format(time.RFC3339)}, err
	}
	expected, err := w.Days.Delivered(ctx, w.spec.Day)
	if err != nil {
		return names.BatchOut{}, err
	}
	done, err := w.Rows.Checkpoints(ctx, w.spec.Day, w.spec.Version)
	if err != nil {
		return names.BatchOut{}, err
	}
	failed, err := w.Rows.Failures(ctx, w.spec.Day, w.spec.Version)
	if err != nil {
		return names.BatchOut{}, err
	}
	slog.InfoContext(ctx, "working", "run", w.run.ID, "day", w.spec.Day, "expected", len(expected), "resumed_from", len(done))
	out := names.BatchOut{State: names.BatchDone, Batches: []string{}, Expected: len(expected)}
	until := w.now()
	for _, row := range expected {
		if _, ok := done[row.AnalysisID]; ok {
			continue
		}
		if failed[row.AnalysisID].By == w.run.ID { // another run may try it again
			out.Failed++
			continue
		}
		now := w.now()
		if d, ok := ctx.Deadline(); ok && d.Sub(now) < names.ItemTime+leaving {
			out.State = names.BatchMore
			break
		}
		if now.Sub(w.taken) > batchrun.TakeAgain {
			if err := w.take(ctx, now); err != nil {
				return names.BatchOut{Until: w.batch.Until.Add(names.ClockSkew + time.Second).UTC().Format(time.RFC3339)}, err
			}
		}
		how, later, err := w.item(ctx, row)
		switch {
		case err != nil:
			return names.BatchOut{}, err
		case how == New:
			out.New++
		case how == Already:
			out.Already++
		case how == cannot:
			out.Failed++
		case how == again:
			out.State = names.BatchMore
			if later.After(until) {
				until = later
			}
		}
	}
	out.Until = until.UTC().Add(time.Second).Format(time.RFC3339)
	return out, w.leave(ctx)
}

// again says that an item could not be done now, and may be later; cannot, that it
// never can be, in this version.
const (
	again  = "again"
	cannot = "cannot"
)

// pause is how long an item waits after an error that may pass.
const pause = 30 * time.Second

// item tags one analysis. An item that cannot be tagged is recorded as such: it
// keeps no other back, and it is what the day's status tells.
func (w *worker) item(ctx context.Context, row analysis.Row) (how string, later time.Time, err error) {
	call, cancel := context.WithTimeout(ctx, names.ItemTime)
	defer cancel()
	tags, err := w.Tagger.Tag(call, row, w.spec.Version)
	if err == nil {
		var r Row
		if r, err = NewRow(w.spec.Day, row.AnalysisID, w.spec.Version, w.run.ID, tags); err == nil {
			how, err = w.Rows.Commit(ctx, w.run, r)
		}
	}
	var busy *effect.InProgress
	switch {
	case err == nil:
		return how, later, nil
	case errors.As(err, &busy):
		return again, busy.Until, nil
	case errors.Is(err, ErrMismatch):
		slog.ErrorContext(ctx, "mismatch", "run", w.run.ID, "analysis_id", row.AnalysisID, "detail", err.Error())
		return cannot, later, nil
	}
	err = awserr.Fault(err, "tag "+row.AnalysisID)
	switch fault.NameOf(err) {
	case fault.Conceded:
		return "", later, err
	case fault.Transient:
		slog.WarnContext(ctx, "not tagged yet", "run", w.run.ID, "analysis_id", row.AnalysisID, "detail", err.Error())
		return again, w.now().Add(pause), nil
	}
	slog.ErrorContext(ctx, "cannot be tagged", "run", w.run.ID, "analysis_id", row.AnalysisID, "error", fault.NameOf(err), "detail", err.Error())
	return cannot, later, w.Rows.Fail(ctx, w.run, w.spec.Day, row.AnalysisID, w.spec.Version, err)
}

// leave gives the day back, so that another call need not wait for it.
func (w *worker) leave(ctx context.Context) error {
	c, err := w.status(ctx, w.run, w.spec)
	if err != nil {
		return err
	}
	if c.Missing == 0 {
		c.Missing = 1 // the batch stays open until the run is closed
	}
	return w.Runs.Leave(ctx, w.batch, c)
}

// status is what the rows of a day say, held against what it delivered.
func (j Job) status(ctx context.Context, r batchrun.Run, s spec) (batchrun.Counts, error) {
	expected, err := j.Days.Delivered(ctx, s.Day)
	if err != nil {
		return batchrun.Counts{}, err
	}
	rows, err := j.Rows.Rows(ctx, s.Day, s.Version)
	if err != nil {
		return batchrun.Counts{}, err
	}
	done, err := j.Rows.Checkpoints(ctx, s.Day, s.Version)
	if err != nil {
		return batchrun.Counts{}, err
	}
	failed, err := j.Rows.Failures(ctx, s.Day, s.Version)
	if err != nil {
		return batchrun.Counts{}, err
	}
	c := batchrun.Counts{Expected: len(expected)}
	for _, a := range expected {
		row, ok := rows[a.AnalysisID]
		cp, checked := done[a.AnalysisID]
		_, cannot := failed[a.AnalysisID]
		switch {
		case !ok && cannot:
			c.Failed++
		case !ok:
			c.Missing++
		case !checked || cp.Hash != row.Hash: // it was not found to be the row that it should be
			c.Failed++
		case row.By == r.ID:
			c.New++
		default:
			c.Already++
		}
	}
	return c, nil
}

// Close derives the status of the day from its rows and ends the run.
func (j Job) Close(ctx context.Context, in names.BatchIn) (names.BatchOut, error) {
	out := names.BatchOut{State: names.BatchIncomplete, Batches: []string{}}
	r, err := j.Runs.Get(ctx, in.Run)
	if errors.Is(err, batchrun.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, awserr.Fault(err, "close run "+in.Run)
	}
	var s spec
	if err := json.Unmarshal([]byte(r.Spec), &s); err != nil {
		return out, fault.Wrap(fault.Permanent, err, "decode the spec of run %s", in.Run)
	}
	c, err := j.status(ctx, r, s)
	if err != nil {
		return out, awserr.Fault(err, "status of "+s.Day)
	}
	bs, err := j.Runs.Batches(ctx, r.ID)
	if err != nil {
		return out, awserr.Fault(err, "close run "+in.Run)
	}
	out.Expected, out.New, out.Already, out.Failed, out.Missing = c.Expected, c.New, c.Already, c.Failed, c.Missing
	if c.Missing == 0 && c.Failed == 0 {
		out.State = names.BatchComplete
	}
	if r.State == batchrun.Open {
		if _, err = j.Runs.End(ctx, r, out.State, j.Runs.Busy(bs)); err != nil && fault.NameOf(err) == fault.Conceded {
			err = nil // another run has the effect
		}
	}
	slog.InfoContext(ctx, "day", "run", in.Run, "day", s.Day, "status", out.State, "expected", c.Expected, "new", c.New,
		"already", c.Already, "failed", c.Failed, "missing", c.Missing)
	return out, awserr.Fault(err, "close run "+in.Run)
}
