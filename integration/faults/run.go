package faults

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

// Result is what one schedule came to.
type Result struct {
	Seed       uint64
	Hash       string
	Fired      []Fired
	Violations []Violation
	Requests   int
	Virtual    time.Duration           // how long the world lived
	Ends       map[analysis.Status]int // by end
	Executions int
	Calls      int // of the paid model
	Extra      int // of them, beyond the first of a task
	Lines      []string
}

// Options of a schedule, beside its seed.
type Options struct {
	Off  Guard          // switched off; the zero Guard: none
	Only map[Fired]bool // nothing else happens; nil: all that the seed says
	Keep bool           // keep the log's lines
}

// world is one schedule while it runs.
type world struct {
	plan    *Plan
	obs     *observer
	passes  *passes
	mu      sync.Mutex
	planted map[string]bool // executions that the schedule itself started beside the system
	workers map[string]*virtual.Proc
	wanted  map[string]bool // analyses that a client holds an id of
}

// Run plays one schedule on an empty database.
func Run(t *testing.T, db *dynamotest.Server, seed uint64, opt Options) Result {
	w := &world{plan: NewPlan(seed, opt.Only), obs: newObserver(), passes: newPasses(), planted: map[string]bool{}, workers: map[string]*virtual.Proc{}, wanted: map[string]bool{}}
	d := w.plan.dice
	res := Result{Seed: seed, Ends: map[analysis.Status]int{}}
	start := time.Time{}
	w.obs.healthy = w.healthy
	vo := virtual.Options{
		Seed: seed, Faults: w.plan.request, Invocations: w.plan.invocation, Events: w.plan.events, Skew: w.plan.skew,
		Observe: w.obs.observe, Answered: w.obs.answered, Model: w.model, Keep: opt.Keep,
		Override: map[string]func(*virtual.Cloud) lambda.Handler{names.FnPrecheck: w.precheck},
		Workers:  d.IntN(2, "workers"), Poll: 5 * time.Minute,
		Vision: func(p *virtual.Proc) poseworker.Vision {
			// Odd times, so that a chunk and a renewal never fall on one instant: which
			// of two goroutines of a process then comes first is nobody's to say.
			each := []time.Duration{503 * time.Millisecond, 3017 * time.Millisecond, 25013 * time.Millisecond, 91007 * time.Millisecond}[d.IntN(4, "chunk")]
			w.mu.Lock()
			w.workers[p.Name] = p
			w.mu.Unlock()
			return sight{virtual.Sight{Chunks: 2 + d.IntN(6, "chunks"), Each: each}, p, w.passes}
		},
		After: func(c *virtual.Cloud) {
			w.obs.check(c, w.planted)
			w.finish(c, &res)
			res.Virtual = time.Since(start)
		},
	}
	opt.Off.apply(&vo)
	virtual.RunOn(t, db, vo, func(c *virtual.Cloud) {
		start = time.Now()
		w.play(c)
	})
	res.Fired = w.plan.Fired()
	res.Violations = w.obs.found
	return res
}

// healthy reports whether a worker lives and was never stopped.
func (w *world) healthy(worker string) bool {
	w.mu.Lock()
	p := w.workers[worker]
	w.mu.Unlock()
	return p != nil && !p.Dead() && !w.plan.stopped(worker)
}

// finish reads what the world came to.
func (w *world) finish(c *virtual.Cloud, res *Result) {
	for id, by := range w.passes.overlap {
		if by > maxOverlap {
			w.obs.violation("I6", "two passes of %s went on together for %s", id, by)
		}
	}
	for id := range w.wanted {
		if _, ok := w.obs.rows[id]; !ok {
			w.obs.violation("I9", "a client was told that %s exists; it does not", id)
		}
	}
	for _, r := range w.obs.rows {
		res.Ends[r.Status]++
		res.Executions += r.Attempt
	}
	res.Executions += len(w.planted)
	perKey := map[string]int{}
	for _, m := range c.ModelCalls() {
		perKey[m.Key]++
	}
	for _, n := range perKey {
		res.Calls += n
		res.Extra += n - 1
	}
	res.Hash, res.Requests, res.Lines = c.Gate.Hash(), c.Gate.Requests, c.Gate.Lines()
}

// limit is how long a world may live: past the last deadline and its slack.
const limit = names.ReservedDeadline + names.QueuedDeadline + names.AnalysingDeadline + 2*deadlineSlack

// play is the schedule: athletes submit, things happen to their analyses, and
// the world goes on until everything has its end, or ought to have.
func (w *world) play(c *virtual.Cloud) {
	ctx, cancel := context.WithCancel(virtual.As(context.Background(), "client"))
	defer cancel()
	d := w.plan.dice
	c.SetParameter("/model/findings", virtual.PaidModel)
	c.SetParameter("/model/coaching", virtual.PaidModel)
	if d.Chance(0.35, "road") {
		c.SetParameter("/flags/pose_road", flags.RoadHTTP)
	}
	c.Schedule(names.FnReconcile, names.ReconcilePeriod)
	n := 1 + d.IntN(2, "analyses")
	credits := n
	if n > 1 && w.plan.event(doBroke, "", 0.2) {
		credits--
	}
	if !w.insist(ctx, func() error { return c.Grant(ctx, credits) }) {
		w.obs.violation("I9", "a grant was not entered in an hour")
		return
	}
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() { w.client(c, fmt.Sprintf("key-%d", i)) })
	}
	clients.Wait()
	end := time.Now().Add(limit)
	for w.obs.open() && time.Now().Before(end) {
		pause(ctx, 30*time.Second)
	}
	c.Gate.Calm()
	pause(ctx, 4*names.ReconcilePeriod) // the sweep comes by, without faults
	if w.obs.open() {                   // the calm may yet bring it to its end, too late
		return
	}
	pause(ctx, 20*time.Minute) // longer than any late answer or invocation
}

// client is an athlete with one analysis.
func (w *world) client(c *virtual.Cloud, key string) {
	ctx := virtual.As(context.Background(), "client/"+key)
	d := w.plan.dice
	pause(ctx, d.Between(0, time.Minute, "arrives "+key))
	var twin sync.WaitGroup
	if w.plan.event(doTwoClients, key, 0.2) { // the app was tapped twice
		tctx := virtual.As(context.Background(), "client-twin/"+key)
		twin.Go(func() { w.submit(tctx, c, key) })
	}
	id, ok := w.submit(ctx, c, key)
	twin.Wait()
	if !ok {
		return
	}
	if !w.plan.event(doNoStart, key, 0.1) { // else the reconciler must
		w.insist(ctx, func() error { return c.StartExecution(ctx, id, 1) })
	}
	var things sync.WaitGroup
	if w.plan.event(doSecondOwner, key, 0.25) {
		things.Go(func() {
			ctx := virtual.As(context.Background(), "client-queue/"+key)
			when := d.Between(5*time.Second, 50*time.Second, "second "+key) // beside the first, before a worker is up
			if d.Chance(0.4, "second later "+key) {
				when = d.Between(time.Minute, 5*time.Minute, "second "+key)
			}
			pause(ctx, when)
			_ = c.SendClaimCheck(ctx, id)
		})
	}
	for k := range d.IntN(5, "things "+key) {
		things.Go(func() { w.thing(c, id, fmt.Sprintf("%s/%d", key, k)) })
	}
	things.Wait()
}

// submit creates, uploads and confirms. An athlete without a credit is told so.
func (w *world) submit(ctx context.Context, c *virtual.Cloud, key string) (id string, ok bool) {
	if w.plan.event(doNoUpload, key, 0.07) {
		w.insist(ctx, func() (err error) { id, err = c.Create(ctx, key); return err })
		return id, false
	}
	done := w.insist(ctx, func() (err error) { id, err = c.Submit(ctx, key); return err })
	if done && id != "" {
		w.mu.Lock()
		w.wanted[id] = true
		w.mu.Unlock()
	}
	return id, done && id != ""
}

// thing is one thing that happens to a running analysis, beside the faults.
func (w *world) thing(c *virtual.Cloud, id, key string) {
	ctx := virtual.As(context.Background(), "client-op/"+key)
	d := w.plan.dice
	pause(ctx, d.Between(0, 12*time.Minute, "when "+key))
	steps := sfn.NewFromConfig(c.Config)
	row := w.obs.row(id)
	switch kind := []string{doRestart, doRestart, doDuplicate, doForeign, doForeign, doAbort, doCancel}[d.IntN(7, "what "+key)]; kind {
	case doRestart:
		if w.plan.event(kind, key, 1) {
			_, _ = c.Life().Restart(ctx, steps, c.Machine, id, row.Attempt) // an operator may be too late
		}
	case doDuplicate:
		if w.plan.event(kind, key, 1) {
			_ = c.StartExecution(ctx, id, row.Attempt) // as a late duplicate of the confirm does
		}
	case doForeign: // incident A: somebody else drives the same analysis
		if w.plan.event(kind, key, 1) {
			name := fmt.Sprintf("foreign-%s", analysis.ExecutionName(id, row.Attempt)) + "-" + key[len(key)-1:]
			w.mu.Lock()
			w.planted[name] = true
			w.mu.Unlock()
			in := fmt.Sprintf(`{"analysis_id":%q,"attempt":%d}`, id, row.Attempt)
			_, _ = steps.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &c.Machine, Name: &name, Input: &in})
		}
	case doAbort:
		if arn, err := analysis.ExecutionARN(c.Machine, row.Holder()); err == nil && w.plan.event(kind, key, 0.5) {
			_, _ = steps.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: aws.String(arn)})
		}
	case doCancel:
		if w.plan.event(kind, key, 0.5) {
			_, _ = c.Ends().Cancel(ctx, id, "cancel#"+virtual.Athlete)
		}
	}
}

// insist calls fn until it succeeds, as an app does, for up to an hour. What
// the answer of a client in the wrong is, is an answer too.
func (w *world) insist(ctx context.Context, fn func() error) bool {
	for range 120 {
		err := fn()
		if err == nil || final(err) {
			return true
		}
		pause(ctx, 30*time.Second)
	}
	return false
}

// precheck is the precheck of this world: it looks at nothing, and refuses the
// footage that the seed says.
func (w *world) precheck(*virtual.Cloud) lambda.Handler {
	return handler.New(names.FnPrecheck, func(ctx context.Context, in names.Run) (names.VerdictOut, error) {
		if w.plan.event(doReject, in.AnalysisID, 0.1) {
			return names.VerdictOut{Verdict: names.VerdictReject, Reason: string(reason.NotBowling)}, nil
		}
		return names.VerdictOut{Verdict: names.VerdictPass}, nil
	})
}

// model is how the paid model answers: mostly in seconds; sometimes in minutes,
// as on the day of incident A; sometimes not at all.
func (w *world) model(_ context.Context, claim string) virtual.ModelAnswer {
	d := w.plan.dice
	a := virtual.ModelAnswer{After: d.Between(2*time.Second, 20*time.Second, "model "+claim)}
	if w.plan.event(doSlowModel, claim, 0.15) {
		a.After = d.Between(90*time.Second, 320*time.Second, "slow model "+claim)
	}
	if w.plan.event(doLostModel, claim, w.plan.rate) {
		f := []aitask.Failure{aitask.Throttled, aitask.NoAnswer, aitask.Unknown}[d.IntN(3, "refusal "+claim)]
		a.Refuse = &f
	}
	return a
}

// pause lets virtual time pass.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
