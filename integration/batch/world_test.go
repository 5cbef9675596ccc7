package batch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
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

// choose is a number in [0,1) that depends on what it is for alone.
func choose(seed uint64, of ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, seed, of)
	return rand.New(rand.NewPCG(h.Sum64(), seed)).Float64()
}

// killing ends the processes of one state of the machine at a share of their
// requests, as often before one is carried out as after it, and counts them.
func killing(seed uint64, state string, share float64, deaths *int) func(virtual.Call) virtual.Decision {
	return func(c virtual.Call) virtual.Decision {
		if !strings.Contains(c.Actor, state) || choose(seed, c.ID) > share {
			return virtual.Decision{}
		}
		*deaths++
		if choose(seed, c.ID, "when") < 0.5 {
			return virtual.Decision{Fault: virtual.CrashBefore}
		}
		return virtual.Decision{Fault: virtual.CrashAfter}
	}
}
