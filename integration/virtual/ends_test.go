package virtual_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

func TestMain(m *testing.M) {
	if os.Getenv("VIRTUAL_LOG") == "" {
		slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	}
	os.Exit(m.Run())
}

// begun is a world with one analysis whose execution has been started.
func begun(t *testing.T, opt virtual.Options, body func(ctx context.Context, c *virtual.Cloud, id string)) {
	virtual.Run(t, opt, func(c *virtual.Cloud) {
		ctx, cancel := context.WithCancel(virtual.As(context.Background(), "test"))
		defer cancel()
		if err := c.Grant(ctx, 2); err != nil {
			t.Error(err)
			return
		}
		id, err := c.Submit(ctx, "key")
		if err != nil {
			t.Error(err)
			return
		}
		if err := c.StartExecution(ctx, id, 1); err != nil {
			t.Error(err)
			return
		}
		body(ctx, c, id)
	})
}

// wait lets virtual time pass.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// ended waits until the analysis has its end, at most limit, and gives its state
// a little later, when the notice had time to leave.
func ended(ctx context.Context, t *testing.T, c *virtual.Cloud, id string, limit time.Duration) virtual.State {
	t.Helper()
	deadline := time.Now().Add(limit)
	for time.Now().Before(deadline) {
		row, err := c.Life().Get(ctx, id)
		if err != nil {
			t.Error(err)
			return virtual.State{}
		}
		if row.Status.Ended() {
			wait(ctx, 15*time.Minute)
			break
		}
		wait(ctx, limit/200)
	}
	s, err := c.State(ctx, id)
	if err != nil {
		t.Error(err)
	}
	return s
}

// expect asserts I2, I3 and I4 for one end.
func expect(t *testing.T, c *virtual.Cloud, s virtual.State, status analysis.Status, why reason.Code) {
	t.Helper()
	if s.Row.Status != status || s.Row.Reason != string(why) {
		t.Errorf("end = %s %q, want %s %q", s.Row.Status, s.Row.Reason, status, why)
	}
	refunds := 1
	if status == analysis.Ready {
		refunds = 0
	}
	if s.Refunds() != refunds {
		t.Errorf("%d refunds, want %d", s.Refunds(), refunds)
	}
	if want := int64(1 + refunds); s.Ledger.Balance != want || s.Ledger.Sum() != want {
		t.Errorf("balance %d, entries add up to %d; want %d", s.Ledger.Balance, s.Ledger.Sum(), want)
	}
	if len(s.Notices) != 1 || len(c.Mails()) != 1 {
		t.Errorf("%d notices, %d mails; want one of each", len(s.Notices), len(c.Mails()))
	}
}

func TestDelivered(t *testing.T) {
	begun(t, virtual.Options{}, func(ctx context.Context, c *virtual.Cloud, id string) {
		c.Schedule(names.FnReconcile, names.ReconcilePeriod)
		s := ended(ctx, t, c, id, names.AnalysingDeadline)
		expect(t, c, s, analysis.Ready, "")
		if s.Calls != 2 {
			t.Errorf("%d model calls, want 2", s.Calls)
		}
		wait(ctx, 3*names.ReconcilePeriod)
		if c.Desired() != 0 {
			t.Errorf("desired count = %d after everything ended, want 0", c.Desired())
		}
	})
}

// A worker never comes: the queued deadline is for the queue; once begun, the
// analysis must end by its analysing deadline.
func TestWorkerNeverComes(t *testing.T) {
	begun(t, virtual.Options{NoFleet: true}, func(ctx context.Context, c *virtual.Cloud, id string) {
		c.Schedule(names.FnReconcile, names.ReconcilePeriod)
		start := time.Now()
		s := ended(ctx, t, c, id, names.QueuedDeadline+24*time.Hour)
		expect(t, c, s, analysis.Failed, reason.DeadlinePassed)
		if by := s.Row.EndedAt.Sub(start); by > names.QueuedDeadline+names.ReconcilePeriod {
			t.Errorf("ended after %s, want by %s", by, names.QueuedDeadline+names.ReconcilePeriod)
		}
	})
}

// The model has no capacity: the first try and each of the four retries are
// refused.
func TestFindingsFailsOnEveryRetry(t *testing.T) {
	throttled, asked := aitask.Throttled, 0
	opt := virtual.Options{Model: func(context.Context, string) virtual.ModelAnswer {
		asked++
		return virtual.ModelAnswer{Refuse: &throttled}
	}}
	begun(t, opt, func(ctx context.Context, c *virtual.Cloud, id string) {
		c.SetParameter("/model/findings", virtual.PaidModel)
		s := ended(ctx, t, c, id, names.AnalysingDeadline)
		expect(t, c, s, analysis.Failed, reason.StageFailed)
		if asked != 5 || len(c.ModelCalls()) != 0 {
			t.Errorf("the model was asked %d times and billed %d calls; want 5 and none", asked, len(c.ModelCalls()))
		}
	})
}

// A setting that names no model is no case for retries.
func TestFindingsWithoutAModel(t *testing.T) {
	begun(t, virtual.Options{}, func(ctx context.Context, c *virtual.Cloud, id string) {
		c.SetParameter("/model/findings", "nobody:a-model-that-does-not-exist")
		s := ended(ctx, t, c, id, names.AnalysingDeadline)
		expect(t, c, s, analysis.Failed, reason.ModelUnavailable)
	})
}

func TestStoppedExecution(t *testing.T) {
	begun(t, virtual.Options{NoFleet: true}, func(ctx context.Context, c *virtual.Cloud, id string) {
		wait(ctx, time.Minute)
		arn, err := analysis.ExecutionARN(c.Machine, analysis.ExecutionName(id, 1))
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := sfn.NewFromConfig(c.Config).StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: aws.String(arn)}); err != nil {
			t.Error(err)
			return
		}
		s := ended(ctx, t, c, id, time.Hour)
		expect(t, c, s, analysis.Failed, reason.Stopped)
	})
}
