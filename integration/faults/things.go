package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
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
	switch kind := []string{doRestart, doRestart, doDuplicate, doForeign, doForeign, doAbort, doCancel, doConfirm, doChoose}[d.IntN(9, "what "+key)]; kind {
	case doRestart:
		if w.plan.event(kind, key, 1) {
			op := virtual.As(context.Background(), "operator/"+key) // who may be too late
			_, _ = c.Call(op, names.FnOperator, map[string]any{"action": "restart", "operator": "op", "analysis_id": id, "attempt": row.Attempt})
		}
	case doDuplicate:
		if w.plan.event(kind, key, 1) {
			_ = c.StartExecution(ctx, id, row.Attempt) // as a late duplicate of the confirm does
		}
	case doConfirm: // an app that never saw the answer to its confirm
		if w.plan.event(kind, key, 1) {
			_, _ = c.API(ctx, virtual.Ask{Route: routeConfirm, Analysis: id})
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
			w.ask(ctx, c, virtual.Ask{Route: routeCancel, Analysis: id})
		}
	case doChoose:
		if w.plan.event(kind, key, 1) {
			w.choose(c, key)
		}
	}
}

// redrive is an operator who redrives every execution of an analysis that did not
// succeed, once the analysis has its end: what they should have done was nothing.
func (w *world) redrive(c *virtual.Cloud, id, key string) {
	ctx := virtual.As(context.Background(), "client-redrive/"+key)
	w.untilEnd(ctx, id, "redrives "+key)
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

// untilEnd waits for the end of an analysis, for one to three hours; false if it had
// none by then.
func (w *world) untilEnd(ctx context.Context, id, who string) bool {
	for range 60 {
		pause(ctx, w.plan.dice.Between(time.Minute, 3*time.Minute, who))
		if w.obs.row(id).Status.Ended() {
			return true
		}
	}
	return false
}
