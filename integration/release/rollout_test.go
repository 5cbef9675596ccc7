package release

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/integration/demo"
	"fastbowlinglab/integration/local"
	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// TestDeployMidRun is the end-to-end half of case 56. Release 2, whose machine
// has a state more and whose functions are other programs, is deployed while an
// analysis of release 1 is between two model calls. That one ends on the
// definition and the functions that it began with; the next one runs on the new;
// and after the alias is moved back, the one after that runs on the old again.
func TestDeployMidRun(t *testing.T) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	var once, release sync.Once
	open := func() { release.Do(func() { close(goOn) }) }
	t.Cleanup(open)
	c := start(t, func(cfg *local.Config) {
		cfg.Versions = t.TempDir()
		cfg.Intercept = func(q *endpoint.Request) endpoint.Fault {
			if q.Caller == names.FnFindings { // the run is held while it has its findings made
				once.Do(func() { close(reached); <-goOn })
			}
			return endpoint.Fault{}
		}
	})
	steps := sfn.NewFromConfig(c.AWS())
	first := make(chan demo.Summary, 1)
	go func() {
		defer close(first)
		first <- mainJob(t, c, "bowler.mp4", "")
	}()
	select {
	case <-reached:
	case sum := <-first:
		t.Fatalf("the first analysis ended %s before it had findings", sum.Status)
	}
	if err := c.Deploy(local.Release{Binaries: other(t), Definition: marked}); err != nil {
		t.Fatal(err)
	}
	drains(t, c, steps, 1)
	second := mainJob(t, c, "not_bowling.mp4", "")
	open()
	sum, ok := <-first
	if !ok {
		t.FailNow()
	}
	drains(t, c, steps, 0)
	if sum.Status != string(analysis.Ready) || second.Status != string(analysis.Rejected) {
		t.Errorf("the analyses ended %s (%s) and %s (%s)", sum.Status, sum.Reason, second.Status, second.Reason)
	}
	began(t, steps, sum.AnalysisID, "1", false)
	began(t, steps, second.AnalysisID, "2", true)

	// The runbook's way back.
	if _, err := steps.UpdateStateMachineAlias(t.Context(), &sfn.UpdateStateMachineAliasInput{StateMachineAliasArn: aws.String(local.LiveARN),
		RoutingConfiguration: []sfntypes.RoutingConfigurationListItem{{StateMachineVersionArn: aws.String(local.StateMachineARN + ":1"), Weight: 100}}}); err != nil {
		t.Fatal(err)
	}
	third := mainJob(t, c, "not_bowling.mp4", "after the roll-back")
	began(t, steps, third.AnalysisID, "1", false)
}

// drains asks in both of the runbook's ways how many runs are still on release 1.
func drains(t *testing.T, c *local.Cloud, steps *sfn.Client, want int) {
	t.Helper()
	old := local.StateMachineARN + ":1"
	l, err := steps.ListExecutions(t.Context(), &sfn.ListExecutionsInput{StateMachineArn: &old, StatusFilter: sfntypes.ExecutionStatusRunning})
	if err != nil || len(l.Executions) != want {
		t.Errorf("executions of %s: %+v %v, want %d", old, l, err, want)
	}
	out, err := lambda.NewFromConfig(c.AWS()).Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String(names.Prefix + names.FnOperator),
		Payload: []byte(`{"action":"drain","operator":"ada"}`)})
	if err != nil {
		t.Fatal(err)
	}
	var drain struct{ Versions map[string]int }
	if err := json.Unmarshal(out.Payload, &drain); err != nil || drain.Versions[old] != want || len(drain.Versions) != want {
		t.Errorf("drain says %s, want %d of %s", out.Payload, want, old)
	}
}

// newState is what release 2 has after Begin.
const newState = "Release2"

// marked is release 2's definition.
func marked(arns map[string]string) ([]byte, error) {
	b, err := statemachine.Fill(statemachine.Analysis, arns)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	m["States"].(map[string]any)[newState] = map[string]any{"Type": "Pass", "Next": m["StartAt"]}
	m["StartAt"] = newState
	return json.Marshal(m)
}

// other copies the programs and changes each by some bytes at its end, which no
// program reads.
func other(t *testing.T) string {
	t.Helper()
	root, err := local.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	from, to := filepath.Join(root, ".local/bin"), t.TempDir()
	if err := os.Symlink(filepath.Join(from, names.PoseWorker), filepath.Join(to, names.PoseWorker)); err != nil {
		t.Fatal(err)
	}
	for _, f := range names.Functions() {
		if err := os.Mkdir(filepath.Join(to, f.Name), 0o755); err != nil {
			t.Fatal(err)
		}
		src, dst := filepath.Join(from, f.Name, "bootstrap"), filepath.Join(to, f.Name, "bootstrap")
		if !f.State {
			err = os.Symlink(src, dst)
		} else {
			err = appended(src, dst)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func appended(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, io.MultiReader(in, strings.NewReader("release 2"))); err != nil {
		return err
	}
	return out.Close()
}

// began checks that an execution went by one version of every function that it
// called, and through the new state or not.
func began(t *testing.T, steps *sfn.Client, id, version string, marked bool) {
	t.Helper()
	arn, err := analysis.ExecutionARN(local.StateMachineARN, analysis.ExecutionName(id, 1))
	if err != nil {
		t.Fatal(err)
	}
	out, err := steps.GetExecutionHistory(t.Context(), &sfn.GetExecutionHistoryInput{ExecutionArn: &arn, MaxResults: 1000})
	if err != nil {
		t.Fatal(err)
	}
	calls, seen := 0, false
	for _, e := range out.Events {
		if d := e.StateEnteredEventDetails; d != nil && *d.Name == newState {
			seen = true
		}
		if d := e.TaskScheduledEventDetails; d != nil {
			var p struct{ FunctionName string }
			if err := json.Unmarshal([]byte(*d.Parameters), &p); err != nil {
				t.Fatal(err)
			}
			calls++
			if got := p.FunctionName[strings.LastIndex(p.FunctionName, ":")+1:]; got != version {
				t.Errorf("%s called %s, want version %s", id, p.FunctionName, version)
			}
		}
	}
	if calls == 0 || seen != marked {
		t.Errorf("%s made %d calls, through %s: %t, want %t", id, calls, newState, seen, marked)
	}
	exec, err := steps.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	if exec.Status != sfntypes.ExecutionStatusSucceeded || time.Since(*exec.StartDate) > time.Hour {
		t.Errorf("%s: its execution is %s, begun %s", id, exec.Status, exec.StartDate)
	}
}
