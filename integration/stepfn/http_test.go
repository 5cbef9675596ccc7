package stepfn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// served is an engine behind a listener on loopback, whose functions are wait
// (hands out its token) and echo.
func served(t *testing.T) (url string, tokens chan string) {
	t.Helper()
	tokens = make(chan string, 9)
	e := newEngine(t, Options{Invoker: &scripted{fns: fns{
		"wait": handed(tokens),
		"echo": func(_ context.Context, in map[string]any) (any, error) { return in, nil },
	}}})
	srv := httptest.NewServer(e)
	t.Cleanup(srv.Close)
	return srv.URL, tokens
}

var servedDefinition = `{"StartAt":"Echo","States":{
	"Echo":{` + call("echo", `{"q.$":"$.q"}`) + `,"ResultSelector":{"q.$":"$.Payload.q"},"ResultPath":"$.echo","Next":"Hold"},
	"Hold":{` + callback("wait") + `,"HeartbeatSeconds":600,"ResultPath":"$.held","End":true}}}`

func TestSDK(t *testing.T) {
	url, tokens := served(t)
	ctx := t.Context()
	c := sfn.New(sfn.Options{
		Region: "us-east-1", BaseEndpoint: &url, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
	m, err := c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("m"), Definition: &servedDefinition, RoleArn: aws.String(testRole)})
	if err != nil {
		t.Fatal(err)
	}
	in := &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn, Name: aws.String("x"), Input: aws.String(`{"q":"<&>"}`)}
	x, err := c.StartExecution(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	tok := <-tokens
	if _, err := c.SendTaskHeartbeat(ctx, &sfn.SendTaskHeartbeatInput{TaskToken: &tok}); err != nil {
		t.Error(err)
	}
	if _, err := c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &tok, Output: aws.String(`{"ok":1}`)}); err != nil {
		t.Error(err)
	}
	d := awaitSDK(t, c, x.ExecutionArn)
	if d.Status != sfntypes.ExecutionStatusSucceeded || *d.Output != `{"echo":{"q":"<&>"},"held":{"ok":1},"q":"<&>"}` {
		t.Errorf("%s %s", d.Status, aws.ToString(d.Output))
	}
	if d.StartDate == nil || d.StopDate == nil || d.StopDate.Before(*d.StartDate) || d.StartDate.Year() < 2025 {
		t.Errorf("dates %v %v", d.StartDate, d.StopDate)
	}
	h, err := c.GetExecutionHistory(ctx, &sfn.GetExecutionHistoryInput{ExecutionArn: x.ExecutionArn})
	if err != nil {
		t.Fatal(err)
	}
	if ev := h.Events[len(h.Events)-1]; ev.Type != sfntypes.HistoryEventTypeExecutionSucceeded || *ev.ExecutionSucceededEventDetails.Output != *d.Output {
		t.Errorf("last event %+v", ev)
	}
	// Every type that was written is one that AWS's model knows.
	for _, ev := range h.Events {
		if !strings.Contains(strings.Join(knownTypes(), " "), string(ev.Type)) {
			t.Errorf("event type %s is not AWS's", ev.Type)
		}
	}
	var late *sfntypes.TaskTimedOut
	if _, err := c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &tok, Output: aws.String(`1`)}); !errors.As(err, &late) {
		t.Errorf("second answer: %v", err)
	}
	var bad *sfntypes.InvalidToken
	if _, err := c.SendTaskHeartbeat(ctx, &sfn.SendTaskHeartbeatInput{TaskToken: aws.String("zz")}); !errors.As(err, &bad) {
		t.Errorf("mangled token: %v", err)
	}
	var taken *sfntypes.ExecutionAlreadyExists
	if _, err := c.StartExecution(ctx, in); !errors.As(err, &taken) {
		t.Errorf("taken name: %v", err)
	}
	var none *sfntypes.ExecutionDoesNotExist
	if _, err := c.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: aws.String(*x.ExecutionArn + "y")}); !errors.As(err, &none) {
		t.Errorf("unknown execution: %v", err)
	}
	var def *sfntypes.InvalidDefinition
	if _, err := c.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{StateMachineArn: m.StateMachineArn, Definition: aws.String(`{}`)}); !errors.As(err, &def) {
		t.Errorf("bad definition: %v", err)
	}
}

func knownTypes() []string {
	var out []string
	for _, v := range sfntypes.HistoryEventType("").Values() {
		out = append(out, string(v))
	}
	return out
}

// awaitSDK polls until an execution has ended.
func awaitSDK(t *testing.T, c *sfn.Client, arn *string) *sfn.DescribeExecutionOutput {
	t.Helper()
	for {
		d, err := c.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: arn})
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != sfntypes.ExecutionStatusRunning {
			return d
		}
	}
}

// TestEventTypes holds every event type that the engine can write against the
// list of AWS's own model.
func TestEventTypes(t *testing.T) {
	known := " " + strings.Join(knownTypes(), " ") + " "
	written := []string{evExecutionStarted, evExecutionSucceeded, evExecutionFailed, evExecutionAborted, evExecutionTimedOut,
		evTaskScheduled, evTaskStarted, evTaskSubmitted, evTaskSucceeded, evTaskFailed, evTaskTimedOut, evMapStarted, evParallelStarted,
		"MapStateSucceeded", "MapStateFailed", "ParallelStateSucceeded", "ParallelStateFailed",
		"MapIterationStarted", "MapIterationSucceeded", "MapIterationFailed", "MapIterationAborted", "FailStateEntered"}
	for _, s := range []string{"Task", "Choice", "Wait", "Pass", "Map", "Parallel", "Succeed"} {
		written = append(written, s+"StateEntered", s+"StateExited")
	}
	for _, w := range written {
		if !strings.Contains(known, " "+w+" ") {
			t.Errorf("%s is no event type of AWS", w)
		}
	}
}

func TestCLI(t *testing.T) {
	cli, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("the aws CLI is not installed")
	}
	url, tokens := served(t)
	dir := t.TempDir()
	run := func(args ...string) (map[string]any, string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), cli, append([]string{"stepfunctions", "--endpoint-url", url, "--output", "json"}, args...)...)
		cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_DEFAULT_REGION=us-east-1",
			"AWS_CONFIG_FILE="+dir+"/config", "AWS_SHARED_CREDENTIALS_FILE="+dir+"/credentials", "AWS_MAX_ATTEMPTS=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		b, err := cmd.Output()
		if err != nil && stderr.Len() == 0 {
			t.Fatalf("aws %v: %v", args, err)
		}
		var out map[string]any
		_ = json.Unmarshal(b, &out) // some commands print nothing
		return out, stderr.String()
	}
	m, _ := run("create-state-machine", "--name", "m", "--definition", servedDefinition, "--role-arn", testRole)
	machine, _ := m["stateMachineArn"].(string)
	if machine == "" {
		t.Fatalf("create-state-machine gave %v", m)
	}
	x, _ := run("start-execution", "--state-machine-arn", machine, "--name", "x", "--input", `{"q":1}`)
	arn, _ := x["executionArn"].(string)
	tok := <-tokens
	if s, _ := run("stop-execution", "--execution-arn", arn, "--error", "Operator", "--cause", "by hand"); s["stopDate"] == nil {
		t.Errorf("stop-execution: %v", s)
	}
	if d, _ := run("describe-execution", "--execution-arn", arn); d["status"] != "ABORTED" || d["cause"] != "by hand" {
		t.Errorf("describe-execution: %v", d)
	}
	h, _ := run("get-execution-history", "--execution-arn", arn, "--reverse-order")
	events, _ := h["events"].([]any)
	if len(events) == 0 || events[0].(map[string]any)["type"] != "ExecutionAborted" {
		t.Errorf("get-execution-history: %v", h)
	}
	if _, msg := run("send-task-success", "--task-token", tok, "--task-output", "1"); !strings.Contains(msg, "TaskTimedOut") {
		t.Errorf("send-task-success after the stop: %s", msg)
	}
}

func TestHTTPRefuses(t *testing.T) {
	e := newEngine(t, Options{})
	for _, tc := range []struct{ method, target, body, want string }{
		{"POST", "AWSStepFunctions.Nope", `{}`, CodeUnknownOperation},
		{"POST", "DynamoDB_20120810.GetItem", `{}`, CodeUnknownOperation},
		{"POST", "", `{}`, CodeUnknownOperation},
		{"GET", "AWSStepFunctions.ListStateMachines", ``, CodeUnknownOperation},
		{"POST", "AWSStepFunctions.ListStateMachines", `{`, CodeSerialization},
		{"POST", "AWSStepFunctions.ListStateMachines", `{"maxResults":"many"}`, CodeSerialization},
		{"POST", "AWSStepFunctions.ListStateMachines", `"` + strings.Repeat("x", maxBody) + `"`, CodeSerialization},
	} {
		req := httptest.NewRequest(tc.method, "/", strings.NewReader(tc.body))
		req.Header.Set("X-Amz-Target", tc.target)
		rec := httptest.NewRecorder()
		e.ServeHTTP(rec, req)
		var out struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &out); err != nil || rec.Code != http.StatusBadRequest || out.Type != tc.want || out.Message == "" {
			t.Errorf("%s %s %.20s: %d %s", tc.method, tc.target, tc.body, rec.Code, rec.Body)
		}
	}
}
