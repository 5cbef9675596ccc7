package stepfn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// busy refuses the first calls of a function as a busy account does, lets the next ones
// fail, and then hands on.
func busy(refused, failed int, next func(context.Context, map[string]any) (any, error)) func(context.Context, map[string]any) (any, error) {
	calls := 0
	return func(ctx context.Context, in map[string]any) (any, error) {
		switch calls++; {
		case calls <= refused:
			return throttled(ctx, in)
		case calls <= refused+failed:
			return fails("Transient")(ctx, in)
		}
		return next(ctx, in)
	}
}

// TestAnalysisRefused: every stage of the real definition is refused as often as it
// bears, and fails four times after that: the two retriers count for themselves.
func TestAnalysisRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, nil)
		stages := []string{names.FnBegin, names.FnWake, names.FnPrecheck, names.FnQueueJob, names.FnAwaitPose,
			names.FnFindings, names.FnCoaching, names.FnRender, names.FnDeliver}
		for _, fn := range stages {
			f.s.fns[names.Prefix+fn] = busy(statemachine.RefusedAttempts, statemachine.Attempts, f.s.fns[names.Prefix+fn])
		}
		d := finish(t, f.e, f.start())
		if d.Status != Succeeded {
			t.Fatalf("%s %s %s", d.Status, d.Error, d.Cause)
		}
		for _, fn := range stages {
			if n := f.s.count(names.Prefix + fn); n != 1+statemachine.RefusedAttempts+statemachine.Attempts {
				t.Errorf("%s was called %d times", fn, n)
			}
		}
		mean, most := statemachine.RefusedWait()
		took, n := d.StopDate.Sub(d.StartDate.Time), time.Duration(len(stages))
		t.Logf("%d stages, each refused %d times: %s; %s in the mean, %s at most", n, statemachine.RefusedAttempts, took.Truncate(time.Second), n*mean, n*most)
		if took < n*mean/2 || took > n*(most+time.Minute) {
			t.Errorf("it took %s; %d stages wait %s each in the mean, %s at most", took, n, mean, most)
		}
	})
}

// TestAnalysisRefusedForGood: a stage that is refused once more than it bears is settled,
// and its settle holds out by itself.
func TestAnalysisRefusedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, fnMap{names.FnRender: throttled})
		settle := names.Prefix + names.FnSettle
		f.s.fns[settle] = busy(statemachine.RefusedAttempts, statemachine.Attempts, f.s.fns[settle])
		d := finish(t, f.e, f.start())
		if got := visits(history(t, f.e, d.ExecutionARN)); d.Status != Failed || d.Error != "Lambda.TooManyRequestsException" || got != toText+" Render Settle Settled Failed" {
			t.Errorf("%s %s by %s", d.Status, d.Error, got)
		}
		if n := f.s.count(names.Prefix + names.FnRender); n != 1+statemachine.RefusedAttempts {
			t.Errorf("render was called %d times", n)
		}
	})
}
