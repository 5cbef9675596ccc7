package poseworker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/posejob"
)

// released makes a job with so many checkpoints that its owner gave back.
func released(t *testing.T, w *posetest.World, checkpoints int) {
	t.Helper()
	w.Dispatch(w.Run)
	g := newGate()
	r := start(t, depsFor(w, w.DB, &sight{chunks: 6, before: at(checkpoints, g.wait)}))
	<-g.at
	r.term()
	<-r.done
	if n := len(w.Job().Checkpoints); n != checkpoints {
		t.Fatalf("%d checkpoints, want %d", n, checkpoints)
	}
}

func TestCheckpointsAreBelievedOnlyThroughTheRow(t *testing.T) {
	key := func(w *posetest.World, chunk int) string { return names.ChunkKey(w.Run.AnalysisID, 1, 1, 0, chunk) }
	for _, c := range []struct {
		name   string
		spoil  func(*posetest.World)
		first  int // first chunk that is computed
		redone int // chunk 4 was begun before
	}{
		{"Intact", func(*posetest.World) {}, 4, 1},
		{"OtherBytes", func(w *posetest.World) {
			body, _ := posejob.Pack(pose.Chunk{Index: 2, Frames: make([]pose.Frame, 10), State: json.RawMessage(`{"after":2}`)})
			w.Objects.Put(key(w, 2), body)
		}, 2, 3},
		{"CutShort", func(w *posetest.World) { w.Objects.Put(key(w, 3), w.Objects.All()[key(w, 3)][:20]) }, 3, 2},
		{"Missing", func(w *posetest.World) { w.Objects.Put(key(w, 0), nil) }, 0, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := posetest.New(t, 1)
			released(t, w, 4)
			c.spoil(w)
			b := &sight{chunks: 6}
			start(t, depsFor(w, w.DB, b))
			job := waitState(t, w, posejob.Done)
			if _, total := b.most(); total != 6-c.first || b.times("0/5") != 1 {
				t.Errorf("computed %v; want chunks %d to 5", b.computed, c.first)
			}
			if job.Redone != c.redone {
				t.Errorf("redone %d, want %d", job.Redone, c.redone)
			}
			if f := result(t, w, job).Clips[0].Frames; f != 60 {
				t.Errorf("%d frames", f)
			}
		})
	}
}

func TestStorageThatFailsIsNotAMissingCheckpoint(t *testing.T) {
	w := posetest.New(t, 1)
	released(t, w, 4)
	var down atomic.Bool
	down.Store(true)
	w.Objects.Fail(func(op, _ string) error {
		if op == "GetObject" && down.Load() {
			return context.DeadlineExceeded
		}
		return nil
	})
	b := &sight{chunks: 6}
	start(t, depsFor(w, w.DB, b))
	waitFor(t, "the row to say so", func() bool { return w.Job().Progress.Stage == "waiting for storage" })
	down.Store(false)
	job := redelivered(t, w, posejob.Done)
	if _, total := b.most(); total != 2 || job.Deaths != 0 {
		t.Errorf("computed %v; the checkpoints were there; job %+v", b.computed, job)
	}
}

func TestAnotherModelStartsOver(t *testing.T) {
	w := posetest.New(t, 1)
	released(t, w, 4)
	b := &sight{chunks: 6, model: "other"}
	start(t, depsFor(w, w.DB, b))
	job := waitState(t, w, posejob.Done)
	if _, total := b.most(); total != 6 || len(job.Checkpoints) != 6 {
		t.Errorf("computed %v, %d checkpoints", b.computed, len(job.Checkpoints))
	}
	if r := result(t, w, job); r.Model != "other" {
		t.Errorf("result: %+v", r)
	}
}

// All chunks saved, result not yet: nothing is computed again.
func TestResumeAfterTheLastChunk(t *testing.T) {
	w := posetest.New(t, 2)
	w.Dispatch(w.Run)
	var once atomic.Bool
	a := &sight{chunks: 3, stillOf: func(float64) error {
		if once.CompareAndSwap(false, true) {
			return errors.New("connection reset")
		}
		return nil
	}}
	start(t, depsFor(w, w.DB, a))
	waitFor(t, "a failed try", func() bool { return w.Job().Deaths == 1 })
	job := redelivered(t, w, posejob.Done)
	if most, total := a.most(); most != 1 || total != 6 || job.Redone != 0 {
		t.Errorf("computed %v, redone %d", a.computed, job.Redone)
	}
}

func TestExpiredURLIsSignedAgain(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	var once atomic.Bool
	s := &sight{chunks: 4, before: at(2, func(ctx context.Context) error {
		if once.CompareAndSwap(false, true) {
			<-time.After(60 * time.Millisecond) // past the URL's life
			return fault.New(fault.Transient, "storage answered 403")
		}
		return nil
	})}
	d := depsFor(w, w.DB, s)
	d.Sign = &signer{good: 50 * time.Millisecond}
	start(t, d)
	job := waitState(t, w, posejob.Done)
	if most, total := s.most(); most != 1 || total != 4 || job.Fence != 1 || job.Deaths != 0 {
		t.Errorf("computed %v, job %+v", s.computed, job)
	}
	if len(s.srcs) != 2 || s.srcs[0] == s.srcs[1] {
		t.Errorf("URLs: %q", s.srcs)
	}
}

func TestEveryClaimSignsAnew(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	sign := &signer{}
	var once atomic.Bool
	s := &sight{chunks: 2, before: at(1, func(context.Context) error {
		if once.CompareAndSwap(false, true) {
			return errors.New("decoder crashed")
		}
		return nil
	})}
	d := depsFor(w, w.DB, s)
	d.Sign = sign
	start(t, d)
	waitFor(t, "a failed try", func() bool { return w.Job().Deaths == 1 })
	redelivered(t, w, posejob.Done)
	if len(s.srcs) != 2 || s.srcs[0] == s.srcs[1] || !strings.Contains(s.srcs[0], "version=v1") {
		t.Errorf("URLs: %q", s.srcs)
	}
}

func TestChunksOutOfOrderAreRefused(t *testing.T) {
	var tr tracked
	for _, c := range []struct {
		index int
		last  bool
		ok    bool
	}{{1, false, false}, {0, false, true}, {0, false, false}, {2, false, false}, {1, true, true}, {2, false, false}} {
		if err := tr.add(pose.Chunk{Index: c.index, Last: c.last}); (err == nil) != c.ok {
			t.Errorf("chunk %d: %v", c.index, err)
		}
	}
}

func TestPackRefusesWhatCannotBeStored(t *testing.T) {
	nan := pose.Chunk{Frames: []pose.Frame{{Score: zero / zero}}}
	if _, err := posejob.Pack(nan); fault.NameOf(err) != fault.Permanent {
		t.Errorf("NaN: %v", err)
	}
}

var zero float64
