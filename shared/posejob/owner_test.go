package posejob_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// writesOf tries every write that an owner can make.
func (w *world) writesOf(l posejob.Lease) map[string]error {
	ctx, s := w.t.Context(), w.store
	out := map[string]error{}
	try := func(what string, _ posejob.Job, err error) { out[what] = err }
	j, err := s.Renew(ctx, l, posejob.Mark{Progress: w.progress(0.9)})
	try("renew", j, err)
	j, err = s.Checkpoint(ctx, l, saved(l, 0, 7), posejob.Mark{Progress: w.progress(0.9)})
	try("checkpoint", j, err)
	j, err = s.GiveUp(ctx, l, "late")
	try("give up", j, err)
	j, err = s.Fail(ctx, l, posejob.Failure{Error: fault.PoseFailed, Detail: "late"})
	try("fail", j, err)
	j, err = s.Release(ctx, l)
	try("release", j, err)
	j, err = s.Complete(ctx, l, pass)
	try("complete", j, err)
	return out
}

func TestRenew(t *testing.T) {
	t.Run("ExtendsAndShowsTokens", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		w.await("t2")
		w.clock.advance(20 * time.Second)
		j, err := w.store.Renew(t.Context(), l, posejob.Mark{Progress: w.progress(0.25), Begun: "0/3"})
		if err != nil || j.Token2 != "t2" || !j.Until.Equal(w.clock.now().Add(names.LeaseDuration)) ||
			j.Progress.Fraction != 0.25 || !j.Progress.MovedAt.Equal(w.clock.now()) || j.Begun != "0/3" {
			t.Errorf("renewed: %+v, %v", j, err)
		}
	})
	t.Run("ExpiredButNotTakenOverStillHolds", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		w.expire()
		if _, err := w.store.Renew(t.Context(), l, posejob.Mark{Progress: w.progress(0)}); err != nil {
			t.Errorf("renew: %v", err)
		}
	})
	t.Run("AnalysisEnded", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		w.await("t2")
		w.analysis(analysis.Failed, 1)
		j, err := w.store.Renew(t.Context(), l, posejob.Mark{Progress: w.progress(0)})
		if !errors.Is(err, posejob.ErrEnded) || j.Token2 != "t2" {
			t.Errorf("renew: %+v, %v", j, err)
		}
	})
	t.Run("UnknownOutcomeIsNotLost", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		f := &dynamotest.Faults{Next: dynamotest.First(99, "UpdateItem", dynamotest.NotDone)}
		_, err := w.storeOn(w.srv.Faulty(f)).Renew(t.Context(), l, posejob.Mark{Progress: w.progress(0)})
		if err == nil || errors.Is(err, posejob.ErrLost) {
			t.Errorf("renew while the database is away: %v", err)
		}
	})
}

func TestCheckpoints(t *testing.T) {
	w := newWorld(t)
	w.enqueue("t1")
	l := w.claim("a").Lease()
	for i := range 3 {
		w.checkpoint(l, 0, i)
	}
	w.checkpoint(l, 1, 0)
	w.checkpoint(l, 1, 2) // a gap: nothing after it counts
	j := w.get()
	if n := len(j.Chunks(0)); n != 3 {
		t.Errorf("clip 0: %d chunks", n)
	}
	if n := len(j.Chunks(1)); n != 1 {
		t.Errorf("clip 1: %d chunks before the gap", n)
	}
	want := saved(l, 0, 2).Checkpoint
	if got := j.Chunks(0)[2]; got.Key != want.Key || !bytes.Equal(got.SHA256, want.SHA256) || got.Frames != want.Frames {
		t.Errorf("checkpoint = %+v, want %+v", got, want)
	}
}

func TestRedoneCountsChunksBegunTwice(t *testing.T) {
	w := newWorld(t)
	w.enqueue("t1")
	l := w.claim("a").Lease()
	mark := posejob.Mark{Progress: w.progress(0.1), Begun: posejob.CheckpointID(0, 1)}
	if _, err := w.store.Checkpoint(t.Context(), l, saved(l, 0, 0), mark); err != nil {
		t.Fatal(err)
	}
	w.expire() // killed while it worked on chunk 1
	if j := w.claim("b"); j.Redone != 1 || w.get().Redone != 1 {
		t.Errorf("redone = %d, in the row %d", j.Redone, w.get().Redone)
	}
	w.expire() // killed before it began anything
	c := w.claim("c")
	if c.Redone != 1 {
		t.Errorf("redone = %d after a kill between chunks", c.Redone)
	}
	// A renewal with an older mark lands after the checkpoints of chunks 1 and 2.
	for n := 1; n < 3; n++ {
		w.checkpoint(c.Lease(), 0, n)
	}
	stale := posejob.Mark{Progress: w.progress(0.1), Begun: posejob.CheckpointID(0, 1)}
	if _, err := w.store.Renew(t.Context(), c.Lease(), stale); err != nil {
		t.Fatal(err)
	}
	w.expire()
	d := w.claim("d")
	if d.Redone != 2 {
		t.Errorf("redone = %d after a kill in chunk 3", d.Redone)
	}
	last := saved(d.Lease(), 0, 3)
	last.Last = true
	if _, err := w.store.Checkpoint(t.Context(), d.Lease(), last, posejob.Mark{Progress: w.progress(0.9)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Renew(t.Context(), d.Lease(), stale); err != nil {
		t.Fatal(err)
	}
	w.expire() // killed while it measured
	if j := w.claim("e"); j.Redone != 2 {
		t.Errorf("redone = %d after a kill behind the last chunk", j.Redone)
	}
}

// A chunk is done again once, however often its owner has to say so.
func TestRedoneIsCountedOnceWhereAnAnswerIsLost(t *testing.T) {
	w := newWorld(t)
	w.enqueue("t1")
	w.checkpoint(w.claim("a").Lease(), 0, 0)
	w.expire()
	b := w.claim("b")
	again := saved(b.Lease(), 0, 0)
	again.Redone = b.Redone + 1
	f := &dynamotest.Faults{Next: dynamotest.First(2, "UpdateItem", dynamotest.Lost)}
	j, err := w.storeOn(w.srv.Faulty(f)).Checkpoint(t.Context(), b.Lease(), again, posejob.Mark{Progress: w.progress(0.5)})
	if err != nil || f.Calls("UpdateItem") != 3 {
		t.Fatalf("%d requests, %v", f.Calls("UpdateItem"), err)
	}
	if got := w.get(); j.Redone != 1 || got.Redone != 1 || got.Deaths != 1 {
		t.Errorf("redone %d, in the row %d, want 1; %d deaths, want 1: nothing new was saved", j.Redone, got.Redone, got.Deaths)
	}
}

// A write of the owner's that arrives after a later one, as one does whose sender
// gave it up, leaves the lease's end where it is; a chunk counts all the same.
func TestALateWriteDoesNotPutTheLeaseBack(t *testing.T) {
	w := newWorld(t)
	w.enqueue("t1")
	l := w.claim("a").Lease()
	w.clock.advance(time.Minute)
	now, err := w.store.Renew(t.Context(), l, posejob.Mark{Progress: w.progress(0.5)})
	if err != nil {
		t.Fatal(err)
	}
	w.clock.advance(-30 * time.Second)
	late, err := w.store.Renew(t.Context(), l, posejob.Mark{Progress: w.progress(0.2)})
	if err != nil || !late.Until.Equal(now.Until) || late.Progress.Fraction != 0.5 {
		t.Errorf("a late renewal: until %s, progress %v, %v; want %s and 0.5", late.Until, late.Progress.Fraction, err, now.Until)
	}
	late, err = w.store.Checkpoint(t.Context(), l, saved(l, 0, 0), posejob.Mark{Progress: w.progress(0.3)})
	if err != nil || !late.Until.Equal(now.Until) || len(late.Checkpoints) != 1 {
		t.Errorf("a late checkpoint: until %s, %d chunks, %v; want %s and 1", late.Until, len(late.Checkpoints), err, now.Until)
	}
}

func TestLostAnswersOfTheOwner(t *testing.T) {
	for _, what := range []string{"checkpoint", "release", "give up", "fail", "renew"} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			w.enqueue("t1")
			l := w.claim("a").Lease()
			f := &dynamotest.Faults{Next: dynamotest.First(1, "UpdateItem", dynamotest.Lost)}
			s := w.storeOn(w.srv.Faulty(f))
			var err error
			var want posejob.State
			switch what {
			case "checkpoint":
				_, err = s.Checkpoint(t.Context(), l, saved(l, 0, 0), posejob.Mark{Progress: w.progress(0)})
				want = posejob.Claimed
			case "renew":
				_, err = s.Renew(t.Context(), l, posejob.Mark{Progress: w.progress(0)})
				want = posejob.Claimed
			case "release":
				_, err = s.Release(t.Context(), l)
				want = posejob.Waiting
			case "give up":
				_, err = s.GiveUp(t.Context(), l, "broken")
				want = posejob.Waiting
			case "fail":
				_, err = s.Fail(t.Context(), l, posejob.Failure{Error: fault.PoseFailed})
				want = posejob.Failed
			}
			j := w.get()
			if err != nil || j.State != want || (what == "give up" && j.Deaths != 1) {
				t.Errorf("%+v, %v", j, err)
			}
		})
	}
}

func TestTokensStayOutOfLogs(t *testing.T) {
	var buf bytes.Buffer
	j := posejob.Job{AnalysisID: "an-1", Token1: "secret-1", Token2: "secret-2"}
	slog.New(slog.NewJSONHandler(&buf, nil)).Info("job", "job", j)
	if s := buf.String(); strings.Contains(s, "secret") || !strings.Contains(s, "an-1") {
		t.Errorf("log line: %s", s)
	}
}

// TestLargestRow keeps the row well inside DynamoDB's 400 KB.
func TestLargestRow(t *testing.T) {
	c := saved(posejob.Lease{AnalysisID: analysis.ID("a", "b"), Attempt: 9, Fence: 99}, 7, 99999).Checkpoint
	per := len(c.Key) + len(c.SHA256) + 5 + len("k")*4 + len("7/99999") + 10
	if total := per * posejob.MaxCheckpoints; total > 300<<10 {
		t.Errorf("%d checkpoints of %d bytes = %d bytes", posejob.MaxCheckpoints, per, total)
	}
}
