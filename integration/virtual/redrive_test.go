package virtual_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

func arnOf(t *testing.T, c *virtual.Cloud, id string) string {
	t.Helper()
	arn, err := analysis.ExecutionARN(c.Machine, analysis.ExecutionName(id, 1))
	if err != nil {
		t.Error(err)
	}
	return arn
}

// lateIn lets a state's function start so late that the execution has been
// stopped, and redriven, when it runs: a straggler of the run before.
func lateIn(state string) func(virtual.Invocation) virtual.InvokeFault {
	return func(i virtual.Invocation) virtual.InvokeFault {
		if strings.Contains(i.ID, "/"+state+"/") && !strings.Contains(i.ID, "redrive") {
			return virtual.InvokeFault{Kind: virtual.InvokeSlow, After: 10 * time.Second}
		}
		return virtual.InvokeFault{}
	}
}

// stopIn stops an analysis's execution when it has entered a state, and gives
// its ARN when it has stopped.
func stopIn(ctx context.Context, t *testing.T, c *virtual.Cloud, id, state string) string {
	t.Helper()
	arn := arnOf(t, c, id)
	for range 3600 {
		if at := last(t, c, arn); at == state {
			if _, err := sfn.NewFromConfig(c.Config).StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: aws.String(arn)}); err != nil {
				t.Error(err)
			}
			return arn
		}
		wait(ctx, 500*time.Millisecond)
	}
	t.Errorf("the execution never came to %s", state)
	return arn
}

// last is the state that was entered last.
func last(t *testing.T, c *virtual.Cloud, arn string) string {
	h, err := c.Engine.GetExecutionHistory(stepfn.GetExecutionHistoryInput{ExecutionARN: arn, MaxResults: 1000, ReverseOrder: true})
	if err != nil {
		t.Error(err)
	}
	for _, ev := range h.Events {
		if ev.StateEntered != nil {
			return ev.StateEntered.Name
		}
	}
	return ""
}

// redriven redrives an execution through the API and waits for its end.
func redriven(ctx context.Context, t *testing.T, c *virtual.Cloud, arn string) stepfn.DescribeExecutionOutput {
	t.Helper()
	if _, err := sfn.NewFromConfig(c.Config).RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: aws.String(arn)}); err != nil {
		t.Errorf("redrive: %v", err)
	}
	if err := c.Engine.Wait(ctx, arn); err != nil {
		t.Error(err)
	}
	d, err := c.Engine.DescribeExecution(stepfn.DescribeExecutionInput{ExecutionARN: arn})
	if err != nil {
		t.Error(err)
	}
	return d
}

// A redrive after the analysis's end concedes in whichever state it goes on: no
// second end, no model call, no refund and no notice.
func TestRedriveAfterTheEndConcedes(t *testing.T) {
	for state, end := range map[string]string{
		"Precheck": "Conceded", "QueueJob": "Conceded", "AwaitPose": "Conceded", "Findings": "Conceded", "Coaching": "Conceded",
		"Render": "Deliver", // it makes the file again, and Deliver is shown the end that stands
	} {
		t.Run(state, func(t *testing.T) {
			begun(t, virtual.Options{Invocations: lateIn(state)}, func(ctx context.Context, c *virtual.Cloud, id string) {
				c.Schedule(names.FnReconcile, names.ReconcilePeriod)
				arn := stopIn(ctx, t, c, id, state)
				before := ended(ctx, t, c, id, time.Hour)
				expect(t, c, before, analysis.Failed, reason.Stopped)
				d := redriven(ctx, t, c, arn)
				if d.Status != stepfn.Succeeded || last(t, c, arn) != end || d.RedriveCount != 1 {
					t.Errorf("redriven: %s in %s, %s %s", d.Status, last(t, c, arn), d.Error, d.Cause)
				}
				wait(ctx, 3*names.ReconcilePeriod)
				after := ended(ctx, t, c, id, time.Hour)
				expect(t, c, after, analysis.Failed, reason.Stopped)
				if after.Row.EndedBy != before.Row.EndedBy || !after.Row.EndedAt.Equal(before.Row.EndedAt) || after.Calls != before.Calls {
					t.Errorf("after the redrive: ended by %s at %s, %d calls; before: %s, %s, %d",
						after.Row.EndedBy, after.Row.EndedAt, after.Calls, before.Row.EndedBy, before.Row.EndedAt, before.Calls)
				}
			})
		})
	}
}

// broken is a function that fails for good.
type broken struct{}

func (broken) Invoke(context.Context, []byte) ([]byte, error) {
	return nil, messages.InvokeResponse_Error{Type: string(fault.Permanent), Message: "no"}
}

// An execution that had settled its analysis itself stays failed: it goes on in
// its Fail state.
func TestRedriveOfASettledRunFailsAgain(t *testing.T) {
	opt := virtual.Options{Override: map[string]func(*virtual.Cloud) lambda.Handler{
		names.FnRender: func(*virtual.Cloud) lambda.Handler { return broken{} },
	}}
	begun(t, opt, func(ctx context.Context, c *virtual.Cloud, id string) {
		before := ended(ctx, t, c, id, time.Hour)
		arn := arnOf(t, c, id)
		d := redriven(ctx, t, c, arn)
		after := ended(ctx, t, c, id, time.Hour)
		expect(t, c, after, analysis.Failed, reason.Code(before.Row.Reason))
		if d.Status != stepfn.Failed || after.Calls != 2 || after.Row.EndedBy != before.Row.EndedBy {
			t.Errorf("redriven: %s %s, %d calls, ended by %s", d.Status, d.Error, after.Calls, after.Row.EndedBy)
		}
	})
}

// Where nobody has ended the analysis (the event of the stop was lost, and no
// sweep has come) a redrive takes it to its delivery, with two model calls.
func TestRedriveBeforeTheEndDelivers(t *testing.T) {
	lost := func(kind, _ string) []time.Duration {
		if kind == virtual.EventEnded {
			return nil
		}
		return []time.Duration{0}
	}
	for _, state := range []string{"Precheck", "QueueJob", "AwaitPose", "Findings", "Coaching", "Render", "Deliver"} {
		t.Run(state, func(t *testing.T) {
			begun(t, virtual.Options{Events: lost, Invocations: lateIn(state)}, func(ctx context.Context, c *virtual.Cloud, id string) {
				arn := stopIn(ctx, t, c, id, state)
				d := redriven(ctx, t, c, arn)
				if d.Status != stepfn.Succeeded {
					t.Errorf("redriven: %s %s %s", d.Status, d.Error, d.Cause)
				}
				s := ended(ctx, t, c, id, time.Hour)
				expect(t, c, s, analysis.Ready, "")
				if s.Calls != 2 {
					t.Errorf("%d model calls, want two", s.Calls)
				}
				if slices.Contains([]string{"Conceded", "Failed"}, last(t, c, arn)) {
					t.Errorf("the execution came to %s", last(t, c, arn))
				}
			})
		})
	}
}
