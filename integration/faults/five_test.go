package faults

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// five plays five executions of one analysis at once, against a model that takes
// 90 to 280 s (a call may take 5 s less than 300) and loses the answers to these
// claims. It gives the calls by task
// and the takeovers.
func five(t *testing.T, seed uint64, off func(*virtual.Options), lost func(claim string) bool) (calls map[string]int, takeovers int) {
	d := Dice(seed)
	calls = map[string]int{}
	obs := newObserver()
	obs.atWork = func(string, string) bool { return false }
	opt := virtual.Options{Seed: seed, Observe: obs.observe,
		Vision: func(*virtual.Proc) poseworker.Vision { return virtual.Sight{Chunks: 2, Each: time.Second} },
		Model: func(_ context.Context, claim string) virtual.ModelAnswer {
			a := virtual.ModelAnswer{After: d.Between(90*time.Second, 280*time.Second, claim)}
			if lost(claim) {
				f := aitask.Unknown
				a.Refuse = &f
			}
			return a
		}}
	off(&opt)
	virtual.Run(t, opt, func(c *virtual.Cloud) {
		ctx := virtual.As(context.Background(), "client")
		c.SetParameter("/model/findings", virtual.PaidModel)
		c.SetParameter("/model/coaching", virtual.PaidModel)
		c.Schedule(names.FnReconcile, names.ReconcilePeriod)
		if err := c.Grant(ctx, 1); err != nil {
			t.Error(err)
			return
		}
		id, err := c.Submit(ctx, "key")
		if err != nil {
			t.Error(err)
			return
		}
		var all sync.WaitGroup
		for n := range 5 {
			all.Go(func() {
				ctx := virtual.As(context.Background(), fmt.Sprint("driver-", n))
				pause(ctx, d.Between(0, 2*time.Minute, fmt.Sprint("starts ", n)))
				name, in := fmt.Sprintf("%s-%d", analysis.ExecutionName(id, 1), n), fmt.Sprintf(`{"analysis_id":%q,"attempt":1}`, id)
				if _, err := sfn.NewFromConfig(c.Config).StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &c.Machine, Name: &name, Input: &in}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		pause(ctx, 3*time.Hour)
		for _, m := range c.ModelCalls() {
			calls[m.Key[strings.LastIndexByte(m.Key, '#')+1:]]++
		}
		for _, e := range obs.effects {
			takeovers += e.Takeovers
		}
		if s, err := c.State(virtual.As(context.Background(), "test"), id); err != nil || !s.Row.Status.Ended() || len(s.Notices) != 1 {
			t.Errorf("seed %d: %+v, %v", seed, s, err)
		}
	})
	return calls, takeovers
}

// Under five executions of one analysis one findings call and one coaching call are
// made while no call's outcome is unknown, whether the executions are kept out by
// the analysis's holder, or, with that guard off, meet in the calls themselves.
func TestFiveExecutionsMakeOneCallEach(t *testing.T) {
	sure := func(string) bool { return false }
	for name, off := range map[string]func(*virtual.Options){"held": func(*virtual.Options) {}, "all go on": BeginAnyway} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10) {
				calls, takeovers := five(t, seed, off, sure)
				if calls["findings"] != 1 || calls["coaching"] != 1 || takeovers != 0 {
					t.Errorf("seed %d: calls %v, %d takeovers", seed, calls, takeovers)
				}
			}
			if t.Failed() {
				return
			}
			fmt.Printf("five executions, %-10s: 10 schedules, in each 1 findings call and 1 coaching call\n", name)
		})
	}
}

// Where the answers of the first claims are lost, the extra calls are the
// takeovers: one of each task.
func TestFiveExecutionsWithLostAnswers(t *testing.T) {
	first := func(claim string) bool { return strings.HasSuffix(claim, "/1") }
	calls, takeovers := map[string]int{}, 0
	for seed := range uint64(10) {
		n, over := five(t, seed, BeginAnyway, first)
		if extra := n["findings"] + n["coaching"] - 2; extra != over || over != 2 {
			t.Errorf("seed %d: calls %v after %d takeovers", seed, n, over)
		}
		for task, k := range n {
			calls[task] += k
		}
		takeovers += over
	}
	fmt.Printf("five executions, first answers lost: 10 schedules, %d findings calls, %d coaching calls, %d extra, %d takeovers\n",
		calls["findings"], calls["coaching"], calls["findings"]+calls["coaching"]-20, takeovers)
}
