package dispatch_test

import (
	"testing"
	"time"

	"fastbowlinglab/functions/internal/dispatch"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

func TestWaits(t *testing.T) {
	var total time.Duration
	for round := range statemachine.Loops {
		d := dispatch.Wait(round, 0)
		if round > 0 && d < dispatch.Wait(round-1, 0) {
			t.Errorf("round %d waits %s, less than the one before", round, d)
		}
		if total += d; round == 9 && total > names.WakeTime {
			t.Errorf("ten rounds take %s: a worker that has started waits too long for its job", total)
		}
	}
	t.Logf("%d rounds last %s", statemachine.Loops, total)
	if total < 6*time.Hour || total > names.QueuedDeadline {
		t.Errorf("%d rounds last %s", statemachine.Loops, total)
	}
	if d := dispatch.Wait(0, time.Minute); d != time.Minute {
		t.Errorf("at least a minute: %s", d)
	}
}

// Runs that began together do not ask together for ever.
func TestWaitsAreSpread(t *testing.T) {
	const runs, rounds = 100, 8
	now, seconds := time.Now(), map[int64]int{}
	for range runs {
		at := now
		for round := range rounds {
			until, err := time.Parse(time.RFC3339, dispatch.Waiting(at, round, 0).Until)
			if err != nil {
				t.Fatal(err)
			}
			if d := until.Sub(at); d < dispatch.Wait(round, 0)-time.Millisecond || d > dispatch.Wait(round, 0)*5/4 {
				t.Fatalf("round %d waits %s, want %s and a quarter at most", round, d, dispatch.Wait(round, 0))
			}
			at = until
		}
		seconds[at.Unix()]++
	}
	for s, n := range seconds {
		if n > runs/2 {
			t.Errorf("after %d rounds %d of %d runs ask in second %d", rounds, n, runs, s-now.Unix())
		}
	}
}
