package batchrun

import (
	"context"
	"time"

	"fastbowlinglab/shared/names"
)

// Evidence says who holds an effect, since when and until when, and what work
// was begun on it and not ended, with its counters, whoever began it.
func (s Store) Evidence(ctx context.Context, effect string) (names.BatchOut, error) {
	out := names.BatchOut{State: names.BatchFree, Batches: []string{}}
	held, err := s.Leases.Who(ctx, names.LeaseOf(effect))
	if err != nil {
		return out, err
	}
	if held != nil {
		out.State, out.HeldBy, out.Until = names.BatchHeld, held.Owner, held.Until.UTC().Format(time.RFC3339)
		if r, err := s.Get(ctx, held.Owner); err == nil {
			out.Since = r.OpenedAt.UTC().Format(time.RFC3339)
		}
	}
	runs, err := s.ByEffect(ctx, effect)
	if err != nil {
		return out, err
	}
	var sum Counts
	for _, r := range runs {
		bs, err := s.Batches(ctx, r.ID)
		if err != nil {
			return out, err
		}
		for _, b := range bs {
			if b.State == Open {
				out.Begun++
			}
			sum = sum.Add(b.Counts)
		}
	}
	out.Expected, out.New, out.Already = sum.Expected, sum.New, sum.Already
	out.Failed, out.Unknown, out.Missing = sum.Failed, sum.Unknown, sum.Missing
	return out, nil
}

// Clock is the time that the store goes by.
func (s Store) Clock() time.Time { return s.now() }
