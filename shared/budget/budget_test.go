package budget_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
)

func store(db budget.DB, now time.Time) budget.Store {
	return budget.Store{DB: db, Table: names.Effects.Name, Now: func() time.Time { return now }}
}

var limit = budget.Limit{Rate: 10, Burst: 3}

// within asserts that no window sees more calls than the limit and the skew
// allow.
func within(t *testing.T, due []time.Time, l budget.Limit, skew time.Duration) {
	t.Helper()
	slices.SortFunc(due, time.Time.Compare)
	for i := range due {
		for j := i; j < len(due); j++ {
			w := due[j].Sub(due[i]) + 2*skew
			if most := float64(l.Burst) + l.Rate*w.Seconds() + 1e-6; float64(j-i+1) > most {
				t.Fatalf("%d calls in %s: more than %.2f", j-i+1, due[j].Sub(due[i]), most)
			}
		}
	}
}

func TestSpacing(t *testing.T) {
	db := dynamotest.New(t)
	now := time.Now().Truncate(time.Microsecond)
	for i, want := range []time.Duration{0, 0, 0, 100, 200, 300} { // a burst, then one each 100 ms
		at, err := store(db, now).Reserve(t.Context(), "k", limit, 1, time.Minute)
		if err != nil || at.Sub(now) != want*time.Millisecond {
			t.Errorf("call %d is due after %s, %v; want %d ms", i, at.Sub(now), err, want)
		}
	}
	later := now.Add(10 * time.Second) // idle: what was not used is not saved up
	for i, want := range []time.Duration{0, 200} {
		at, err := store(db, later).Reserve(t.Context(), "k", limit, 3-i, time.Minute)
		if err != nil || at.Sub(later) != want*time.Millisecond {
			t.Errorf("after a pause, call %d is due after %s, %v; want %d ms", i, at.Sub(later), err, want)
		}
	}
}

// Incident B: two workers, each at the whole rate.
func TestManyWorkersOneBudget(t *testing.T) {
	db := dynamotest.New(t)
	start := time.Now()
	for _, skew := range []time.Duration{0, 200 * time.Millisecond} {
		t.Run(skew.String(), func(t *testing.T) {
			var mu sync.Mutex
			var due []time.Time
			var wg sync.WaitGroup
			for w := range 4 {
				off := time.Duration(w%2*2-1) * skew // half of the clocks are ahead, half behind
				wg.Go(func() {
					s := store(db, start.Add(off))
					for range 20 {
						at, err := s.Reserve(t.Context(), skew.String(), limit, 1, time.Hour)
						mu.Lock()
						due = append(due, at.Add(-off)) // in true time
						mu.Unlock()
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			within(t, due, limit, skew)
			if span := slices.MaxFunc(due, time.Time.Compare).Sub(start); span > 9*time.Second {
				t.Errorf("80 calls at 10 a second took %s: the budget is not used", span)
			}
		})
	}
}

// most counts the calls in the busiest second, its ends included.
func most(due []time.Time) int {
	slices.SortFunc(due, time.Time.Compare)
	most, from := 0, 0
	for i := range due {
		for due[i].Sub(due[from]) > time.Second {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// An outside limit of 10 in any second, our budget 9/s with burst 1: the bound on
// clocks, from both sides. The worst case: nine calls by one clock, and the next
// two by another that is ahead.
func TestSkewAtItsEdge(t *testing.T) {
	l := budget.Limit{Rate: 9, Burst: 1}
	bound := l.MaxSkew(10, time.Second)
	if bound != 111120*time.Microsecond { // 10 x 111.112 ms - 1 s
		t.Fatalf("bound %s", bound)
	}
	db := dynamotest.New(t)
	start := time.Now().Truncate(time.Microsecond)
	for _, c := range []struct {
		ahead time.Duration
		want  int
	}{{0, 9}, {bound - time.Microsecond, 10}, {bound, 11}} {
		var due []time.Time
		for i := range 11 {
			off := time.Duration(0)
			if i >= 9 {
				off = c.ahead
			}
			at, err := store(db, start.Add(off)).Reserve(t.Context(), c.ahead.String(), l, 1, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			due = append(due, at.Add(-off)) // in true time
		}
		if n := most(due); n != c.want {
			t.Errorf("clocks %s apart: %d calls in a second, want %d", c.ahead, n, c.want)
		}
	}
	if d := (budget.Limit{Rate: 10, Burst: 2}).MaxSkew(10, time.Second); d > 0 {
		t.Errorf("10/s with burst 2 is said to bear %s under 10 in any second", d)
	}
}

func TestExhausted(t *testing.T) {
	db := dynamotest.New(t)
	now := time.Now().Truncate(time.Microsecond)
	s := store(db, now)
	for range 5 { // due after 0, 0, 0, 100, 200 ms
		if _, err := s.Reserve(t.Context(), "k", limit, 1, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	var full *budget.Exhausted
	if _, err := s.Reserve(t.Context(), "k", limit, 1, 250*time.Millisecond); !errors.As(err, &full) || full.At.Sub(now) != 300*time.Millisecond {
		t.Errorf("%v; want exhausted until 300 ms", err)
	}
	// It took no place.
	if at, err := s.Reserve(t.Context(), "k", limit, 1, 300*time.Millisecond); err != nil || at.Sub(now) != 300*time.Millisecond {
		t.Errorf("due after %s, %v", at.Sub(now), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := (budget.Store{DB: db, Table: names.Effects.Name}).Wait(ctx, "k", limit, 1); !errors.As(err, &full) {
		t.Errorf("wait with too little time: %v, want exhausted at once", err)
	}
	for _, bad := range []budget.Limit{{Rate: 0, Burst: 1}, {Rate: 1, Burst: 0}} {
		if _, err := s.Reserve(t.Context(), "k", bad, 1, time.Minute); err == nil {
			t.Errorf("limit %+v is accepted", bad)
		}
	}
}

func TestWait(t *testing.T) {
	db := dynamotest.New(t)
	s := budget.Store{DB: db, Table: names.Effects.Name}
	fast := budget.Limit{Rate: 200, Burst: 1}
	start := time.Now()
	for range 11 {
		if err := s.Wait(t.Context(), "k", fast, 1); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took < 50*time.Millisecond {
		t.Errorf("11 calls at 200 a second took %s", took)
	}
}

// A lost answer never gives a place twice.
func TestLostAnswer(t *testing.T) {
	server := dynamotest.Start(t)
	now := time.Now()
	var due []time.Time
	for i := range 12 {
		db := server.Faulty(&dynamotest.Faults{Next: dynamotest.First(i%2, "UpdateItem", dynamotest.Lost)})
		at, err := store(db, now).Reserve(t.Context(), "k", limit, 1, time.Minute)
		if err != nil {
			t.Fatal(fmt.Errorf("call %d: %w", i, err))
		}
		due = append(due, at)
	}
	within(t, due, limit, 0)
}
