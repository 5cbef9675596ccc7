package reconcile

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
)

// by names the reconciler as the writer of an end.
const by = names.FnReconcile

// Time that others get before the reconciler steps in. Step Functions' answers
// about executions lag a little behind, and settle comes first.
const (
	startGrace  = time.Minute     // from the confirm: the API is starting it
	settleGrace = 2 * time.Minute // from the end of an execution
	ghostGrace  = 15 * time.Minute
)

// one does what an open analysis needs. The row may be a moment old; every
// change is made under a condition.
func (d Deps) one(ctx context.Context, r analysis.Row, out *Out) error {
	now := d.now()
	switch r.Status {
	case analysis.Reserved:
		if !r.Overdue(now) {
			return nil
		}
		res, err := d.Ends.Expire(ctx, r.AnalysisID, by)
		if err == nil && res.Won {
			out.Expired++
			metric.Count(ctx, metric.DeadlineReached, 1, "analysis_id", r.AnalysisID, "status", r.Status)
		}
		return err
	case analysis.Queued, analysis.Analysing:
		if r.Overdue(now) {
			return d.overdue(ctx, r, out)
		}
		return d.alive(ctx, r, now, out)
	}
	return fmt.Errorf("open row with status %q", r.Status)
}

// overdue ends an analysis that is past its deadline. The end comes first, so
// that its reason is the deadline and not the stop that follows.
func (d Deps) overdue(ctx context.Context, r analysis.Row, out *Out) error {
	res, err := d.Ends.Overdue(ctx, r.AnalysisID, r.Attempt, by)
	if err != nil || !res.Status.Ended() { // a claim or a restart came after the index was read
		return err
	}
	if res.Won {
		out.Failed++
		metric.Count(ctx, metric.DeadlineReached, 1, "analysis_id", r.AnalysisID, "status", r.Status)
	}
	return analysis.Stop(ctx, d.Steps, d.MachineARN, r.Holder(), "DeadlinePassed")
}

// fail ends an analysis whose execution was looked at and is no more. If another
// one has begun it since, that one holds it and nothing is written.
func (d Deps) fail(ctx context.Context, r analysis.Row, why reason.Code, out *Out) error {
	res, err := d.Ends.Fail(ctx, r.AnalysisID, r.Attempt, r.Holder(), by, why)
	if err == nil && res.Won {
		out.Failed++
	}
	return err
}

// alive sees to it that an analysis has a living execution, or ends.
func (d Deps) alive(ctx context.Context, r analysis.Row, now time.Time, out *Out) error {
	if r.Status == analysis.Queued {
		if now.Sub(r.QueuedAt) < startGrace {
			return nil
		}
		existed, err := analysis.Start(ctx, d.Steps, d.MachineARN, r.AnalysisID, r.Attempt)
		if err != nil {
			return err
		}
		if !existed { // also said of one that runs already with the same input
			out.Started++
			return nil
		}
	}
	arn, err := analysis.ExecutionARN(d.MachineARN, r.Holder())
	if err != nil {
		return err
	}
	ex, err := d.Steps.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if awserr.KindOf(err) == awserr.NotFound {
		if now.Sub(r.StartedAt) < ghostGrace {
			return nil
		}
		return d.fail(ctx, r, reason.Stopped, out)
	}
	if err != nil {
		return fmt.Errorf("describe execution %s: %w", r.Holder(), err)
	}
	if running(ex.Status) || ex.StopDate == nil || now.Sub(*ex.StopDate) < settleGrace {
		return nil
	}
	code := ""
	if ex.Error != nil {
		code = *ex.Error
	}
	return d.fail(ctx, r, outcome.ReasonOfStatus(string(ex.Status), code), out)
}

func running(s sfntypes.ExecutionStatus) bool {
	return s == sfntypes.ExecutionStatusRunning || s == sfntypes.ExecutionStatusPendingRedrive
}

// queueCounts are what a queue holds: waiting, in hands, and not yet due.
var queueCounts = []sqstypes.QueueAttributeName{
	sqstypes.QueueAttributeNameApproximateNumberOfMessages,
	sqstypes.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
	sqstypes.QueueAttributeNameApproximateNumberOfMessagesDelayed,
}

func (d Deps) queued(ctx context.Context) (int, error) {
	sum := 0
	got, err := d.Queue.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &d.QueueURL, AttributeNames: queueCounts})
	if err != nil {
		return 0, fmt.Errorf("count the queue: %w", err)
	}
	for _, name := range queueCounts {
		n, err := strconv.Atoi(got.Attributes[string(name)])
		if err != nil { // an answer without a count is no proof of an empty queue
			return 0, fmt.Errorf("count the queue: %s is %q", name, got.Attributes[string(name)])
		}
		sum += n
	}
	return sum, nil
}
