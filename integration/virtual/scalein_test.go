package virtual_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/functions/reconcile"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/names"
)

// nobody owes notices: they are not the matter here.
type nobody struct{}

func (nobody) Sweep(context.Context, int) (int, error) { return 0, nil }

// careless is the reconciler whose fleet does not look a second time.
func careless(c *virtual.Cloud) lambda.Handler {
	return reconcile.New(reconcile.Deps{Life: c.Life(), Ends: c.Ends(), Notices: nobody{},
		Fleet: fleet.Fleet{DB: c.DB, ECS: ecs.NewFromConfig(c.Config), Effects: names.Effects.Name,
			Cluster: names.Cluster, Service: names.PoseService, Retry: c.Retry, NoSecondRead: true},
		Steps: sfn.NewFromConfig(c.Config), MachineARN: c.Machine, Queue: sqs.NewFromConfig(c.Config), QueueURL: virtual.QueueURL})
}

// wakeWait is the longest that a job may wait for workers.
const wakeWait = names.WakeTime

// rounds lets work arrive in twenty worlds, at a random moment of the three seconds
// that the reconciler takes to scale in, and counts the jobs that waited for
// longer than one wake.
func rounds(t *testing.T, override map[string]func(*virtual.Cloud) lambda.Handler) (late int) {
	for round := range 20 {
		rnd := rand.New(rand.NewPCG(uint64(round), 59))
		offset := time.Duration(rnd.IntN(3000)) * time.Millisecond
		opt := virtual.Options{Seed: uint64(round), Override: override, Faults: func(call virtual.Call) virtual.Decision {
			if strings.HasPrefix(call.Actor, names.FnReconcile) {
				return virtual.Decision{Fault: virtual.Late, For: 400 * time.Millisecond}
			}
			return virtual.Decision{}
		}}
		virtual.Run(t, opt, func(c *virtual.Cloud) {
			ctx, cancel := context.WithCancel(virtual.As(context.Background(), "test"))
			defer cancel()
			if err := c.Grant(ctx, 3); err != nil {
				t.Error(err)
				return
			}
			first, err := c.Submit(ctx, "first") // a worker is there, and idle afterwards
			if err == nil {
				err = c.StartExecution(ctx, first, 1)
			}
			if err != nil {
				t.Error(err)
				return
			}
			for !endedNow(ctx, t, c, first) {
				wait(ctx, 10*time.Second)
			}
			wait(ctx, time.Minute)
			reconciled(ctx, t, c, 0) // finds nothing to do, for the first time
			done := make(chan struct{})
			go func() { defer close(done); reconciled(ctx, t, c, 1) }()
			wait(ctx, offset)
			begun := time.Now()
			second, err := c.Submit(ctx, "second")
			if err == nil {
				err = c.StartExecution(ctx, second, 1)
			}
			if err != nil {
				t.Error(err)
			}
			<-done
			c.Schedule(names.FnReconcile, names.ReconcilePeriod)
			waited := waited(ctx, t, c, second, begun)
			if waited > wakeWait {
				late++
			}
			t.Logf("round %d, %4d ms into it: waited %s", round, offset.Milliseconds(), waited.Truncate(time.Second))
			for !endedNow(ctx, t, c, second) {
				wait(ctx, 10*time.Second)
			}
		})
	}
	return late
}

func reconciled(ctx context.Context, t *testing.T, c *virtual.Cloud, n int) {
	if _, err := c.Call(virtual.As(ctx, fmt.Sprintf("%s/by-hand/%d", names.FnReconcile, n)), names.FnReconcile, struct{}{}); err != nil {
		t.Error(err)
	}
}

// passTime is how long a pass of this world's workers takes.
const passTime = 30 * time.Second

// waited gives how long a job waited for workers: one that claimed it may have been
// stopped, and it waits again.
func waited(ctx context.Context, t *testing.T, c *virtual.Cloud, id string, since time.Time) time.Duration {
	for time.Since(since) < time.Hour {
		if j, err := c.Jobs().Get(ctx, id); err == nil && j.State.Ended() {
			return j.EndedAt.Sub(since) - passTime
		}
		wait(ctx, 5*time.Second)
	}
	t.Error("never done")
	return time.Hour
}

// Work arrives at any moment of a scale-in: no job waits for longer than one
// wake. Without the second read some do, so the test can fail.
func TestWorkArrivesDuringScaleIn(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a quarter of a minute")
	}
	t.Run("SecondRead", func(t *testing.T) {
		if late := rounds(t, nil); late != 0 {
			t.Errorf("%d of 20 jobs waited for longer than %s", late, wakeWait)
		}
	})
	t.Run("WithoutIt", func(t *testing.T) {
		late := rounds(t, map[string]func(*virtual.Cloud) lambda.Handler{names.FnReconcile: careless})
		if t.Logf("%d of 20 jobs waited for longer than %s", late, wakeWait); late == 0 {
			t.Error("no job waited: the race was not met, and the guard not tested")
		}
	})
}

// A claim check says nothing that runs out: a job whose worker comes after two
// days still runs.
func TestDwellOfTwoDays(t *testing.T) {
	const dwell = 48 * time.Hour
	begun(t, virtual.Options{ColdStart: dwell}, func(ctx context.Context, c *virtual.Cloud, id string) {
		c.Schedule(names.FnReconcile, names.ReconcilePeriod)
		start := time.Now()
		s := ended(ctx, t, c, id, 3*24*time.Hour)
		expect(t, c, s, analysis.Ready, "")
		job, err := c.Jobs().Get(ctx, id)
		if err != nil {
			t.Error(err)
		}
		t.Logf("claimed after %s", job.ClaimedAt.Sub(start).Truncate(time.Second))
		if waited := job.ClaimedAt.Sub(start); waited < dwell {
			t.Errorf("claimed after %s: no dwell", waited)
		}
	})
}
