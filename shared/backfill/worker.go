// Package backfill redoes an effect for many analyses: item by item, each claimed
// first, made once, written once by key, and skipped when it is there. What it
// redoes is a Work; how runs, batches and items are kept is package batchrun's.
package backfill

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
)

// Work makes one item. It is called once for each claim, after the budget gave
// it a place. Its context ends before the claim does.
type Work interface {
	// Do makes the item of an analysis in a version. Errors: NotSent, when nothing
	// was done and it may be asked again; a fault.Permanent, which is recorded and
	// never tried again; anything else leaves the outcome unknown.
	Do(ctx context.Context, analysisID, version string) (Made, error)
}

// Made says what an item became.
type Made struct {
	Key  string // where it is
	Hash string // SHA-256 of it, hexadecimal
}

// ErrNotSent marks an error before which nothing was done.
var ErrNotSent = errors.New("nothing was done")

// NotSent marks err as one before which nothing was done.
func NotSent(err error) error { return errors.Join(ErrNotSent, err) }

// Runs is what a Worker needs of runs; batchrun.Store is one.
type Runs interface {
	Take(ctx context.Context, r batchrun.Run, key, owner string, until time.Time) (batchrun.Batch, error)
	Leave(ctx context.Context, b batchrun.Batch, c batchrun.Counts) error
	Renew(ctx context.Context, r batchrun.Run) error
}

// Items is what a Worker needs of items; batchrun.Items is one.
type Items interface {
	Load(ctx context.Context, set string, ids []string) (map[string]batchrun.Item, error)
	Claim(ctx context.Context, r batchrun.Run, seen batchrun.Item, owner string, until time.Time) (batchrun.Item, error)
	Settle(ctx context.Context, it batchrun.Item, state string) (batchrun.Item, error)
}

// Budget spaces calls; budget.Store does.
type Budget interface {
	Wait(ctx context.Context, key string, l budget.Limit, n int) error
}

// Worker works on batches.
type Worker struct {
	Runs   Runs
	Items  Items
	Work   Work
	Budget Budget // of the outside calls, shared by all workers; nil where Work brings its own or calls nobody
	Key    string // of the budget
	Limit  budget.Limit
	Now    func() time.Time
}

func (w Worker) now() time.Time {
	if w.Now != nil {
		return w.Now()
	}
	return time.Now()
}

// leaving is the time that a call keeps for counting its rows.
const leaving = 15 * time.Second

// Batch works on the ids of a batch for as long as ctx allows and gives what the
// rows say then. Counts.Missing is what is left, for another call. Errors:
// batchrun.ErrBusy, when another worker has the batch; fault.Conceded, when the
// run has ended or lost its lease.
func (w Worker) Batch(ctx context.Context, r batchrun.Run, version, key string, ids []string) (batchrun.Counts, error) {
	until, ok := ctx.Deadline()
	if !ok {
		return batchrun.Counts{}, fault.New(fault.Permanent, "batch %s: a worker needs a deadline", key)
	}
	me := rand.Text()
	taken := w.now()
	b, err := w.Runs.Take(ctx, r, key, me, taken.Add(batchrun.WorkerLease))
	if err != nil {
		return batchrun.Counts{}, err
	}
	if b.State == batchrun.Ended {
		return b.Counts, nil
	}
	set := batchrun.SetOf(r.Effect, version)
	items, err := w.Items.Load(ctx, set, ids)
	if err != nil {
		return batchrun.Counts{}, err
	}
	started := batchrun.Tally(ids, items, r.ID)
	slog.InfoContext(ctx, "batch begun", "run", r.ID, "batch", key, "resumed_from", started.Expected-started.Missing, "missing", started.Missing)
	renewed := taken
	for _, id := range ids {
		if items[id].Final() {
			continue
		}
		now := w.now()
		if until.Sub(now) < names.ItemTime+leaving {
			break
		}
		if now.Sub(renewed) > names.RunLease/6 {
			if err := w.Runs.Renew(ctx, r); err != nil {
				return batchrun.Counts{}, err
			}
			renewed = now
		}
		if now.Sub(taken) > batchrun.TakeAgain {
			if b, err = w.Runs.Take(ctx, r, key, me, now.Add(batchrun.WorkerLease)); err != nil {
				return batchrun.Counts{}, err
			}
			taken = now
		}
		seen := items[id]
		seen.Set, seen.ID = set, id
		it, err := w.item(ctx, r, seen, version, me)
		if err != nil {
			return batchrun.Counts{}, fmt.Errorf("item %s: %w", id, err)
		}
		items[id] = it
	}
	c := batchrun.Tally(ids, items, r.ID)
	if c.Missing == 0 { // what is reported is what the rows say, not what was seen on the way
		if items, err = w.Items.Load(ctx, set, ids); err != nil {
			return batchrun.Counts{}, err
		}
		c = batchrun.Tally(ids, items, r.ID)
	}
	return c, w.Runs.Leave(ctx, b, c)
}

// item claims and makes one item. It returns the row as it stands.
func (w Worker) item(ctx context.Context, r batchrun.Run, seen batchrun.Item, version, me string) (batchrun.Item, error) {
	for range 3 { // each turn somebody else changed the row
		now := w.now()
		if seen.Final() || seen.State == batchrun.Claimed && !seen.Ran(now) {
			return seen, nil // settled, or at work elsewhere: a later call looks again
		}
		if seen.Ran(now) && seen.Takeovers >= batchrun.ItemTakeovers {
			metric.Count(ctx, metric.EffectUnknown, 1, "run", r.ID, "analysis_id", seen.ID)
			return w.Items.Settle(ctx, seen, batchrun.Unknown)
		}
		it, err := w.Items.Claim(ctx, r, seen, me, now.Add(names.ItemTime))
		if errors.Is(err, batchrun.ErrTaken) {
			set, id := seen.Set, seen.ID
			seen = it
			seen.Set, seen.ID = set, id
			continue
		}
		if err != nil {
			return seen, err
		}
		if it.Takeovers > seen.Takeovers {
			slog.WarnContext(ctx, "outcome unknown, made again", "run", r.ID, "analysis_id", it.ID, "claimed_by", seen.By)
		}
		return w.make(ctx, it, version)
	}
	return seen, nil
}

// make makes a claimed item and records what came of it.
func (w Worker) make(ctx context.Context, it batchrun.Item, version string) (batchrun.Item, error) {
	call, cancel := context.WithTimeout(ctx, names.ItemTime-5*time.Second)
	defer cancel()
	made, err := w.call(call, it.ID, version)
	state := batchrun.Done
	switch {
	case err == nil:
		it.Key, it.Hash = made.Key, made.Hash
	case errors.Is(err, ErrNotSent):
		slog.WarnContext(ctx, "not sent", "analysis_id", it.ID, "detail", err.Error())
		state = batchrun.Free
	case final(err):
		state, it.Detail = batchrun.Failed, clip(err.Error())
	default: // the claim runs out: it may have happened
		slog.WarnContext(ctx, "outcome unknown", "analysis_id", it.ID, "detail", err.Error())
		return it, nil
	}
	row, err := w.Items.Settle(ctx, it, state)
	if errors.Is(err, batchrun.ErrTaken) {
		return row, nil // our claim ran out meanwhile; what stands is the answer
	}
	return row, err
}

func (w Worker) call(ctx context.Context, id, version string) (Made, error) {
	if w.Budget != nil {
		if err := w.Budget.Wait(ctx, w.Key, w.Limit, 1); err != nil {
			return Made{}, NotSent(err)
		}
	}
	return w.Work.Do(ctx, id, version)
}

// final reports whether err is one that is named as such; an error without a
// name may be a lost answer.
func final(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && (f.Name == fault.Permanent || f.Name == fault.ModelNoAnswer || f.Name == fault.OutcomeUnknown)
}

// clip bounds what a row says of a failure.
func clip(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
