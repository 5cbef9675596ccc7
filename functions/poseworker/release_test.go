package poseworker

import (
	"context"
	"testing"
	"time"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/posejob"
)

// SIGTERM ends Run's context (field case 8).
func TestTermReleases(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	g := newGate()
	s := &sight{chunks: 4, before: at(2, g.wait)}
	a := start(t, depsFor(w, w.DB, s))
	<-g.at
	token2 := w.Await(w.Run)
	begun := time.Now()
	a.term()
	if err := <-a.done; err != nil {
		t.Errorf("run: %v", err)
	}
	if d := time.Since(begun); d > 2*time.Second {
		t.Errorf("leaving took %v", d)
	}
	if s.running.Load() != 0 {
		t.Error("the pass still runs")
	}
	j := w.Job()
	if j.State != posejob.Waiting || j.Owner != "" || j.Deaths != 0 || len(j.Checkpoints) != 2 {
		t.Errorf("job: %+v", j)
	}
	if n := w.Queue.Visible(); n != 1 {
		t.Errorf("%d messages visible at once", n)
	}
	if got := w.Tokens.Get(token2); got.Error != string(fault.Released) {
		t.Errorf("token 2: %+v", got)
	}
	// The run goes back to dispatch, and another worker goes on without waiting.
	token1 := w.Dispatch(w.Run)
	b := &sight{chunks: 4}
	begun = time.Now()
	start(t, depsFor(w, w.DB, b))
	job := waitState(t, w, posejob.Done)
	if d := time.Since(begun); d > testLease {
		t.Logf("note: resumed and done after %v", d)
	}
	if b.times("0/1") != 0 || b.times("0/2") != 1 || job.Fence != 2 || job.Deaths != 0 {
		t.Errorf("B computed %v; job %+v", b.computed, job)
	}
	waitFor(t, "token 1", func() bool { return w.Tokens.Get(token1).Output != "" })
	token2 = w.Await(w.Run) // finds the result itself, as the function does
	if j := w.Job(); j.State != posejob.Done || j.Token2 != token2 {
		t.Errorf("job: %+v", j)
	}
	waitFor(t, "both messages gone", func() bool { w.Queue.Show(); return w.Queue.Len() == 0 })
}

func TestTermOfAnIdleWorker(t *testing.T) {
	w := posetest.New(t, 1)
	d := depsFor(w, w.DB, &sight{chunks: 1})
	d.Timers.Poll = 20 * time.Second
	r := start(t, d)
	begun := time.Now()
	r.term()
	if err := <-r.done; err != nil || time.Since(begun) > time.Second {
		t.Errorf("run: %v after %v", err, time.Since(begun))
	}
}

// The result is stored but Step Functions is away: the message brings the answer
// back, and no second pass runs.
func TestUnansweredTokenIsAnsweredLater(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	g := newGate()
	s := &sight{chunks: 2, before: at(1, g.wait)}
	r := start(t, depsFor(w, w.DB, s))
	<-g.at
	token2 := w.Await(w.Run)
	w.Tokens.Fail(func(string) error { return context.DeadlineExceeded })
	close(g.open)
	waitState(t, w, posejob.Done)
	waitFor(t, "the job let go of", func() bool { return r.slots.Busy() == 0 })
	if w.Queue.Len() != 1 {
		t.Fatal("the message must stay until the token is answered")
	}
	w.Tokens.Fail(nil)
	waitFor(t, "token 2 answered", func() bool { w.Queue.Show(); return w.Tokens.Get(token2).Output != "" })
	waitFor(t, "message deleted", func() bool { w.Queue.Show(); return w.Queue.Len() == 0 })
	if _, total := s.most(); total != 2 {
		t.Errorf("%d chunks computed; want 2", total)
	}
}

// Field case 1: the state was left before the result came. That is final, and no
// failure of the pass.
func TestLateSuccessIsFinal(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	g := newGate()
	s := &sight{chunks: 2, before: at(1, g.wait)}
	start(t, depsFor(w, w.DB, s))
	<-g.at
	token2 := w.Await(w.Run)
	waitFor(t, "a heartbeat", func() bool { return w.Tokens.Get(token2).Heartbeats > 0 })
	w.Tokens.Close(token2)
	waitFor(t, "a late heartbeat", func() bool { return w.Tokens.Get(token2).Late > 0 })
	time.AfterFunc(3*testTimers.Keeper, func() { close(g.open) })
	waitState(t, w, posejob.Done)
	waitFor(t, "message deleted", func() bool { w.Queue.Show(); return w.Queue.Len() == 0 })
	if got := w.Tokens.Get(token2); got.Late != 2 { // one heartbeat and the result
		t.Errorf("%d answers to a dead token", got.Late)
	}
}

// The run went back to dispatch while the pass was alive: the new token is seen.
func TestNewTokenOfALivePass(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	g := newGate()
	s := &sight{chunks: 2, before: at(1, g.wait)}
	start(t, depsFor(w, w.DB, s))
	<-g.at
	w.Tokens.Close(w.Await(w.Run))
	token1 := w.Dispatch(w.Run)
	waitFor(t, "token 1 answered by the keeper", func() bool { return w.Tokens.Get(token1).Output != "" })
	token2 := w.Await(w.Run)
	waitFor(t, "its heartbeat", func() bool { return w.Tokens.Get(token2).Heartbeats > 0 })
	close(g.open)
	waitFor(t, "its answer", func() bool { return w.Tokens.Get(token2).Output != "" })
	if j := w.Job(); j.Fence != 1 {
		t.Errorf("job: %+v", j)
	}
}

// SIGTERM comes while a posted job is being claimed: the worker does not end before the
// claim is given back, or its lease would have to run out with nobody at work.
func TestTermGivesAClaimUnderWayBack(t *testing.T) {
	w := posetest.New(t, 1)
	enqueue(t, w)
	claim := newGate()
	d := depsFor(w, w.DB, &sight{chunks: 1})
	d.Jobs.DB = gated{w.DB, w.Run.AnalysisID, claim}
	r := start(t, d)
	code := make(chan int)
	go func() {
		c, _, _ := post(t, r, idBody(w.Run.AnalysisID))
		code <- c
	}()
	<-claim.at
	r.term()
	waitFor(t, "the worker to leave", r.leaving)
	select {
	case <-r.done:
		t.Error("the worker ended with a claim under way")
	case <-time.After(50 * time.Millisecond):
	}
	close(claim.open)
	if c := <-code; c != 503 {
		t.Errorf("%d, want 503", c)
	}
	<-r.done
	if j := w.Job(); j.State != posejob.Waiting || j.Owner != "" {
		t.Errorf("job: %+v", j)
	}
}
