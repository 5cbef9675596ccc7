package posejob_test

import (
	"errors"
	"testing"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

func TestEnqueue(t *testing.T) {
	t.Run("Creates", func(t *testing.T) {
		w := newWorld(t)
		j := w.enqueue("t1")
		if j.State != posejob.Waiting || j.Attempt != 1 || j.Token1 != "t1" || j.Fence != 0 || j.CreatedAt.IsZero() {
			t.Errorf("new job: %+v", j)
		}
	})
	t.Run("RetryReplacesToken", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		j := w.enqueue("t1b")
		if j.Token1 != "t1b" || j.State != posejob.Waiting || j.Returns != 0 {
			t.Errorf("retried: %+v", j)
		}
	})
	t.Run("LostAnswerIsRepeated", func(t *testing.T) {
		w := newWorld(t)
		f := &dynamotest.Faults{Next: dynamotest.First(1, "UpdateItem", dynamotest.Lost)}
		j, err := w.storeOn(w.srv.Faulty(f)).Enqueue(t.Context(), names.TokenIn{Run: w.run, TaskToken: "t1"})
		if err != nil || j.Token1 != "t1" {
			t.Errorf("enqueue with a lost answer: %+v, %v", j, err)
		}
	})
	t.Run("ClaimedJobIsShown", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		w.claim("a")
		j := w.enqueue("t1b")
		if !j.Live(w.clock.now(), names.ClockSkew) || j.Fence != 1 {
			t.Errorf("claimed job: %+v", j)
		}
	})
	t.Run("AnalysisEnded", func(t *testing.T) {
		w := newWorld(t)
		w.analysis(analysis.Failed, 1)
		if _, err := w.store.Enqueue(t.Context(), names.TokenIn{Run: w.run, TaskToken: "t1"}); !errors.Is(err, posejob.ErrEnded) {
			t.Errorf("enqueue after the end: %v", err)
		}
	})
	t.Run("LaterAttemptStartsAfreshAboveTheFence", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		old := w.claim("a").Lease()
		w.await("t2")
		w.checkpoint(old, 0, 0)
		w.analysis(analysis.Analysing, 2)
		w.run.Attempt = 2
		j := w.enqueue("t1 of attempt 2")
		if j.State != posejob.Waiting || j.Attempt != 2 || len(j.Checkpoints) != 0 || j.Token2 != "" || j.Owner != "" {
			t.Errorf("attempt 2: %+v", j)
		}
		if _, err := w.store.Complete(t.Context(), old, pass); !errors.Is(err, posejob.ErrLost) {
			t.Errorf("the owner of attempt 1 completes: %v", err)
		}
		if j := w.claim("b"); j.Fence != 2 {
			t.Errorf("fence of attempt 2 = %d, want 2: it must rise over all attempts", j.Fence)
		}
	})
	t.Run("EarlierAttemptIsRefused", func(t *testing.T) {
		w := newWorld(t)
		w.analysis(analysis.Analysing, 2)
		w.run.Attempt = 2
		w.enqueue("t1")
		w.analysis(analysis.Analysing, 1) // a stale read could not be worse than this
		w.run.Attempt = 1
		if _, err := w.store.Enqueue(t.Context(), names.TokenIn{Run: w.run, TaskToken: "old"}); !errors.Is(err, posejob.ErrEnded) {
			t.Errorf("enqueue of an earlier attempt: %v", err)
		}
	})
}

func TestReturnsToDispatch(t *testing.T) {
	t.Run("ThirdWithoutCheckpointFails", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		for i := 1; i <= names.MaxReturns; i++ {
			w.await("t2")
			w.enqueue("t1") // the return
			j := w.enqueue("t1 again")
			if j.Returns != i {
				t.Fatalf("returns = %d after %d", j.Returns, i)
			}
			if failed := j.State == posejob.Failed; failed != (i == names.MaxReturns) {
				t.Fatalf("after %d returns: %s", i, j.State)
			}
		}
		j := w.get()
		if j.Failure == nil || j.Failure.Error != fault.PoseFailed {
			t.Errorf("failure: %+v", j.Failure)
		}
		if _, err := w.store.Complete(t.Context(), l, pass); !errors.Is(err, posejob.ErrLost) {
			t.Errorf("its owner completes: %v", err)
		}
	})
	t.Run("CheckpointClearsTheCount", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		for i := range 2 * names.MaxReturns {
			w.await("t2")
			w.enqueue("t1")
			w.checkpoint(l, 0, i)
		}
		if j := w.get(); j.State != posejob.Claimed || j.Returns != 0 {
			t.Errorf("%+v", j)
		}
	})
	t.Run("LostAnswerCountsOnce", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		w.claim("a")
		w.await("t2")
		f := &dynamotest.Faults{}
		n := 0
		f.Next = func(op string) dynamotest.Fault { // the second update is the count
			if op == "UpdateItem" {
				n++
				if n == 2 {
					return dynamotest.Lost
				}
			}
			return dynamotest.OK
		}
		j, err := w.storeOn(w.srv.Faulty(f)).Enqueue(t.Context(), names.TokenIn{Run: w.run, TaskToken: "t1b"})
		if err != nil || j.Returns != 1 || j.Token1 != "t1b" {
			t.Errorf("returns = %d, token %q, %v", j.Returns, j.Token1, err)
		}
	})
	t.Run("DoneJobIsNotCounted", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		w.await("t2")
		if _, err := w.store.Complete(t.Context(), l, pass); err != nil {
			t.Fatal(err)
		}
		for range names.MaxReturns + 1 {
			if j := w.enqueue("t1"); j.State != posejob.Done || j.Returns != 0 {
				t.Fatalf("done job: %+v", j)
			}
			w.await("t2")
		}
	})
}

func TestAwaitAndCompleteMeet(t *testing.T) {
	t.Run("AwaitFirst", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		if j := w.await("t2"); j.State != posejob.Claimed {
			t.Errorf("await: %+v", j)
		}
		j, err := w.store.Complete(t.Context(), l, pass)
		if err != nil || j.Token2 != "t2" || *j.Result != pass {
			t.Errorf("complete shows token 2 to its caller: %+v, %v", j, err)
		}
	})
	t.Run("CompleteFirst", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		if j, err := w.store.Complete(t.Context(), l, pass); err != nil || j.Token2 != "" {
			t.Errorf("complete: %+v, %v", j, err)
		}
		if j := w.await("t2"); j.State != posejob.Done || *j.Result != pass {
			t.Errorf("await shows the result to its caller: %+v", j)
		}
	})
	t.Run("AtOnce", func(t *testing.T) {
		w := newWorld(t)
		for range 20 { // exactly one, or both, must see the other; never neither
			w.run.Attempt++
			w.analysis(analysis.Analysing, w.run.Attempt)
			w.enqueue("t1")
			l := w.claim("a" + string(rune('0'+w.run.Attempt))).Lease()
			sees := make(chan bool, 2)
			go func() {
				j, err := w.store.Await(t.Context(), names.TokenIn{Run: w.run, TaskToken: "t2"})
				sees <- err == nil && j.State == posejob.Done
			}()
			go func() {
				j, err := w.store.Complete(t.Context(), l, pass)
				sees <- err == nil && j.Token2 == "t2"
			}()
			if a, b := <-sees, <-sees; a == b {
				t.Fatalf("await and complete: one of them must answer the token, and only the second: %v, %v", a, b)
			}
		}
	})
	t.Run("CompleteWithALostAnswer", func(t *testing.T) {
		w := newWorld(t)
		w.enqueue("t1")
		l := w.claim("a").Lease()
		w.await("t2")
		f := &dynamotest.Faults{Next: dynamotest.First(1, "UpdateItem", dynamotest.Lost)}
		j, err := w.storeOn(w.srv.Faulty(f)).Complete(t.Context(), l, pass)
		if err != nil || j.State != posejob.Done || j.Token2 != "t2" {
			t.Errorf("complete with a lost answer: %+v, %v", j, err)
		}
	})
	t.Run("AwaitOfAnEarlierAttempt", func(t *testing.T) {
		w := newWorld(t)
		w.analysis(analysis.Analysing, 2)
		w.run.Attempt = 2
		w.enqueue("t1")
		w.run.Attempt = 1
		if _, err := w.store.Await(t.Context(), names.TokenIn{Run: w.run, TaskToken: "t2"}); !errors.Is(err, posejob.ErrEnded) {
			t.Errorf("await of an earlier attempt: %v", err)
		}
		if w.get().Token2 != "" {
			t.Error("its token was registered")
		}
	})
	t.Run("NoJob", func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.store.Await(t.Context(), names.TokenIn{Run: w.run, TaskToken: "t2"}); !errors.Is(err, posejob.ErrNoJob) {
			t.Errorf("await without a job: %v", err)
		}
	})
}

// TestKilledOnTheHTTPRoad: there a kill counts twice, as a return when the state's
// heartbeat has run out and as a death when the next worker takes over. Two kills
// before the first checkpoint are no poison; a checkpoint clears both counts; three
// in a row fail the job, whichever count is first.
func TestKilledOnTheHTTPRoad(t *testing.T) {
	w := newWorld(t)
	w.enqueue("")
	killed := func(owner string) posejob.Job {
		w.claim(owner)
		w.await("token of " + owner)
		w.expire()
		return w.enqueue("") // back at dispatch
	}
	for i, o := range owners(2) {
		if j := killed(o); j.State != posejob.Claimed || j.Returns != i+1 || j.Deaths != i {
			t.Fatalf("after kill %d: %s, %d returns, %d deaths", i+1, j.State, j.Returns, j.Deaths)
		}
	}
	j := w.claim("lucky")
	if j.State != posejob.Claimed || j.Deaths != 2 {
		t.Fatalf("after two kills: %s, %d deaths", j.State, j.Deaths)
	}
	if j := w.checkpoint(j.Lease(), 0, 0); j.Deaths != 0 || j.Returns != 0 {
		t.Errorf("a checkpoint leaves %d deaths, %d returns", j.Deaths, j.Returns)
	}
	w.await("token of lucky")
	w.expire()
	w.enqueue("") // the third kill, the first since the checkpoint
	killed("d")
	if j := killed("e"); j.State != posejob.Failed || j.Failure == nil || j.Failure.Error != fault.PoseFailed {
		t.Errorf("three kills without a checkpoint: %s, %+v", j.State, j.Failure)
	}
}
