// Package erase carries out the deletions that athletes ask for, and enforces
// the retention of what nobody asked to delete. It is started by the erasures
// table's stream and, as a sweep, by a schedule.
//
// Every step removes what is there, so that doing it again finds less and an
// interrupted deletion goes on from the beginning. It stops when its time runs
// out, and is done when a pass finds nothing, no sooner than names.ErasureSettle
// after the request and after the last end that it wrote: until then a function or
// worker that was at work on an analysis may still write, and an upload form may
// still be good.
package erase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
)

// Deps is what the function works with.
type Deps struct {
	Erasures   erasure.Store
	Life       analysis.Store
	Ends       outcome.Store
	Ledger     credit.Store
	People     athlete.Store
	Rows       Rows
	Objects    Objects
	Scan       analysis.Scanner
	Steps      analysis.Stopper
	MachineARN string
	Now        func() time.Time
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

// Out is the function's answer.
type Out struct {
	Finished int `json:"finished"` // erasures
	Open     int `json:"open"`     // erasures that go on later
	Swept    int `json:"swept"`    // analyses past their retention
}

// reserve is the time that is left for the last writes and the answer.
const reserve = 10 * time.Second

// errTime says that the rest is for the next invocation.
var errTime = errors.New("erase: out of time")

// New makes the function. An invocation by the stream works on what is open like
// one by the schedule: the event only says that there is something. Only the
// schedule's sweeps for retention.
func New(d Deps) lambda.Handler {
	return handler.New(names.FnErase, func(ctx context.Context, in json.RawMessage) (Out, error) {
		var ev events.DynamoDBEvent
		stream := json.Unmarshal(in, &ev) == nil && len(ev.Records) > 0
		if stream && !asks(ev) {
			return Out{}, nil
		}
		out, err := d.erasures(ctx)
		if err == nil && !stream {
			out.Swept, err = d.sweep(ctx)
		}
		if errors.Is(err, errTime) {
			err = nil
		}
		return out, err
	})
}

// asks reports whether an event tells of a new request; our own counts are no news.
func asks(ev events.DynamoDBEvent) bool {
	for _, r := range ev.Records {
		if r.EventName == string(events.DynamoDBOperationTypeInsert) {
			return true
		}
	}
	return false
}

// erasures works on every open erasure. One that fails does not stop the others.
func (d Deps) erasures(ctx context.Context) (Out, error) {
	var out Out
	open, err := d.Erasures.ListOpen(ctx)
	if err != nil {
		return out, err
	}
	var failed []error
	for _, e := range open {
		done, err := d.erase(ctx, e)
		switch {
		case errors.Is(err, errTime):
			out.Open++
			return out, errors.Join(append(failed, err)...)
		case err != nil:
			failed = append(failed, fmt.Errorf("erasure %s: %w", e.ID, err))
			out.Open++
		case done:
			out.Finished++
		default:
			out.Open++
		}
	}
	return out, errors.Join(failed...)
}

// erase makes one pass over an athlete; done is true when the proof is written.
func (d Deps) erase(ctx context.Context, listed erasure.Erasure) (done bool, err error) {
	e, err := d.Erasures.Get(ctx, listed.ID) // the index lags behind
	if err != nil || e.State != erasure.Open {
		return e.State == erasure.Done, err
	}
	listing, err := d.endAll(ctx, e)
	if err != nil {
		return false, err
	}
	if e, err = d.Erasures.Get(ctx, e.ID); err != nil {
		return false, err
	}
	found, err := d.purgeAll(ctx, e)
	if err != nil {
		return false, err
	}
	entries, err := d.Ledger.Pseudonymise(ctx, e.AthleteID, e.Pseudonym)
	if err := errors.Join(d.Erasures.Count(ctx, e.ID, erasure.Removed{Entries: entries}), err); err != nil {
		return false, err
	}
	if err := errors.Join(d.People.Forget(ctx, e.AthleteID), d.Ledger.DropEmpty(ctx, e.AthleteID)); err != nil {
		return false, err
	}
	if listing > 0 || found+entries > 0 || !e.Settled(d.now()) {
		return false, nil
	}
	if err := d.Erasures.Finish(ctx, e.ID); err != nil {
		return false, err
	}
	slog.InfoContext(ctx, "athlete erased", "erasure", e.ID)
	return true, nil
}

// purgeAll removes what the remembered analyses left, and returns how much that
// was. Once nobody can be at work on one any more, what guards its paid calls
// goes too, and one of which nothing is found is looked at no more: so a deletion
// comes to its end however few analyses a pass gets through.
func (d Deps) purgeAll(ctx context.Context, e erasure.Erasure) (found int64, err error) {
	held := e.Held()
	n, err := d.Rows.items(ctx, held)
	if err := errors.Join(d.Erasures.Count(ctx, e.ID, erasure.Removed{Rows: n}), err); err != nil {
		return n, err
	}
	found = n
	settled := e.Settled(d.now())
	for _, h := range held {
		r, err := d.purge(ctx, h, e.Pseudonym, settled)
		if err := errors.Join(d.Erasures.Count(ctx, e.ID, r), err); err != nil {
			return found, err
		}
		if settled && r.IsZero() {
			if err := d.Erasures.Clear(ctx, e, h); err != nil {
				return found, err
			}
		}
		found += r.Analyses + r.Objects + r.Rows
	}
	return found, nil
}

// endAll ends whatever of the athlete's is open and notes every analysis. It
// returns how many the index showed.
func (d Deps) endAll(ctx context.Context, e erasure.Erasure) (n int, err error) {
	var from analysis.Cursor
	for {
		page, err := d.Life.ByAthlete(ctx, e.AthleteID, from, 50)
		if err != nil {
			return n, err
		}
		for _, row := range page.Rows {
			if err := enough(ctx); err != nil {
				return n, err
			}
			ended, err := d.end(ctx, row.AnalysisID)
			if err == nil {
				err = d.Erasures.Remember(ctx, e.ID, erasure.Held{ID: row.AnalysisID, Day: ended.Day()}, ended.EndedAt)
			}
			if err != nil {
				return n, err
			}
			n++
		}
		if from = page.Next; from == (analysis.Cursor{}) {
			return n, nil
		}
	}
}

// enough reports errTime when too little time is left to begin something.
func enough(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return errTime
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < reserve {
		return errTime
	}
	return nil
}
