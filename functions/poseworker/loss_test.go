package poseworker

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// leash is an HTTP client that can be cut, as by kill -9, or held, as by STOP.
type leash struct {
	cut  atomic.Bool
	hold atomic.Pointer[chan struct{}]
}

func (l *leash) Do(r *http.Request) (*http.Response, error) {
	if ch := l.hold.Load(); ch != nil {
		<-*ch // a stopped process does not even notice its deadlines
	}
	if l.cut.Load() {
		return nil, errors.New("killed")
	}
	return http.DefaultClient.Do(r)
}

func (l *leash) client(w *posetest.World) *dynamodb.Client {
	return w.Server.Client(func(o *dynamodb.Options) { o.HTTPClient = l })
}

// at calls fn before one chunk.
func at(chunk int, fn func(context.Context) error) func(context.Context, int) error {
	return func(ctx context.Context, n int) error {
		if n == chunk {
			return fn(ctx)
		}
		return nil
	}
}

func TestKilledWorkerIsResumed(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	var l leash
	g := newGate()
	a := &sight{chunks: 6, before: at(3, g.wait)}
	da := depsFor(w, l.client(w), a)
	start(t, da)
	<-g.at
	token2 := w.Await(w.Run)
	l.cut.Store(true) // from here on A writes nothing
	b := &sight{chunks: 6}
	start(t, later(depsFor(w, w.DB, b)))
	w.Queue.Show()
	job := waitState(t, w, posejob.Done)
	if b.times("0/2") != 0 || b.times("0/3") != 1 || b.times("0/5") != 1 {
		t.Errorf("B computed %v; it must go on with chunk 3", b.computed)
	}
	if job.Fence != 2 || job.Redone != 1 {
		t.Errorf("fence %d, redone %d", job.Fence, job.Redone)
	}
	if c := result(t, w, job).Clips[0]; c.Frames != 60 {
		t.Errorf("clip: %+v", c)
	}
	waitFor(t, "token 2", func() bool { return w.Tokens.Get(token2).Output != "" })
	close(g.open)
}

// A stopped owner wakes after another has finished: its writes are refused, it
// stops within a keeper period, and the analysis is none the worse (field case 13).
func TestPausedOwnerLoses(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	var l leash
	g := newGate()
	var cause atomic.Pointer[error]
	a := &sight{chunks: 6, before: at(3, func(ctx context.Context) error {
		err := g.wait(ctx)
		if c := context.Cause(ctx); c != nil {
			cause.Store(&c)
		}
		return err
	})}
	start(t, depsFor(w, l.client(w), a))
	<-g.at
	wake := make(chan struct{})
	l.hold.Store(&wake)
	b := &sight{chunks: 6}
	db := later(depsFor(w, w.DB, b))
	start(t, db)
	w.Queue.Show()
	done := waitState(t, w, posejob.Done)
	l.hold.Store(nil)
	close(wake)
	waitFor(t, "A's pass cancelled", func() bool { return cause.Load() != nil })
	// Whichever it notices first: its own call timed out, or the row has moved on.
	if c := *cause.Load(); !errors.Is(c, posejob.ErrLost) && !errors.Is(c, errUncertain) {
		t.Errorf("A was cancelled because %v", c)
	}
	if after := w.Job(); *after.Result != *done.Result || after.Fence != 2 || after.State != posejob.Done {
		t.Errorf("A changed the row: %+v", after)
	}
	waitFor(t, "queue empty", func() bool { w.Queue.Show(); return w.Queue.Len() == 0 })
}

// The fence, and not the keeper, is what refuses a late result.
func TestLateResultIsRefused(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	var l leash
	g := newGate()
	a := &sight{chunks: 3, before: at(2, func(context.Context) error { return g.wait(context.Background()) })}
	da := depsFor(w, l.client(w), a)
	da.Timers.Keeper, da.Timers.Show = time.Hour, time.Hour // this keeper notices nothing
	start(t, da)
	<-g.at
	start(t, later(depsFor(w, w.DB, &sight{chunks: 3})))
	w.Queue.Show()
	done := waitState(t, w, posejob.Done)
	close(g.open)
	waitFor(t, "A's chunk stored where nobody looks", func() bool {
		_, ok := w.Objects.All()[names.ChunkKey(w.Run.AnalysisID, 1, 1, 0, 2)]
		return ok
	})
	waitFor(t, "A's pass ended", func() bool { return a.running.Load() == 0 })
	if after := w.Job(); *after.Result != *done.Result || after.Checkpoints["0/2"].Key != names.ChunkKey(w.Run.AnalysisID, 1, 2, 0, 2) {
		t.Errorf("row: %+v", after)
	}
}

func TestEndedAnalysisCancelsThePass(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	g := newGate()
	s := &sight{chunks: 3, before: at(1, g.wait)}
	start(t, depsFor(w, w.DB, s))
	<-g.at
	token2 := w.Await(w.Run)
	waitFor(t, "token 2 seen", func() bool { return w.Tokens.Get(token2).Heartbeats > 0 })
	begun := time.Now()
	w.Analysis(w.Run, analysis.Failed, 1)
	waitFor(t, "the pass ended", func() bool { return s.running.Load() == 0 })
	if d := time.Since(begun); d > testLease {
		t.Errorf("it took %v with a keeper period of %v", d, testTimers.Keeper)
	}
	waitFor(t, "message deleted", func() bool { w.Queue.Show(); return w.Queue.Len() == 0 })
	waitFor(t, "the run told", func() bool { return w.Tokens.Get(token2).Error == string(fault.Conceded) })
}

func TestRestartedAnalysisCancelsThePass(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	g := newGate()
	s := &sight{chunks: 2, before: at(1, g.wait)}
	start(t, depsFor(w, w.DB, s))
	<-g.at
	again := names.Run{AnalysisID: w.Run.AnalysisID, Attempt: 2}
	w.Analysis(again, analysis.Analysing, 1)
	waitFor(t, "the pass ended", func() bool { return s.running.Load() == 0 })
	close(g.open)
	w.Dispatch(again)
	job := waitState(t, w, posejob.Done)
	if job.Attempt != 2 || job.Fence != 2 {
		t.Errorf("job: %+v", job)
	}
}

func TestNoProgressIsGivenUp(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() } // an ffmpeg that hangs, alive
	s := &sight{chunks: 3, before: at(1, hang)}
	d := depsFor(w, w.DB, s)
	d.Timers.NoProgress = 250 * time.Millisecond
	start(t, d)
	var token2 string
	for try := 1; try <= names.MaxDeaths; try++ {
		waitFor(t, "claimed", func() bool {
			w.Queue.Show()
			return w.Job().State == posejob.Claimed && s.running.Load() == 1
		})
		if token2 == "" {
			token2 = w.Await(w.Run)
		}
		waitFor(t, "given up", func() bool { return w.Job().State != posejob.Claimed })
		if j := w.Job(); j.Deaths != try || (j.State == posejob.Failed) != (try == names.MaxDeaths) {
			t.Fatalf("try %d: %+v", try, j)
		}
	}
	waitFor(t, "the run told", func() bool { return w.Tokens.Get(token2).Error == string(fault.PoseFailed) })
	waitFor(t, "message deleted", func() bool { w.Queue.Show(); return w.Queue.Len() == 0 })
	if n := s.times("0/0"); n != 1 {
		t.Errorf("chunk 0 was computed %d times", n)
	}
}

func TestPassThatIgnoresItsEndBreaksTheWorker(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	g := newGate()
	s := &sight{chunks: 2, before: at(1, func(context.Context) error { return g.wait(context.Background()) })}
	d := depsFor(w, w.DB, s)
	d.Timers.NoProgress, d.Timers.Leave = 200*time.Millisecond, 100*time.Millisecond
	r := start(t, d)
	<-g.at
	if err := <-r.done; !errors.Is(err, ErrStuck) {
		t.Errorf("run: %v", err)
	}
	if j := w.Job(); j.State != posejob.Waiting || j.Deaths != 1 {
		t.Errorf("its job: %+v", j)
	}
	close(g.open)
}

func TestPanicIsAFailedTry(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	var once atomic.Bool
	s := &sight{chunks: 2, before: at(1, func(context.Context) error {
		if once.CompareAndSwap(false, true) {
			panic("index out of range")
		}
		return nil
	})}
	start(t, depsFor(w, w.DB, s))
	waitFor(t, "given back", func() bool { return w.Job().Deaths == 1 })
	if j := redelivered(t, w, posejob.Done); j.Fence != 2 {
		t.Errorf("job: %+v", j)
	}
}

func TestPermanentErrorFailsAtOnce(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	s := &sight{chunks: 2, before: at(1, func(context.Context) error { return fault.New(fault.Permanent, "storage answered 404") })}
	start(t, depsFor(w, w.DB, s))
	if j := waitState(t, w, posejob.Failed); j.Failure.Error != fault.PoseFailed || j.Fence != 1 {
		t.Errorf("job: %+v", j)
	}
}

func TestLeaseThatCannotBeRenewedCancelsThePass(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	var l leash
	g := newGate()
	s := &sight{chunks: 2, before: at(1, g.wait)}
	d := depsFor(w, w.DB, s)
	d.Keeper.Jobs = w.Store(l.client(w))
	d.Jobs.Lease, d.Keeper.Jobs.Lease = briefLease, briefLease
	start(t, d)
	<-g.at
	l.cut.Store(true) // only the keeper's connections fail
	waitFor(t, "the pass cancelled", func() bool { return s.running.Load() == 0 })
	waitFor(t, "given back", func() bool { return w.Job().State == posejob.Waiting })
	close(g.open)
}
