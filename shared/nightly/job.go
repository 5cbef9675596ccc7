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
