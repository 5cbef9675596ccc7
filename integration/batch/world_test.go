package batch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
)

func TestMain(m *testing.M) {
	if os.Getenv("BATCH_LOG") == "" {
		slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	}
	os.Exit(m.Run())
}

// wait lets virtual time pass.
func wait(ctx context.Context, d time.Duration) {
	_ = retry.Sleep(ctx, d) // the test ends with ctx
}

// end is how an execution ended: its status, the name of its error, and what its
// last step said of the rows.
type end struct {
	status sfntypes.ExecutionStatus
	fail   string
	cause  string
	rows   names.BatchOut
}

// finished waits until an execution has ended, at most limit.
func finished(ctx context.Context, t *testing.T, c *virtual.Cloud, machine, run string, limit time.Duration) end {
	t.Helper()
	arn := c.BatchARN(machine, run)
	for until := time.Now().Add(limit); time.Now().Before(until); wait(ctx, 5*time.Second) {
		if e := look(ctx, t, c, arn); e.status != sfntypes.ExecutionStatusRunning {
			return e
		}
	}
	t.Errorf("run %s is still running after %s", run, limit)
	return end{}
}

func look(ctx context.Context, t *testing.T, c *virtual.Cloud, arn string) end {
	t.Helper()
	d, err := sfn.NewFromConfig(c.Config).DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if err != nil {
		t.Error(err)
		return end{}
	}
	e := end{status: d.Status, fail: aws.ToString(d.Error), cause: aws.ToString(d.Cause)}
	var out struct {
		End   names.BatchOut `json:"end"`
		Tally names.BatchOut `json:"tally"`
	}
	if d.Output != nil {
		if err := json.Unmarshal([]byte(*d.Output), &out); err != nil {
			t.Error(err)
		}
		if e.rows = out.End; e.rows.State == "" {
			e.rows = out.Tally
		}
	}
	return e
}

func stop(ctx context.Context, t *testing.T, c *virtual.Cloud, machine, run string) {
	t.Helper()
	_, err := sfn.NewFromConfig(c.Config).StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: aws.String(c.BatchARN(machine, run))})
	if err != nil {
		t.Error(err)
	}
}

func ids(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("an-%05d", i)
	}
	return out
}
