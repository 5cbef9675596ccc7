package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
)

// thing is one thing that happens to a running analysis, beside the faults.
func (w *world) thing(c *virtual.Cloud, id, key string) {
	ctx := virtual.As(context.Background(), "client-op/"+key)
	d := w.plan.dice
	within := 12 * time.Minute
	if d.Chance(0.4, "early "+key) { // before a worker is up
		within = 90 * time.Second
	}
	pause(ctx, d.Between(0, within, "when "+key))
	steps := sfn.NewFromConfig(c.Config)
	row := w.obs.row(id)
	switch kind := []string{doRestart, doRestart, doDuplicate, doForeign, doForeign, doAbort, doCancel, doConfirm}[d.IntN(8, "what "+key)]; kind {
	case doRestart:
		if w.plan.event(kind, key, 1) {
			_, _ = c.Life().Restart(ctx, steps, c.Machine, id, row.Attempt) // an operator may be too late
		}
	case doDuplicate:
		if w.plan.event(kind, key, 1) {
			_ = c.StartExecution(ctx, id, row.Attempt) // as a late duplicate of the confirm does
		}
	case doConfirm: // an app that never saw the answer to its confirm
		if w.plan.event(kind, key, 1) {
			_ = c.Confirm(ctx, id)
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

// redrive is an operator who redrives every execution of an analysis that did not
// succeed, once the analysis has its end: what they should have done was nothing.
func (w *world) redrive(c *virtual.Cloud, id, key string) {
	ctx := virtual.As(context.Background(), "client-redrive/"+key)
	d := w.plan.dice
	for range 60 {
		pause(ctx, d.Between(time.Minute, 3*time.Minute, "redrives "+key))
		if w.obs.row(id).Status.Ended() {
			break
		}
	}
	steps := sfn.NewFromConfig(c.Config)
	for _, name := range w.executionsOf(id) {
		arn, err := analysis.ExecutionARN(c.Machine, name)
		if err != nil {
			continue
		}
		token := "redrive-" + key                                                                                                   // the SDK would make a random one
		if _, err := steps.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: &arn, ClientToken: &token}); err == nil { // else it succeeded, or still runs
			w.mu.Lock()
			w.redriven++
			w.mu.Unlock()
		}
	}
}

// executionsOf names the executions that an analysis may have had.
func (w *world) executionsOf(id string) []string {
	var out []string
	for n := range w.obs.row(id).Attempt {
		out = append(out, analysis.ExecutionName(id, n+1))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.planted {
		if strings.Contains(name, id) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// grant gives the athlete their credits; sometimes two operators do, who mean the
// same grant.
func (w *world) grant(ctx context.Context, c *virtual.Cloud, credits int) bool {
	var both sync.WaitGroup
	if w.plan.event(doTwoGrants, "", 0.25) {
		again := virtual.As(context.Background(), "client-operator/again")
		both.Go(func() { w.insist(again, func() error { return c.Grant(again, credits) }) })
	}
	ok := w.insist(ctx, func() error { return c.Grant(ctx, credits) })
	both.Wait()
	return ok
}

// pay is a shop that tells of a payment and of its refund, each more than once and
// in any order.
func (w *world) pay(c *virtual.Cloud) {
	d := w.plan.dice
	var told sync.WaitGroup
	for n := range 4 {
		told.Go(func() {
			key := fmt.Sprint("shop/", n)
			ctx := virtual.As(context.Background(), "client-"+key)
			pause(ctx, time.Duration(d.IntN(2, "tells "+key))*time.Second) // at once, or nearly: they must meet
			e := credit.PaymentEvent{EventID: fmt.Sprint("event-", n/2), BodyHash: fmt.Sprint("body-", n/2), Kind: credit.PaymentCompleted,
				PaymentID: "payment-1", AthleteID: virtual.Athlete, Credits: bought}
			if n >= 2 {
				e.Kind, e.Credits = credit.PaymentRefunded, refunded
			}
			w.insist(ctx, func() error { _, err := c.Ledger().Pay(ctx, e); return err })
		})
	}
	told.Wait()
}

// What the shop sells, and what it takes back of that.
const (
	bought   = 3
	refunded = 2
)
