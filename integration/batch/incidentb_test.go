package batch_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	fnbackfill "fastbowlinglab/functions/backfill"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// source is an outside API that allows ten requests a second, and counts.
type source struct {
	mu      sync.Mutex
	calls   map[string]int // by version and item
	at      []time.Time
	active  map[string]int // by worker, now
	overlap int            // calls begun while another worker had one
}

func (s *source) Do(ctx context.Context, o backfill.Order) (backfill.Made, error) {
	id, version := o.AnalysisID, o.Version
	p := virtual.ProcOf(ctx)
	if p.Dead() {
		return backfill.Made{}, virtual.ErrDead // what was killed calls nobody
	}
	s.mu.Lock()
	s.calls[version+"/"+id]++
	s.at = append(s.at, time.Now())
	s.active[p.Name]++
	for other, n := range s.active {
		if other != p.Name && n > 0 {
			s.overlap++
		}
	}
	s.mu.Unlock()
	wait(ctx, 40*time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active[p.Name]--
	return backfill.Made{Key: "archive/" + version + "/" + id, Hash: "h"}, nil
}

// peak is the most calls in any closed second.
func (s *source) peak() int {
	most, from := 0, 0
	for i := range s.at {
		for s.at[i].Sub(s.at[from]) > time.Second {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

const seedB = 7

// scale says which rounds of how many items are run. Fifty rounds of a thousand
// are half an hour on a busy machine: BATCH_FULL=1, and BATCH_ROUNDS=10-20 for
// those from the tenth to before the twentieth alone.
func scale(t *testing.T) (from, to, items int) {
	from, to, items = 0, 50, 100
	if os.Getenv("BATCH_FULL") != "" {
		items = 1000
	}
	if part := os.Getenv("BATCH_ROUNDS"); part != "" {
		if _, err := fmt.Sscanf(part, "%d-%d", &from, &to); err != nil || from >= to {
			t.Fatalf("BATCH_ROUNDS=%s: want two numbers, such as 10-20", part)
		}
	}
	return from, to, items
}

// TestIncidentB kills the driver in mid-batch, with its worker alive, and starts
// it again, at a random point of each round; now and then the caller of a worker
// times out although the worker lives, or a worker dies. Guards off is what
// integration/incidents shows.
func TestIncidentB(t *testing.T) {
	from, to, items := scale(t)
	n := to - from
	src := &source{calls: map[string]int{}, active: map[string]int{}}
	opt := virtual.Options{
		Seed: seedB,
		Invocations: func(i virtual.Invocation) virtual.InvokeFault {
			if i.Function == names.FnBackfill && strings.Contains(i.ID, "/Batch/") && choose(seedB, i.ID) < 0.15 {
				return virtual.InvokeFault{Kind: virtual.InvokeTimeout, After: time.Duration(0.1 * float64(items) * choose(seedB, i.ID, "after") * float64(time.Second))}
			}
			return virtual.InvokeFault{}
		},
		Faults: func(c virtual.Call) virtual.Decision {
			if strings.Contains(c.Actor, "/Batch/") && choose(seedB, c.ID) < 0.4/float64(items) {
				if choose(seedB, c.ID, "when") < 0.7 {
					return virtual.Decision{Fault: virtual.CrashBefore} // of a recorded end: the outcome is unknown
				}
				return virtual.Decision{Fault: virtual.CrashAfter}
			}
			return virtual.Decision{}
		},
		Override: map[string]func(*virtual.Cloud) lambda.Handler{names.FnBackfill: func(c *virtual.Cloud) lambda.Handler {
			return fnbackfill.New(c.Backfill(map[string]backfill.Worker{names.EffectReport: {
				Work: src, Key: "budget#source", Limit: budget.Limit{Rate: 8, Burst: 1},
				Budget: budget.Store{DB: c.DB, Table: names.Effects.Name, Retry: c.Retry},
			}}))
		}},
	}
	killed, refused := 0, 0
	virtual.Run(t, opt, func(c *virtual.Cloud) {
		ctx, cancel := context.WithCancel(virtual.As(context.Background(), "driver"))
		defer cancel()
		for round := from; round < to; round++ {
			version := fmt.Sprintf("v%d", round)
			k, r := drive(ctx, t, c, version, items)
			killed, refused = killed+k, refused+r
			unknown := rowsEqual(ctx, t, c, src, version, items)
			if t.Failed() {
				t.Errorf("round %d, unknown %d", round, unknown)
				return
			}
		}
		t.Logf("requests %d", c.Gate.Requests)
	})
	total, twice := 0, 0
	for _, k := range src.calls {
		total += k
		if k > 1 {
			twice++
		}
	}
	t.Logf("%d rounds of %d items: %d drivers killed, %d refused; %d calls, %d items called again after an unknown outcome; peak %d in a second; %d overlaps",
		n, items, killed, refused, total, twice, src.peak(), src.overlap)
	if src.peak() > 10 {
		t.Errorf("peak of %d calls in a second, want at most 10", src.peak())
	}
	if src.overlap > 0 {
		t.Errorf("%d calls while another worker was at work on the effect", src.overlap)
	}
	if killed < n {
		t.Errorf("%d drivers killed in %d rounds", killed, n)
	}
}

// drive runs a version to its end as a driver does that is killed once and starts
// anew, and that believes nobody but the store.
func drive(ctx context.Context, t *testing.T, c *virtual.Cloud, version string, items int) (killed, refused int) {
	input := backfill.Spec{Effect: names.EffectReport, Version: version, IDs: ids(items)}
	point := time.Duration(0.11 * float64(items) * choose(seedB, version) * float64(time.Second)) // they take 0.125 s each
	for try := 0; try < 60; try++ {
		run := fmt.Sprintf("%s-%d", version, try)
		if err := c.StartBatch(ctx, statemachine.Backfill, run, input); err != nil {
			t.Error(err)
			return
		}
		if try == 0 {
			wait(ctx, point)
			stop(ctx, t, c, statemachine.Backfill, run)
			killed++
			continue
		}
		e := finished(ctx, t, c, statemachine.Backfill, run, 3*time.Hour)
		switch {
		case e.status == sfntypes.ExecutionStatusSucceeded:
			if e.rows.Expected != items || e.rows.New+e.rows.Already != items || e.rows.Missing != 0 {
				t.Errorf("%s reports %+v", run, e.rows)
			}
			return
		case e.fail == "Held":
			refused++
			if !strings.Contains(e.cause, version) {
				t.Errorf("refused by %q: want the run that has it", e.cause)
			}
			wait(ctx, 40*time.Second)
		case e.fail == "Incomplete": // an unknown outcome that stays one is told as such
			if e.status != sfntypes.ExecutionStatusFailed {
				t.Errorf("%s: %+v", run, e)
			}
			return
		default:
			t.Errorf("%s: %+v", run, e)
			return
		}
	}
	t.Errorf("%s: never got its turn", version)
	return
}

// rowsEqual holds what the source was asked against the rows.
func rowsEqual(ctx context.Context, t *testing.T, c *virtual.Cloud, src *source, version string, items int) (unknown int) {
	store := batchrun.Items{Store: c.Runs(), Bulk: c.Direct}
	rows, err := store.Load(ctx, batchrun.SetOf(names.EffectReport, version), ids(items))
	if err != nil {
		t.Error(err)
		return 0
	}
	if len(rows) != items {
		t.Errorf("%s: %d rows of %d", version, len(rows), items)
	}
	for _, id := range ids(items) {
		it, calls := rows[id], src.calls[version+"/"+id]
		unknown += it.Takeovers
		// A worker that died between its claim and its call leaves an unknown outcome
		// of a call that was never made: the rows cannot tell, and say so.
		if calls > 1+it.Takeovers || calls == 0 && it.State == batchrun.Done || !slices.Contains([]string{batchrun.Done, batchrun.Unknown}, it.State) {
			t.Errorf("%s/%s: called %d times, %d unknown outcomes, %s", version, id, calls, it.Takeovers, it.State)
		}
	}
	return unknown
}
