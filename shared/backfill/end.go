package backfill

import (
	"context"
	"errors"
	"time"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// again is how long a round waits before it looks at what the last one left.
const again = 30 * time.Second

// Tally reads what the rows say of a run. Complete ends the run; More names the
// batches that are left and when to go on.
func (j Job) Tally(ctx context.Context, in names.BatchIn) (names.BatchOut, error) {
	r, spec, err := j.step(ctx, in.Run)
	if err != nil {
		return names.BatchOut{}, err
	}
	out, busy, err := j.read(ctx, r, spec)
	if err != nil || out.State == names.BatchMore {
		return out, err
	}
	_, err = j.Runs.End(ctx, r, out.State, busy)
	return out, awserr.Fault(err, "end run "+in.Run)
}

// Close ends a run that goes no further, whatever came of it, and says what the
// rows say. Workers that are still at it find their claims refused; the lease is
// left to run out if there may be one.
func (j Job) Close(ctx context.Context, in names.BatchIn) (names.BatchOut, error) {
	r, err := j.Runs.Get(ctx, in.Run)
	if errors.Is(err, batchrun.ErrNotFound) { // it never began
		return answer(names.BatchOut{State: names.BatchIncomplete}), nil
	}
	if err != nil {
		return names.BatchOut{}, awserr.Fault(err, "close run "+in.Run)
	}
	spec, err := specOf(r)
	if err != nil {
		return names.BatchOut{}, err
	}
	out, busy, err := j.read(ctx, r, spec)
	if err != nil {
		return out, err
	}
	if out.State == names.BatchMore {
		out.State = names.BatchIncomplete
	}
	if r.State == batchrun.Open {
		_, err = j.Runs.End(ctx, r, out.State, busy)
	}
	if fault.NameOf(err) == fault.Conceded && err != nil { // another run has the effect
		err = nil
	}
	return out, awserr.Fault(err, "close run "+in.Run)
}

// read derives a run's state from its batches' rows and, for batches that have
// none or whose worker did not come to its end, from the items' rows. busy is when
// the last worker must have ended, zero if there is none.
func (j Job) read(ctx context.Context, r batchrun.Run, spec kept) (out names.BatchOut, busy time.Time, err error) {
	rows, err := j.Runs.Batches(ctx, r.ID)
	if err != nil {
		return out, busy, awserr.Fault(err, "read run "+r.ID)
	}
	known := map[string]batchrun.Batch{}
	now := j.Runs.Clock()
	busy = j.Runs.Busy(rows)
	until := later(now.Add(again), busy.Add(names.ClockSkew))
	for _, b := range rows {
		known[b.Name()] = b
	}
	var total batchrun.Counts
	left := []string{}
	for n := range spec.Batches {
		key := names.BatchKey(r.ID, n)
		b := known[key]
		c := b.Counts
		if b.State != batchrun.Ended {
			ids, err := j.ids(ctx, key)
			if err != nil {
				return out, busy, err
			}
			items, err := j.Items.Load(ctx, batchrun.SetOf(spec.Effect, spec.Version), ids)
			if err != nil {
				return out, busy, awserr.Fault(err, "read the items of "+key)
			}
			c = batchrun.Tally(ids, items, r.ID)
			left = append(left, key)
			for _, it := range items {
				switch {
				case it.State == batchrun.Claimed:
					until = later(until, it.Until.Add(names.ClockSkew+time.Second))
				case it.Waits(now):
					until = later(until, it.Until.Add(time.Second))
				}
			}
		}
		total = total.Add(c)
	}
	out = counted(total)
	out.Batches, out.State = left, names.BatchMore
	if len(left) == 0 {
		out.State = names.BatchComplete
		if total.Missing > 0 || total.Failed > 0 || total.Unknown > 0 {
			out.State = names.BatchIncomplete
		}
	}
	out.Begun = len(known)
	if most := now.Add(names.MaxPause); until.After(most) { // the run's lease must last through the pause
		until = most
	}
	out.Until = until.UTC().Format(time.RFC3339)
	return out, busy, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
