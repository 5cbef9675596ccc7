package stepfn

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// helperEnv makes the test binary a process that serves an engine until killed.
const helperEnv = "STEPFN_TEST_SERVE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperEnv); dir != "" {
		if err := serveHelper(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveHelper prints the address that it serves on, then every token it is given.
func serveHelper(dir string) error {
	s := &scripted{fns: fns{"f": func(_ context.Context, in map[string]any) (any, error) {
		fmt.Println("token", in["token"])
		return nil, nil
	}}}
	e, err := New(Options{Invoker: s, Dir: dir})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("url", "http://"+l.Addr().String())
	return http.Serve(l, e)
}

// helper is a served engine in a process of its own.
type helper struct {
	cmd *exec.Cmd
	out *bufio.Scanner
	url string
}

func startHelper(t *testing.T, dir string) *helper {
	t.Helper()
	h := &helper{cmd: exec.Command(os.Args[0])}
	h.cmd.Env = append(os.Environ(), helperEnv+"="+dir)
	h.cmd.Stderr = os.Stderr
	pipe, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.kill)
	h.out = bufio.NewScanner(pipe)
	h.url = h.line(t, "url")
	return h
}

// line gives the next line of a kind. A function that a kill interrupted is
// called again, so the other kind may come in between.
func (h *helper) line(t *testing.T, kind string) string {
	t.Helper()
	for h.out.Scan() {
		if text, ok := strings.CutPrefix(h.out.Text(), kind+" "); ok {
			return text
		}
	}
	t.Fatalf("the process ended: %v", h.out.Err())
	return ""
}

// kill is kill -9.
func (h *helper) kill() {
	_ = h.cmd.Process.Kill() // it may be dead already
	_ = h.cmd.Wait()
}

func (h *helper) post(t *testing.T, op string, in any) (map[string]any, string) {
	t.Helper()
	b, _ := json.Marshal(in)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url, strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", targetPrefix+op)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	failed, _ := out["__type"].(string)
	return out, failed
}

// TestKill kills the engine's process with open and closed executions, three
// times; a token given out by the first process is answered through the last.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	h := startHelper(t, dir)
	m, _ := h.post(t, "CreateStateMachine", CreateStateMachineInput{Name: "m", Definition: waiting("X"), RoleARN: testRole})
	machine := m["stateMachineArn"].(string)
	begin := func(name string) (arn, tok string) {
		x, failed := h.post(t, "StartExecution", StartExecutionInput{machine, name, `{}`})
		if failed != "" {
			t.Fatal(failed)
		}
		return x["executionArn"].(string), h.line(t, "token")
	}
	closed, first := begin("closed")
	if _, failed := h.post(t, "SendTaskSuccess", SendTaskSuccessInput{first, ptr(`1`)}); failed != "" {
		t.Fatal(failed)
	}
	open, tok := begin("open")
	for range 3 {
		h.kill()
		h = startHelper(t, dir)
	}
	if _, failed := h.post(t, "SendTaskHeartbeat", SendTaskHeartbeatInput{tok}); failed != "" {
		t.Errorf("heartbeat after the kills: %s", failed)
	}
	if _, failed := h.post(t, "SendTaskSuccess", SendTaskSuccessInput{tok, ptr(`{"after":"kill"}`)}); failed != "" {
		t.Errorf("success after the kills: %s", failed)
	}
	h.kill() // at once: the accepted answer is on disk
	h = startHelper(t, dir)
	for arn, want := range map[string]string{open: `{"after":"kill"}`, closed: `1`} {
		var d map[string]any
		for d = nil; d == nil || d["status"] == "RUNNING"; {
			d, _ = h.post(t, "DescribeExecution", DescribeExecutionInput{arn})
		}
		if d["status"] != "SUCCEEDED" || d["output"] != want {
			t.Errorf("%s: %v %v", arn, d["status"], d["output"])
		}
	}
	for _, name := range []string{"open", "closed"} {
		if _, failed := h.post(t, "StartExecution", StartExecutionInput{machine, name, `{}`}); failed != CodeExecutionAlreadyExists {
			t.Errorf("name %s: %q", name, failed)
		}
	}
}
