package posejob_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

func TestClaim(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		j := w.claim("a")
		if j.State != posejob.Claimed || j.Fence != 1 || j.Owner != "a" || j.Token1 != "t1" ||
			!j.Until.Equal(w.clock.now().Add(names.LeaseDuration)) {
			t.Errorf("claimed: %+v", j)
		}
		if got := w.get(); got.Owner != "a" || got.Fence != 1 || !got.Until.Equal(j.Until) || got.Message != "m-a" {
			t.Errorf("the row differs from what the owner was told: %+v", got)
		}
		row, err := analysis.Get(t.Context(), w.db, names.Analyses.Name, w.run.AnalysisID)
		if err != nil || !row.Deadline.Equal(w.clock.now().Add(names.AnalysingDeadline)) {
			t.Errorf("the deadline of analysing runs from the claim: %v, %v", row.Deadline, err)
		}
	})
	t.Run("HeldErrorNamesOwnerAndTime", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		j := w.claim("a")
		w.clock.advance(names.LeaseDuration + names.ClockSkew) // expired, but not on every clock
		_, err := w.store.Claim(t.Context(), w.run.AnalysisID, by("b"))
		var held *posejob.HeldError
		if !errors.As(err, &held) || held.Owner != "a" || held.Message != "m-a" ||
			!held.Until.Equal(j.Until.Add(names.ClockSkew)) {
			t.Errorf("claim of a held job: %+v, %v", held, err)
		}
	})
	t.Run("TakeoverAfterLeaseAndSkew", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		a := w.claim("a").Lease()
		w.checkpoint(a, 0, 0)
		w.expire()
		j := w.claim("b")
		if j.Fence != 2 || j.Deaths != 1 || len(j.Checkpoints) != 1 || j.Redone != 0 {
			t.Errorf("taken over: %+v", j)
		}
		for what, err := range w.writesOf(a) {
			if !errors.Is(err, posejob.ErrLost) {
				t.Errorf("%s by the old owner: %v", what, err)
			}
		}
		if got := w.get(); got.Owner != "b" || len(got.Checkpoints) != 1 || got.State != posejob.Claimed {
			t.Errorf("the old owner changed the row: %+v", got)
		}
	})
	t.Run("OneOfManyWins", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		var won, held int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, o := range owners(24) {
			wg.Go(func() {
				_, err := w.store.Claim(t.Context(), w.run.AnalysisID, by(o))
				var h *posejob.HeldError
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won++
				case errors.As(err, &h):
					held++
				default:
					t.Errorf("claim by %s: %v", o, err)
				}
			})
		}
		wg.Wait()
		if won != 1 || held != 23 {
			t.Errorf("won %d, held %d", won, held)
		}
		if j := w.get(); j.Fence != 1 {
			t.Errorf("fence = %d", j.Fence)
		}
	})
	t.Run("LostAnswerIsOurs", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		f := &dynamotest.Faults{Next: dynamotest.First(1, "TransactWriteItems", dynamotest.Lost)}
		j, err := w.storeOn(w.srv.Faulty(f)).Claim(t.Context(), w.run.AnalysisID, by("a"))
		if err != nil || j.Fence != 1 || j.Owner != "a" {
			t.Errorf("claim with a lost answer: %+v, %v", j, err)
		}
	})
	t.Run("EveryAnswerLostIsOurs", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		f := &dynamotest.Faults{Next: dynamotest.First(99, "TransactWriteItems", dynamotest.Lost)}
		j, err := w.storeOn(w.srv.Faulty(f)).Claim(t.Context(), w.run.AnalysisID, by("a"))
		if err != nil || j.Fence != 1 || j.Owner != "a" {
			t.Errorf("claim whose answers are all lost: %+v, %v", j, err)
		}
	})
	t.Run("NotDoneIsAnError", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		f := &dynamotest.Faults{Next: dynamotest.First(99, "TransactWriteItems", dynamotest.NotDone)}
		_, err := w.storeOn(w.srv.Faulty(f)).Claim(t.Context(), w.run.AnalysisID, by("a"))
		if !errors.Is(err, dynamotest.ErrInjected) || w.get().State != posejob.Waiting {
			t.Errorf("claim that never arrives: %v, job %s", err, w.get().State)
		}
	})
	t.Run("RenewalBetweenReadAndClaimWins", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		a := w.claim("a").Lease()
		w.expire()
		f := &dynamotest.Faults{Next: func(op string) dynamotest.Fault {
			if op == "TransactWriteItems" { // b has read an expired lease; a wakes up first
				if _, err := w.store.Renew(t.Context(), a, posejob.Mark{Progress: w.progress(0.1)}); err != nil {
					t.Errorf("renew: %v", err)
				}
			}
			return dynamotest.OK
		}}
		_, err := w.storeOn(w.srv.Faulty(f)).Claim(t.Context(), w.run.AnalysisID, by("b"))
		var held *posejob.HeldError
		if !errors.As(err, &held) {
			t.Errorf("claim: %v", err)
		}
	})
	t.Run("AnalysisEnded", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		w.analysis(analysis.Failed, 1)
		j, err := w.store.Claim(t.Context(), w.run.AnalysisID, by("a"))
		if !errors.Is(err, posejob.ErrEnded) || j.Token1 != "t1" {
			t.Errorf("claim: %+v, %v", j, err)
		}
		if w.get().State != posejob.Waiting {
			t.Error("the row was claimed")
		}
	})
	t.Run("AnalysisRestarted", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		w.analysis(analysis.Analysing, 2)
		if _, err := w.store.Claim(t.Context(), w.run.AnalysisID, by("a")); !errors.Is(err, posejob.ErrEnded) {
			t.Errorf("claim: %v", err)
		}
	})
	t.Run("Finished", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		w.await("t2")
		if _, err := w.store.Complete(t.Context(), l, pass); err != nil {
			t.Fatal(err)
		}
		j, err := w.store.Claim(t.Context(), w.run.AnalysisID, by("b"))
		if !errors.Is(err, posejob.ErrFinished) || j.Token2 != "t2" || *j.Result != pass {
			t.Errorf("claim of a done job: %+v, %v", j, err)
		}
	})
	t.Run("NoJob", func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.store.Claim(t.Context(), "an-unknown", by("a")); !errors.Is(err, posejob.ErrNoJob) {
			t.Errorf("claim: %v", err)
		}
	})
	t.Run("OtherModelStartsOver", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		a := w.claim("a").Lease()
		w.checkpoint(a, 0, 0)
		w.checkpoint(a, 0, 1)
		if _, err := w.store.Release(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		c := by("b")
		c.Model = "heavy"
		j, err := w.store.Claim(t.Context(), w.run.AnalysisID, c)
		if err != nil || len(j.Checkpoints) != 0 || j.Redone != 2 || j.Model != "heavy" {
			t.Errorf("claim by another model: %+v, %v", j, err)
		}
		if got := w.get(); len(got.Checkpoints) != 0 || got.Model != "heavy" {
			t.Errorf("row: %+v", got)
		}
	})
	t.Run("DwellOf48Hours", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		w.clock.advance(48 * time.Hour)
		w.claim("a")
	})
}

func TestPoison(t *testing.T) {
	t.Run("ThirdDeathWithoutCheckpointFails", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		for range names.MaxDeaths {
			w.claim("w" + w.clock.now().String())
			w.expire()
		}
		j, err := w.store.Claim(t.Context(), w.run.AnalysisID, by("last"))
		if !errors.Is(err, posejob.ErrFinished) || j.State != posejob.Failed || j.Deaths != names.MaxDeaths ||
			j.Failure == nil || j.Failure.Error != fault.PoseFailed || j.Token1 != "t1" {
			t.Errorf("claim after %d deaths: %+v, %v", names.MaxDeaths, j, err)
		}
	})
	t.Run("CheckpointClearsTheCount", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		for i := range 2 * names.MaxDeaths {
			w.checkpoint(w.claim("w"+w.clock.now().String()).Lease(), 0, i)
			w.expire()
		}
		w.claim("last")
	})
	t.Run("AChunkDoneAgainDoesNot", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		w.claim("a")
		w.expire()
		l := w.claim("b").Lease()
		again := saved(l, 0, 0)
		again.Redone = 1
		j, err := w.store.Checkpoint(t.Context(), l, again, posejob.Mark{Progress: w.progress(0.1)})
		if err != nil || j.Deaths != 1 || j.Redone != 1 {
			t.Errorf("checkpoint done again: %+v, %v", j, err)
		}
	})
	t.Run("GivenUpThreeTimesFails", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		for i := 1; i <= names.MaxDeaths; i++ {
			l := w.claim("w" + string(rune('0'+i))).Lease()
			j, err := w.store.GiveUp(t.Context(), l, "no progress")
			if err != nil || j.Deaths != i || (j.State == posejob.Failed) != (i == names.MaxDeaths) {
				t.Fatalf("given up %d times: %+v, %v", i, j, err)
			}
		}
	})
	t.Run("ReleaseIsNoDeath", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		for i := range 2 * names.MaxDeaths {
			l := w.claim("w" + string(rune('0'+i))).Lease()
			if j, err := w.store.Release(t.Context(), l); err != nil || j.State != posejob.Waiting || j.Deaths != 0 || j.Owner != "" {
				t.Fatalf("released: %+v, %v", j, err)
			}
		}
	})
}
