package poseworker

import (
	"context"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/posejob"
)

// The row shows pictures that were decoded, long before a chunk is saved, and
// no more often than the period of showing allows.
func TestProgressIsShownBetweenCheckpoints(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	goOn, pictures := make(chan struct{}), 0
	s := &sight{chunks: 2, frames: 200}
	s.before = func(ctx context.Context, chunk int) error {
		for chunk == 0 {
			select {
			case <-goOn:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
				if pictures++; pictures <= 150 {
					s.pulse(ctx)
				}
			}
		}
		return nil
	}
	d := depsFor(w, w.DB, s)
	d.Timers.Keeper, d.Timers.Show = time.Minute, 20*time.Millisecond // no renewal shows it
	d.Jobs.Lease, d.Keeper.Jobs.Lease = 3*time.Minute, 3*time.Minute
	start(t, d)
	posetest.Eventually(t, time.Minute, "half of the pass shown without a checkpoint", func() bool {
		j := w.Job()
		return j.Progress.Fraction > 0.5 && len(j.Checkpoints) == 0
	})
	if f := w.Job().Progress.Fraction; f >= 0.97 {
		t.Errorf("%.2f of the pass shown before its first checkpoint", f)
	}
	close(goOn)
	posetest.Eventually(t, time.Minute, "the end", func() bool { return w.Job().State.Ended() })
}

// The bar does not stand still while key frames are read: each one moves it.
func TestProgressMovesWithEachKeyFrame(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	second := newGate()
	s := &sight{chunks: 1, stillOf: func(at float64) error {
		if at > 0.6 { // the later one of two
			return second.wait(t.Context())
		}
		return nil
	}}
	d := depsFor(w, w.DB, s)
	d.Timers.Show = 20 * time.Millisecond
	start(t, d)
	<-second.at
	waitFor(t, "the first key frame to be shown", func() bool {
		p := w.Job().Progress
		return p.Fraction > tracking && p.Fraction < 1 && strings.Contains(p.Stage, "key frame 1 of 2")
	})
	close(second.open)
	waitState(t, w, posejob.Done)
}
