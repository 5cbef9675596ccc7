package faults

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/flags"
	"fastbowlinglab/shared/names"
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
	OfOne      int  // executions of the analysis that had most
	Redriven   int  // executions, after their analysis had its end
	HTTP       bool // the jobs went the HTTP road
	Calls      int  // of the paid model
	Extra      int  // of them, beyond the first of a task
	Takeovers  int  // of their claims
	Unsent     int  // claims that the model never saw a request of
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
	wanted  map[string]bool    // analyses that a client holds an id of
	choices map[int64]channels // of the channels that were told to stand, by version
	asked   map[string]string  // what clients asked for, by key: the id that they were answered with, if any
	read    map[string]string  // files of reports, as first read, by analysis, revision and kind

	redoes   float64     // share of analyses whose reports are made again
	quiet    float64     // of those, share of which nobody is told
	redriven int         // executions, after their analysis had its end
	gone     atomic.Bool // the athlete has asked to be deleted
	granted  int64
	paid     bool // the shop sold and took back
}

func newWorld(seed uint64, only map[Fired]bool) *world {
	w := &world{plan: NewPlan(seed, only), obs: newObserver(), passes: newPasses(), planted: map[string]bool{}, workers: map[string]*virtual.Proc{}, wanted: map[string]bool{}, asked: map[string]string{}, choices: map[int64]channels{}, read: map[string]string{}}
	w.redoes, w.quiet = Guard{}.again()
	w.obs.atWork = w.atWork
	return w
}

// Run plays one schedule on an empty database.
func Run(t *testing.T, db *dynamotest.Server, seed uint64, opt Options) Result {
	w := newWorld(seed, opt.Only)
	w.redoes, w.quiet = opt.Off.again()
	d := w.plan.dice
	res := Result{Seed: seed, Ends: map[analysis.Status]int{}}
	start := time.Time{}
	vo := virtual.Options{
		Seed: seed, Faults: w.plan.request, Invocations: w.plan.invocation, Events: w.plan.events, Skew: w.plan.skew,
		Observe: w.obs.observe, Answered: w.obs.answered, Model: w.model, Keep: opt.Keep,
		Override: map[string]func(*virtual.Cloud) lambda.Handler{names.FnPrecheck: w.precheck},
		Workers:  workersBeside(w.plan), Poll: 5 * time.Minute, Budget: modelLimit,
		Vision: func(p *virtual.Proc) poseworker.Vision {
			each := []time.Duration{503 * time.Millisecond, 3017 * time.Millisecond, 25013 * time.Millisecond, 91007 * time.Millisecond}[d.IntN(4, "chunk")]
			w.mu.Lock()
			w.workers[p.Name] = p
			w.mu.Unlock()
			return sight{virtual.Sight{Chunks: 2 + d.IntN(6, "chunks"), Each: each}, p, w.passes, w.source}
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

// workersBeside is how many workers there are beside those that are wanted: where
// one may be stopped, there is another to take over.
func workersBeside(p *Plan) int {
	if p.slow() {
		return 1
	}
	return p.dice.IntN(2, "workers")
}

// http reports whether the jobs of this world go the HTTP road.
func (w *world) http() bool { return w.plan.dice.Chance(0.35, "road") }

// atWork reports whether a worker that was never stopped goes on with its pass of an
// analysis. One that has ended it, and whose last write is slow, may be taken over.
func (w *world) atWork(worker, id string) bool {
	w.mu.Lock()
	p := w.workers[worker]
	w.mu.Unlock()
	return p != nil && !p.Dead() && !w.plan.stopped(worker) && w.passes.goOn(id, p)
}

// finish reads what the world came to.
func (w *world) finish(c *virtual.Cloud, res *Result) {
	for id, by := range w.passes.overlap {
		if by > maxOverlap {
			w.obs.violation("I6", "two passes of %s went on together for %s", id, by)
		}
	}
	w.bought(c)
	if len(w.obs.rows) > len(w.asked) {
		w.obs.violation("I3", "there are %d analyses, and %d were asked for", len(w.obs.rows), len(w.asked))
	}
	for id := range w.wanted {
		if _, ok := w.obs.rows[id]; !ok {
			w.obs.violation("I9", "a client was told that %s exists; it does not", id)
		}
	}
	for id, r := range w.obs.rows {
		res.Ends[r.Status]++
		n := len(w.executionsOf(id))
		res.Executions += n
		res.OfOne = max(res.OfOne, n)
	}
	res.Redriven = w.redriven
	for _, b := range w.obs.bills {
		if b.calls == 0 { // nobody got as far as the model
			continue
		}
		res.Calls += b.calls
		res.Extra += b.extra()
		res.Takeovers += b.takeovers
		res.Unsent += b.unsent
	}
	res.HTTP = w.http()
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
	if w.http() {
		c.SetParameter("/flags/pose_road", flags.RoadHTTP)
	}
	c.Schedule(names.FnReconcile, names.ReconcilePeriod)
	w.neighbour(ctx, c)
	n := 1 + d.IntN(2, "analyses")
	credits := n
	if n > 1 && w.plan.event(doBroke, "", 0.4) {
		credits--
	}
	w.granted = int64(credits)
	if !w.grant(ctx, c, credits) {
		w.obs.violation("I9", "a grant was not entered in an hour")
		return
	}
	var clients sync.WaitGroup
	if credits == n && w.plan.event(doPayment, "", 0.3) {
		w.paid = true
		clients.Go(func() { w.pay(c) })
	}
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
	w.shown(ctx, c)
	w.exported(ctx, c)
	if w.obs.open() { // the calm may yet bring it to its end, too late
		return
	}
	pause(ctx, 20*time.Minute) // longer than any late answer or invocation
}
