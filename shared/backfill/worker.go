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
	// Do makes the item that is ordered. Errors: NotSent or Later, when nothing was
	// done that must not be done again, and it may be asked again; a fault.Permanent,
	// which is recorded and never tried again; fault.Conceded, when the run has
	// ended or lost its lease; anything else leaves the outcome unknown.
	Do(ctx context.Context, o Order) (Made, error)
}

// Order is what a Work makes: one analysis's item in a version. What it writes is
// conditional on the run (batchrun.Store.Guards).
type Order struct {
	AnalysisID string
	Version    string
	Run        batchrun.Run
	Notice     bool   // the athlete is told
	Changed    string // what the operator says of it to the reader; may be empty
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

// waits is an error before which nothing was done, with the time from which it is
// worth while to ask again.
type waits struct {
	err   error
	until time.Time
}

func (w *waits) Error() string   { return w.err.Error() }
func (w *waits) Unwrap() []error { return []error{ErrNotSent, w.err} }

// Later marks err as NotSent does, and says from when on to ask again.
func Later(until time.Time, err error) error { return &waits{err, until} }

// Runs is what a Worker needs of runs; batchrun.Store is one.
type Runs interface {
	Take(ctx context.Context, r batchrun.Run, key, owner string, until time.Time) (batchrun.Batch, error)
	Leave(ctx context.Context, b batchrun.Batch, c batchrun.Counts) error
	Moved(ctx context.Context, r batchrun.Run) error
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
	// Takeovers is how often an item whose claim ran out is made again: 0 for
	// batchrun.ItemTakeovers. A Work whose every step is guarded by a key of its own
	// may have more, since to do it again is harmless.
	Takeovers int
	Now       func() time.Time
}

func (w Worker) takeovers() int {
	if w.Takeovers != 0 {
		return w.Takeovers
	}
	return batchrun.ItemTakeovers
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
// rows say then. all is what every item's order has in common. Counts.Missing is
// what is left, for another call. Errors: batchrun.ErrBusy, when another worker has
// the batch; fault.Conceded, when the run has ended or lost its lease.
func (w Worker) Batch(ctx context.Context, all Order, key string, ids []string) (batchrun.Counts, error) {
	r := all.Run
	until, ok := ctx.Deadline()
	if !ok {
		return batchrun.Counts{}, fault.New(fault.Permanent, "batch %s: a worker needs a deadline", key)
	}
	me := rand.Text()
	taken := w.now()
	b, err := w.Runs.Take(ctx, r, key, me, taken.Add(batchrun.WorkerLease(r.Effect)))
	if err != nil {
		return batchrun.Counts{}, err
	}
	if b.State == batchrun.Ended {
		return b.Counts, nil
	}
	set := batchrun.SetOf(r.Effect, all.Version)
	items, err := w.Items.Load(ctx, set, ids)
	if err != nil {
		return batchrun.Counts{}, err
	}
	started := batchrun.Tally(ids, items, r.ID)
	slog.InfoContext(ctx, "batch begun", "run", r.ID, "batch", key, "resumed_from", started.Expected-started.Missing, "missing", started.Missing)
	var moved time.Time // when the run's progress was written last, by this call
	for _, id := range ids {
		if items[id].Final() {
			continue
		}
		now := w.now()
		if until.Sub(now) < names.ItemTimeOf(r.Effect)+leaving {
			break
		}
		if now.Sub(taken) > batchrun.TakeAgain {
			if b, err = w.Runs.Take(ctx, r, key, me, now.Add(batchrun.WorkerLease(r.Effect))); err != nil {
				return batchrun.Counts{}, err
			}
			taken = now
		}
		seen := items[id]
		seen.Set, seen.ID = set, id
		it, err := w.item(ctx, all, seen, me)
		if err != nil {
			return batchrun.Counts{}, fmt.Errorf("item %s: %w", id, err)
		}
		items[id] = it
		if it.Final() && now.Sub(moved) > batchrun.TakeAgain {
			if err := w.Runs.Moved(ctx, r); err != nil {
				return batchrun.Counts{}, err
			}
			moved = now
		}
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
func (w Worker) item(ctx context.Context, all Order, seen batchrun.Item, me string) (batchrun.Item, error) {
	for range 3 { // each turn somebody else changed the row
		now := w.now()
		if seen.Final() || seen.Waits(now) || seen.State == batchrun.Claimed && !seen.Ran(now) {
			return seen, nil // settled, or at work elsewhere: a later call looks again
		}
		if seen.Ran(now) && seen.Takeovers >= w.takeovers() {
			metric.Count(ctx, metric.EffectUnknown, 1, "run", all.Run.ID, "analysis_id", seen.ID)
			return w.Items.Settle(ctx, seen, batchrun.Unknown)
		}
		it, err := w.Items.Claim(ctx, all.Run, seen, me, now.Add(names.ItemTimeOf(all.Run.Effect)))
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
			slog.WarnContext(ctx, "outcome unknown, made again", "run", all.Run.ID, "analysis_id", it.ID, "claimed_by", seen.By)
		}
		return w.make(ctx, it, all)
	}
	return seen, nil
}

// make makes a claimed item and records what came of it.
func (w Worker) make(ctx context.Context, it batchrun.Item, all Order) (batchrun.Item, error) {
	call, cancel := context.WithTimeout(ctx, names.ItemTimeOf(all.Run.Effect)-5*time.Second)
	defer cancel()
	all.AnalysisID = it.ID
	made, err := w.call(call, all)
	state := batchrun.Done
	var late *waits
	switch {
	case err == nil:
		it.Key, it.Hash = made.Key, made.Hash
	case fault.NameOf(err) == fault.Conceded: // refused by a condition: it was not done, and no other item will be
		it.Until = time.Time{}
		_, lost := w.Items.Settle(ctx, it, batchrun.Free)
		return it, errors.Join(err, ignore(lost, batchrun.ErrTaken))
	case errors.Is(err, ErrNotSent):
		slog.WarnContext(ctx, "not sent", "analysis_id", it.ID, "detail", err.Error())
		state, it.Until = batchrun.Free, time.Time{}
		if errors.As(err, &late) {
			it.Until = late.until
		}
	case Decided(err):
		state, it.Detail = batchrun.Failed, batchrun.Detail(err)
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

func ignore(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

func (w Worker) call(ctx context.Context, o Order) (Made, error) {
	if w.Budget != nil {
		if err := w.Budget.Wait(ctx, w.Key, w.Limit, 1); err != nil {
			return Made{}, NotSent(err)
		}
	}
	return w.Work.Do(ctx, o)
}

// Decided reports whether err is an answer that stands, however often the same is
// asked again; an error without a name may be a lost answer.
func Decided(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && (f.Name == fault.Permanent || f.Name == fault.ModelNoAnswer || f.Name == fault.OutcomeUnknown)
}
