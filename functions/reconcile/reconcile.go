// Package reconcile runs every five minutes and is the backstop for whatever
// died: it ends analyses that are past their deadline, starts executions that a
// crash left unstarted, ends analyses whose execution is over, sends notices that
// are still owed, and owns the size of the fleet.
//
// It keeps nothing between passes. Each begins with the analysis whose deadline
// comes first and goes on while there is time, so what matters most is done
// whatever else is broken, and one bad row does not stop the rest.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
)

// Steps is what this function needs of Step Functions.
type Steps interface {
	analysis.Stopper
	DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error)
}

// Queue is what it needs of SQS.
type Queue interface {
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

// Notices sends what is owed.
type Notices interface {
	Sweep(ctx context.Context, limit int) (int, error)
}

// Deps is what the function works with.
type Deps struct {
	Life       analysis.Store
	Ends       outcome.Store
	Notices    Notices
	Fleet      fleet.Fleet
	Steps      Steps
	MachineARN string
	Queue      Queue
	QueueURL   string
	Now        func() time.Time
}

// Bounds of one pass.
const (
	maxRows    = 5000
	maxNotices = 100
	// reserve is the time kept for notices and the fleet.
	reserve = 50 * time.Second
	// noDeadline bounds a pass whose caller sets none.
	noDeadline = 2 * time.Minute
)

// Out counts what a pass did.
type Out struct {
	Open    int          `json:"open"`    // analyses looked at
	Expired int          `json:"expired"` // never uploaded
	Failed  int          `json:"failed"`  // past a deadline, or without a living execution
	Started int          `json:"started"` // executions
	Notices int          `json:"notices"` // looked at
	Errors  int          `json:"errors"`  // rows and steps that failed; the next pass tries again
	Fleet   fleet.Action `json:"fleet"`
	Oldest  int          `json:"oldest"`  // seconds since the confirm of the oldest analysis that was open
	Partial bool         `json:"partial"` // time ran out before the last open analysis
}

// New makes the function. It takes any payload: the schedule's says nothing.
func New(d Deps) lambda.Handler {
	return handler.New(names.FnReconcile, func(ctx context.Context, _ struct{}) (Out, error) { return d.pass(ctx) })
}

func (d Deps) pass(ctx context.Context) (Out, error) {
	ctx, cancel := context.WithTimeout(ctx, noDeadline)
	defer cancel()
	var out Out
	var stepErrs []error
	fail := func(what string, err error) {
		if err != nil {
			out.Errors++
			stepErrs = append(stepErrs, fmt.Errorf("%s: %w", what, err))
		}
	}
	seen := d.analyses(ctx, &out)
	fail("analyses", seen)
	if seen == nil {
		metric.Gauge(ctx, metric.OldestOpenSeconds, "Seconds", float64(out.Oldest))
	}
	n, err := d.Notices.Sweep(ctx, maxNotices)
	out.Notices = n
	if err != nil {
		out.Errors++
		slog.ErrorContext(ctx, "notices not sent", "detail", err.Error())
	}
	out.Fleet, err = d.Fleet.Scale(ctx, d.work)
	fail("fleet", err)
	if out.Errors > 0 {
		metric.Count(ctx, metric.ReconcileFailed, out.Errors)
	}
	if err := errors.Join(stepErrs...); err != nil {
		return out, awserr.Fault(err, "reconcile")
	}
	metric.Count(ctx, metric.Reconciled, 1, "result", out)
	return out, nil
}

// analyses looks at every open analysis, the most urgent one first.
func (d Deps) analyses(ctx context.Context, out *Out) error {
	end, _ := ctx.Deadline()
	return d.Life.Open(ctx, func(r analysis.Row) bool {
		if out.Open >= maxRows || time.Until(end) < reserve {
			out.Partial = true
			return false
		}
		out.Open++
		if !r.QueuedAt.IsZero() {
			out.Oldest = max(out.Oldest, int(d.now().Sub(r.QueuedAt).Seconds()))
		}
		if err := d.one(ctx, r, out); err != nil {
			out.Errors++
			slog.ErrorContext(ctx, "analysis not reconciled", "analysis_id", r.AnalysisID, "attempt", r.Attempt,
				"status", r.Status, "detail", err.Error())
		}
		return ctx.Err() == nil
	})
}

// work counts what a worker has, or may soon have, to do: open analyses that were
// confirmed, or else what is in the queue, in hands or delayed.
func (d Deps) work(ctx context.Context) (int, error) {
	n, err := d.Life.Confirmed(ctx, d.Fleet.Enough())
	if err != nil || n > 0 {
		return n, err
	}
	return d.queued(ctx)
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}
