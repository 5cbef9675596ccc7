package nightly

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

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
