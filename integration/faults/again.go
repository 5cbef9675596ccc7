package faults

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// rerun is an athlete who has an analysis that ended made once more, for a credit of
// its own; sometimes with two taps. Things happen to the new one too.
func (w *world) rerun(c *virtual.Cloud, id, key string) {
	ctx := virtual.As(context.Background(), "client-rerun/"+key)
	d := w.plan.dice
	if !w.untilEnd(ctx, id, "reruns "+key) {
		return
	}
	ask := virtual.Ask{Route: routeRerun, Analysis: id, Key: "again"}
	var both sync.WaitGroup
	if d.Chance(0.4, "reruns twice "+key) {
		twin := virtual.As(context.Background(), "client-rerun-twin/"+key)
		both.Go(func() { w.reserve(twin, c, key+"/again", ask) })
	}
	again := w.reserve(ctx, c, key+"/again", ask)
	both.Wait()
	if again.AnalysisID != "" && d.Chance(0.5, "things of the rerun "+key) {
		w.thing(c, again.AnalysisID, key+"/9")
	}
}

// redo are operators who have the report of a delivered analysis made again, in one
// version, one or two of them at about one time, each until a run of theirs says that
// it is there; sometimes without a word to the athlete.
func (w *world) redo(c *virtual.Cloud, id, key string) {
	ctx := virtual.As(context.Background(), "client-redo/"+key)
	d := w.plan.dice
	if !w.untilEnd(ctx, id, "redoes "+key) || w.obs.row(id).Status != analysis.Ready {
		return
	}
	told := !d.Chance(w.quiet, "quiet "+key)
	if !told {
		w.obs.mu.Lock()
		w.obs.quiet[id] = true
		w.obs.mu.Unlock()
	}
	var all sync.WaitGroup
	for n := range 1 + d.IntN(2, "operators "+key) {
		all.Go(func() { w.reportAgain(c, id, fmt.Sprint(key, "-", n), told) })
	}
	all.Wait()
}

const redoVersion = "v2"

func (w *world) reportAgain(c *virtual.Cloud, id, who string, told bool) {
	ctx := virtual.As(context.Background(), "client-redo-"+who)
	pause(ctx, w.plan.dice.Between(0, 20*time.Second, "begins to redo "+who))
	steps := sfn.NewFromConfig(c.Config)
	spec := backfill.Spec{Effect: names.EffectReport, Version: redoVersion, IDs: []string{id}, Notice: told}
	for n := range 4 {
		run := fmt.Sprintf("redo-%s-%d", who, n)
		if err := c.StartBatch(ctx, statemachine.Backfill, run, spec); err != nil {
			pause(ctx, time.Minute) // it may have been started all the same
		}
		if w.plan.event(doRelease, run, 0.25) {
			w.release(ctx, c, run)
			continue
		}
		var state sfntypes.ExecutionStatus
		for range 60 {
			pause(ctx, 2*time.Minute)
			x, err := steps.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: aws.String(c.BatchARN(statemachine.Backfill, run))})
			if err != nil {
				continue
			}
			if state = x.Status; state != sfntypes.ExecutionStatusRunning {
				break
			}
		}
		if state != sfntypes.ExecutionStatusSucceeded {
			continue
		}
		w.madeAgain(run, id)
		return
	}
}

// release is an operator who takes a run for dead: they stop its execution, which
// does not stop a worker, and release its lease as soon as that is granted, so that
// the next run can begin.
func (w *world) release(ctx context.Context, c *virtual.Cloud, run string) {
	pause(ctx, w.plan.dice.Between(0, 3*time.Minute, "stops "+run))
	arn := c.BatchARN(statemachine.Backfill, run)
	w.insist(ctx, func() error {
		_, err := sfn.NewFromConfig(c.Config).StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: &arn})
		return err
	})
	for n := range 30 {
		op := virtual.As(context.Background(), fmt.Sprint("operator/release-", run, "/", n))
		_, err := c.Call(op, names.FnOperator, map[string]any{"action": "release", "operator": "op", "effect": names.EffectReport, "run": run})
		if err == nil || strings.Contains(err.Error(), "does not have") { // another has the effect: this one never began
			return
		}
		pause(ctx, 30*time.Second)
	}
}

// madeAgain looks whether a run that succeeded did what it was for.
func (w *world) madeAgain(run, id string) {
	if _, ok := w.obs.row(id).Revised(names.RevisionName(names.EffectReport, redoVersion)); !ok {
		w.obs.tell("I9", "run %s says that the report of %s was made again; it was not", run, id)
	}
}
