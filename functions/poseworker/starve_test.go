package poseworker

import (
	"context"
	"runtime"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/functions/poseworker/internal/busyc"
	"fastbowlinglab/shared/posejob"
)

// TestBusyPassKeepsItsLock is the measured case (field case 17): a lock of 2 s, a job that is
// busy in C for 6 s, one processor. With the keeper there is one execution and
// no failure. With renewal moved on to the busy path there are two executions,
// and the first one's work is refused.
func TestBusyPassKeepsItsLock(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 12 s")
	}
	for _, c := range []struct {
		name        string
		renewOnPass bool
		executions  int
		deaths      bool
	}{
		{"Keeper", false, 1, false},
		{"RenewalOnTheBusyPath", true, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			w := posetest.New(t, 1)
			w.Dispatch(w.Run)
			executions := make(chan string, 10)
			worker := func(name string, spin float64) *sight {
				s := &sight{chunks: 1, before: func(context.Context, int) error {
					executions <- name
					busyc.Spin(spin)
					// Its lock has run out by now. On a machine that is busy with other things it
					// goes on until the other worker has found that.
					for begun := time.Now(); c.executions > 1 && len(executions)+1 < c.executions && time.Since(begun) < time.Minute; {
						busyc.Spin(0.2)
					}
					return nil
				}}
				d := depsFor(w, w.DB, s)
				d.Passes, d.RenewOnPass = 1, c.renewOnPass
				d.Timers = Timers{Keeper: 500 * time.Millisecond, Visibility: 2 * time.Second, Poll: time.Second}
				d.Jobs.Lease, d.Keeper.Jobs.Lease = 2*time.Second, 2*time.Second
				start(t, d)
				return s
			}
			a := worker("a", 6)
			if first := <-executions; first != "a" {
				t.Fatalf("first execution by %s", first)
			}
			worker("b", 0.1)
			job := waitState(t, w, posejob.Done)
			waitFor(t, "the busy pass ended", func() bool { return a.running.Load() == 0 })
			if n := 1 + len(executions); n != c.executions || (job.Deaths > 0 || job.Fence > 1) != c.deaths {
				t.Errorf("%d executions, fence %d; want %d", n, job.Fence, c.executions)
			}
			t.Logf("lock 2 s, job 6 s in C, GOMAXPROCS=1: %d executions, fence %d", 1+len(executions), job.Fence)
		})
	}
}
