package poseworker

import (
	"errors"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
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
