package virtual_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/statemachine"
)

// closed refuses the first calls of one function, as many as a stage bears. How long
// that is, is for the dice of the retrier.
type closed struct {
	function string

	mu      sync.Mutex
	refused int
}

func (r *closed) fault(i virtual.Invocation) virtual.InvokeFault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i.Function != r.function || r.refused == statemachine.RefusedAttempts {
		return virtual.InvokeFault{}
	}
	r.refused++
	return virtual.InvokeFault{Kind: virtual.InvokeRefused}
}

// TestRefusedForMinutes: Lambda refuses the calls of one stage for minutes, in most
// cases for half an hour, in which the fleet goes to sleep. What was paid for is
// delivered, once; what cannot be is refunded, by the run itself.
func TestRefusedForMinutes(t *testing.T) {
	const least = 5 * time.Minute // of waits that are half an hour in the mean
	unavailable := aitask.Unavailable
	for _, tc := range []struct {
		road      string
		functions []string
		opt       virtual.Options
		status    analysis.Status
		why       reason.Code
	}{
		{road: flags.RoadQueue, status: analysis.Ready,
			functions: []string{names.FnBegin, names.FnWake, names.FnPrecheck, names.FnQueueJob, names.FnAwaitPose,
				names.FnFindings, names.FnCoaching, names.FnRender, names.FnDeliver}},
		{road: flags.RoadHTTP, status: analysis.Ready,
			functions: []string{names.FnPrecheck, names.FnProbe, names.FnPostJob, names.FnAwaitPose}},
		{road: flags.RoadQueue, status: analysis.Failed, why: reason.ModelUnavailable, functions: []string{names.FnSettle},
			opt: virtual.Options{Model: func(context.Context, string) virtual.ModelAnswer {
				return virtual.ModelAnswer{Refuse: &unavailable}
			}}},
	} {
		for _, fn := range tc.functions {
			t.Run(tc.road+" "+fn, func(t *testing.T) {
				r := &closed{function: fn}
				opt := tc.opt
				opt.Invocations = r.fault
				begun(t, opt, func(ctx context.Context, c *virtual.Cloud, id string) {
					c.SetParameter("/flags/pose_road", tc.road)
					c.SetParameter("/model/findings", virtual.PaidModel)
					c.SetParameter("/model/coaching", virtual.PaidModel)
					c.Schedule(names.FnReconcile, names.ReconcilePeriod)
					start := time.Now()
					s := ended(ctx, t, c, id, names.AnalysingDeadline)
					expect(t, c, s, tc.status, tc.why)
					if calls := len(c.ModelCalls()); tc.status == analysis.Ready && calls != 2 {
						t.Errorf("%d model calls, want 2", calls)
					}
					if took := s.Row.EndedAt.Sub(start); took < least {
						t.Errorf("ended after %s, by somebody else", took)
					}
					h, err := c.Life().Get(ctx, id)
					if err != nil || h.Flags[flags.PoseRoad] != tc.road {
						t.Errorf("road %q, %v; want %q", h.Flags[flags.PoseRoad], err, tc.road)
					}
				})
				if r.refused != statemachine.RefusedAttempts {
					t.Errorf("%s was refused %d times, want %d", fn, r.refused, statemachine.RefusedAttempts)
				}
			})
		}
	}
}

var atOnce = flag.Int("refused.analyses", 30, "analyses that TestAnAccountOfTen begins at once")

// account gives so many places to all functions of the analysis together, as a new
// account has ten.
type account struct {
	places int

	mu            sync.Mutex
	taken         int
	refused, most int
	counted       map[string]bool
}

func newAccount(places int) *account {
	a := &account{places: places, counted: map[string]bool{}}
	for _, f := range statemachine.Functions(statemachine.Analysis) {
		a.counted[f.Name] = true
	}
	return a
}

func (a *account) take(virtual.Invocation) virtual.InvokeFault {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.taken == a.places {
		a.refused++
		return virtual.InvokeFault{Kind: virtual.InvokeRefused}
	}
	a.taken++
	a.most = max(a.most, a.taken)
	return virtual.InvokeFault{}
}

func (a *account) free(fn string, _, _ []byte, _ string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counted[fn] {
		a.taken--
	}
}

// TestAnAccountOfTen: more analyses begin at once than a new account has places for,
// and their texts alone keep all places taken for minutes. Every one is delivered.
func TestAnAccountOfTen(t *testing.T) {
	const places, text = 10, time.Minute
	analyses := *atOnce
	a := newAccount(places)
	opt := virtual.Options{Seed: 7, Invocations: a.take, Answered: a.free,
		Model: func(context.Context, string) virtual.ModelAnswer { return virtual.ModelAnswer{After: text} }}
	virtual.Run(t, opt, func(c *virtual.Cloud) {
		ctx := virtual.As(context.Background(), "test")
		if err := c.Grant(ctx, analyses); err != nil {
			t.Error(err)
			return
		}
		c.SetParameter("/model/findings", virtual.PaidModel)
		c.SetParameter("/model/coaching", virtual.PaidModel)
		c.Schedule(names.FnReconcile, names.ReconcilePeriod)
		start := time.Now()
		ids := submitBoth(ctx, t, c, analyses)
		ends, last := map[string]int{}, time.Duration(0)
		for _, id := range ids {
			row := awaited(ctx, t, c, id)
			ends[strings.TrimSpace(fmt.Sprint(row.Status, " ", row.Reason))]++
			last = max(last, row.EndedAt.Sub(start))
		}
		calls := len(c.ModelCalls())
		t.Logf("%d analyses at once, %d places: %d calls refused, ends %v, the last after %s, %d model calls",
			analyses, places, a.refused, ends, last.Truncate(time.Second), calls)
		if ends[string(analysis.Ready)] != analyses || calls != 2*analyses {
			t.Errorf("ends %v, %d model calls; want all %d delivered with %d calls", ends, calls, analyses, 2*analyses)
		}
	})
	if a.most != places || a.refused < 3*analyses {
		t.Errorf("at most %d places taken, %d calls refused: no test of anything", a.most, a.refused)
	}
}

// awaited waits for the end of an analysis, at most until its deadline.
func awaited(ctx context.Context, t *testing.T, c *virtual.Cloud, id string) analysis.Row {
	t.Helper()
	for begun := time.Now(); ; wait(ctx, 20*time.Second) {
		row, err := c.Life().Get(ctx, id)
		if err != nil {
			t.Error(err)
		}
		if err != nil || row.Status.Ended() || time.Since(begun) > 2*names.AnalysingDeadline {
			return row
		}
	}
}
