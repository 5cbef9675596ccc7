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
