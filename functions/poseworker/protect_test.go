package poseworker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/functions/internal/posetest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// agent is the container service's; before is called ahead of every word it takes.
type agent struct {
	before func(working bool) error

	mu   sync.Mutex
	said []bool
}

func (a *agent) Protect(_ context.Context, working bool) error {
	if a.before != nil {
		if err := a.before(working); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said = append(a.said, working)
	return nil
}

// last is what was said last, and how often anything was.
func (a *agent) last() (working bool, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.said) == 0 {
		return false, 0
	}
	return a.said[len(a.said)-1], len(a.said)
}

// A job ends as the next one begins: the word of the end is slow, and must not be the
// last one.
func TestAWorkerAtWorkIsProtected(t *testing.T) {
	w := posetest.New(t, 1)
	first, second := newGate(), newGate()
	s := &sight{chunks: 1}
	s.before = func(ctx context.Context, _ int) error {
		if s.times("0/0") == 0 {
			return first.wait(ctx)
		}
		return second.wait(ctx)
	}
	ending, once := make(chan struct{}), sync.Once{}
	a := &agent{before: func(working bool) error {
		if !working {
			once.Do(func() { close(ending) })
			select { // until the second job is under way
			case <-second.at:
			case <-time.After(20 * time.Second):
			}
		}
		return nil
	}}
	d := depsFor(w, w.DB, s)
	d.Passes, d.Protect = 1, a
	d.Timers.NoProgress = time.Hour // the second pass waits until it is protected
	r := start(t, d)
	w.Dispatch(w.Run)
	<-first.at
	close(first.open)
	<-ending
	other := names.Run{AnalysisID: w.Run.AnalysisID + "b", Attempt: 1}
	w.Analysis(other, "analysing", 1)
	w.Dispatch(other)
	<-second.at
	waitFor(t, "protection while it works", func() bool { on, n := a.last(); return on && n >= 3 })
	close(second.open)
	waitFor(t, "none when it is idle", func() bool { on, _ := a.last(); return !on && r.slots.Busy() == 0 })
}

// gated is a database in which a job is not read before the gate is open.
type gated struct {
	posejob.DB
	id   string
	gate *gate
}

func (g gated) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opt ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if id, ok := in.Key["analysis_id"].(*ddb.AttributeValueMemberS); ok && id.Value == g.id && *in.TableName == names.PoseJobs.Name {
		if err := g.gate.wait(ctx); err != nil {
			return nil, err
		}
	}
	return g.DB.GetItem(ctx, in, opt...)
}

// A post that is refused held a slot while the last job ended.
func TestARefusedPostLeavesNoProtection(t *testing.T) {
	w := posetest.New(t, 1)
	w.Dispatch(w.Run)
	work := newGate()
	a := &agent{}
	d := depsFor(w, w.DB, &sight{chunks: 1, before: at(0, work.wait)})
	claim := newGate()
	d.Jobs.DB, d.Protect = gated{w.DB, "an-unknown", claim}, a
	r := start(t, d)
	<-work.at
	refused := make(chan int)
	go func() {
		code, _, _ := post(t, r, idBody("an-unknown"))
		refused <- code
	}()
	<-claim.at
	close(work.open)
	waitFor(t, "the job's end", func() bool { return r.slots.Busy() == 1 })
	close(claim.open)
	if code := <-refused; code == 202 {
		t.Fatal("a job that is unknown was taken")
	}
	waitFor(t, "no protection", func() bool { on, n := a.last(); return !on && n > 0 })
}

// An idle task that stays protected is not stopped: its release is tried again, a
// bounded number of times.
func TestProtectionIsTakenBackAgain(t *testing.T) {
	for _, c := range []struct{ fails, said, tries int }{{3, 1, 4}, {99, 0, protectTries}} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			a := &agent{before: func(bool) error {
				if tries++; tries <= c.fails {
					return errors.New("the agent is away")
				}
				return nil
			}}
			w, err := New(Deps{Passes: 1, Protect: a})
			if err != nil {
				t.Fatal(err)
			}
			w.protected = true
			w.protect(false)
			if tries != c.tries || len(a.said) != c.said || slices.Contains(a.said, true) {
				t.Errorf("%d tries, said %v; want %d tries, heard %d times", tries, a.said, c.tries, c.said)
			}
		})
	}
}
