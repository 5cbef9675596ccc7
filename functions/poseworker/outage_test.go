package poseworker

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// However many workers are up, a database that is away for hours carries no job to
// the dead-letter queue.
func TestAnOutageIsOutlasted(t *testing.T) {
	var total time.Duration
	for n := 1; n <= names.PoseQueue.MaxReceiveCount; n++ {
		if again(n) < again(n-1) {
			t.Errorf("receive %d waits %s, less than the one before", n, again(n))
		}
		total += again(n)
	}
	t.Logf("%d receives last %s", names.PoseQueue.MaxReceiveCount, total)
	if total < 6*time.Hour || again(1) > 15*time.Second {
		t.Errorf("%d receives last %s, the first wait is %s", names.PoseQueue.MaxReceiveCount, total, again(1))
	}
}

// What cannot be claimed, or whose answers nobody takes, waits longer from receive to
// receive.
func TestMessagesWaitOutAnOutage(t *testing.T) {
	const receives = 20
	hidden := func(t *testing.T, w *posetest.World, d Deps) {
		t.Helper()
		r, err := New(d)
		if err != nil {
			t.Fatal(err)
		}
		w.Queue.Show()
		msgs, err := r.poll(t.Context())
		if err != nil || len(msgs) != 1 {
			t.Fatalf("%d messages, %v", len(msgs), err)
		}
		msgs[0].receives = receives
		r.handle(msgs[0])
		if got, _ := w.Queue.Hidden(msgs[0].id); got > again(receives) || got < again(receives)-time.Minute {
			t.Errorf("hidden for %s, want %s", got, again(receives))
		}
	}
	t.Run("NoClaim", func(t *testing.T) {
		w := posetest.New(t, 1)
		w.Dispatch(w.Run)
		var l leash
		l.cut.Store(true)
		hidden(t, w, depsFor(w, l.client(w), &sight{chunks: 1}))
	})
	t.Run("NoAnswer", func(t *testing.T) {
		w := posetest.New(t, 1)
		w.Dispatch(w.Run)
		d := depsFor(w, w.DB, &sight{chunks: 1})
		job, err := w.Jobs.Claim(t.Context(), w.Run.AnalysisID, posejob.Claimant{Name: "another", Engine: "engine 1", Model: "full"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Jobs.Complete(t.Context(), job.Lease(), names.VerdictOut{Verdict: names.VerdictReject, Reason: "no_person"}); err != nil {
			t.Fatal(err)
		}
		w.Tokens.Fail(func(string) error { return errors.New("away") })
		hidden(t, w, d)
	})
}

// The message of a job that runs, whose owner cannot hide it any more, outlasts the longest
// pass; and it is back before the run has to give its owner up.
func TestAHeldMessageOutlastsThePass(t *testing.T) {
	var total time.Duration
	for n := 1; n <= names.PoseQueue.MaxReceiveCount; n++ {
		total += min(again(n), mostHeld)
	}
	if total < names.PoseTimeout || mostHeld > names.PoseHeartbeat-names.KeeperPeriod {
		t.Errorf("%d receives last %s; one waits %s", names.PoseQueue.MaxReceiveCount, total, mostHeld)
	}
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	d := depsFor(w, w.DB, &sight{chunks: 1})
	if _, err := w.Jobs.Claim(t.Context(), w.Run.AnalysisID, posejob.Claimant{Name: "another", Engine: "e", Model: "m", Message: "m1"}); err != nil {
		t.Fatal(err)
	}
	r, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		receives    int
		least, most time.Duration
	}{{1, names.LeaseDuration - 10*time.Second, names.LeaseDuration + names.ClockSkew + 2*time.Second}, {30, mostHeld - 10*time.Second, mostHeld}} {
		w.Queue.Show()
		msgs, err := r.poll(t.Context())
		if err != nil || len(msgs) != 1 || msgs[0].id != "m1" {
			t.Fatalf("%+v, %v", msgs, err)
		}
		msgs[0].receives = c.receives
		r.handle(msgs[0])
		if got, _ := w.Queue.Hidden("m1"); got < c.least || got > c.most {
			t.Errorf("receive %d: hidden for %s, want %s to %s", c.receives, got, c.least, c.most)
		}
	}
}

// Storage is away for a moment, whatever the pass is at: no try of the job is lost, and
// no chunk is computed again.
func TestStorageThatComesBackCostsNoDeath(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails func(op, key string) bool
	}{
		{"Clip", nil}, // its reading breaks off
		{"Chunk", func(op, key string) bool { return op == "PutObject" && strings.Contains(key, "chunk-0-00001") }},
		{"Picture", func(op, key string) bool { return op == "PutObject" && strings.Contains(key, "frame-0") }},
		{"Result", func(op, key string) bool { return op == "PutObject" && strings.HasSuffix(key, "result.json") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := posetest.New(t, 1)
			w.Dispatch(w.Run)
			var tries atomic.Int32
			s := &sight{chunks: 3, frames: names.MaxFrames * 2 / 3} // twice as many would be too many
			if c.fails == nil {
				s.before = at(1, func(context.Context) error {
					if tries.Add(1) < names.PoseTries {
						return fault.New(fault.Transient, "storage answered 503")
					}
					return nil
				})
			} else {
				w.Objects.Fail(func(op, key string) error {
					if c.fails(op, key) && tries.Add(1) <= 2 {
						return context.DeadlineExceeded
					}
					return nil
				})
			}
			d := depsFor(w, w.DB, s)
			d.Retry.Tries = 1
			start(t, d)
			job := waitState(t, w, posejob.Done)
			if _, total := s.most(); job.Fence != 1 || job.Deaths != 0 || total > 3 {
				t.Errorf("computed %v; job %+v", s.computed, job)
			}
			if r := result(t, w, job); r.Clips[0].Refused != "" {
				t.Errorf("a clip that was read again is refused: %s", r.Clips[0].Refused)
			}
			if tries.Load() < 3 {
				t.Errorf("%d tries: storage was never away", tries.Load())
			}
		})
	}
}

// A service that stays away, and what is nobody's absence, end the try.
func TestPatienceEnds(t *testing.T) {
	for _, c := range []struct {
		err   error
		tries int32
	}{{fault.New(fault.Transient, "storage answered 503"), names.PoseTries}, {errors.New("the model failed"), 1}} {
		w := posetest.New(t, 1)
		w.Dispatch(w.Run)
		var tries atomic.Int32
		s := &sight{chunks: 3, before: at(1, func(context.Context) error { tries.Add(1); return c.err })}
		start(t, depsFor(w, w.DB, s))
		waitFor(t, "a failed try", func() bool { return w.Job().Deaths == 1 })
		// The first try of all has saved a chunk, so that the count begins behind it.
		if n := tries.Load(); n != c.tries {
			t.Errorf("%v: %d tries, want %d", c.err, n, c.tries)
		}
	}
}
