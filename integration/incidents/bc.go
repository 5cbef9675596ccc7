package incidents

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/lease"
)

// B plays incident B: a driver hands a batch of 1,000 to a worker and is killed;
// the worker lives on. The driver is started again, and hands the same batch to a
// second worker. With the guards on the second is refused, and works on another
// batch instead, so that the budget has two to bound. The first driver's client
// gave up on its worker after a minute, long before the worker was done.
func B(t *testing.T, guards bool) Row {
	row := Row{Incident: "B", Guards: word(guards)}
	virtual.Run(t, virtual.Options{NoFleet: true}, func(c *virtual.Cloud) {
		s, src := newStore(c), &source{}
		ctx := virtual.As(context.Background(), "test")
		write := idempotent
		if guards {
			write = guarded
		}
		first := &work{batch: "b1", items: 1000, guards: guards, look: true, pace: pace, worker: "worker-1"}
		second := &work{batch: "b1", items: 1000, guards: guards, look: true, pace: pace, worker: "worker-2"}
		var all sync.WaitGroup
		all.Go(func() { report(t, first.run(virtual.As(context.Background(), "worker-1"), s, src, write)) })
		wait(time.Minute) // the client's read timeout: it sees a batch that is 1,000 short
		seen := 1000 - first.fetched
		all.Go(func() {
			ctx := virtual.As(context.Background(), "worker-2")
			err := second.run(ctx, s, src, write)
			var held *lease.Held
			if errors.As(err, &held) { // the preflight says who
				second.batch = "b2"
				row.Note = fmt.Sprintf("second driver refused: %s holds the batch (fence %d); ", held.Owner, held.Fence)
				err = second.run(ctx, s, src, write)
			}
			report(t, err)
		})
		all.Wait()
		n, err := s.rows(ctx, "b1")
		report(t, err)
		row.PeakPerS, row.Rows = src.peak(), n
		row.Note += fmt.Sprintf("%d fetched + %d there, against %d + %d; %d missing as the client counts, %d by the rows",
			first.fetched, first.already, second.fetched, second.already, seen, 1000-n)
	})
	return row
}

// C plays incident C: a run over 200 items is reclaimed at item 118 and started
// again; then once more, by two workers at once, and once more with its
// checkpoints deleted.
func C(t *testing.T, guards bool) Row {
	row := Row{Incident: "C", Guards: word(guards)}
	virtual.Run(t, virtual.Options{NoFleet: true}, func(c *virtual.Cloud) {
		s, src := newStore(c), &source{}
		ctx := virtual.As(context.Background(), "test")
		write := appended
		if guards {
			write = guarded
		}
		run := func(name string, killAt int) {
			w := &work{batch: "c", items: 200, guards: guards, pace: pace, worker: name, killAt: killAt}
			err := w.run(virtual.As(context.Background(), name), s, src, write)
			var held *lease.Held
			if err != nil && !errors.Is(err, virtual.ErrDead) && !errors.As(err, &held) {
				t.Errorf("%s: %v", name, err)
			}
		}
		run("run-1", 118)
		wait(2 * leaseTime) // longer than the lease of the dead
		var both sync.WaitGroup
		both.Go(func() { run("run-2", 0) })
		if guards { // without them the incident needs no second worker
			both.Go(func() { run("run-2b", 0) })
		}
		both.Wait()
		n, err := s.rows(ctx, "c")
		report(t, err)
		row.Note = fmt.Sprintf("killed at item 118, run again: %d rows", n)
		if guards {
			run("run-3", 0)
			report(t, s.forget(ctx, "c"))
			run("run-4", 0)
			n, err = s.rows(ctx, "c")
			report(t, err)
			row.Note += fmt.Sprintf("; two workers, a third run, checkpoints deleted: %d rows", n)
		} else {
			row.Note += ", and the worker says ok"
		}
		row.Rows, row.PeakPerS = n, src.peak()
	})
	return row
}

func report(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}
