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
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// restart opens the journal of a closed engine anew.
func restart(t *testing.T, dir string, s *scripted) *Engine {
	t.Helper()
	return newEngine(t, Options{Invoker: s, Dir: dir})
}

// A restart is the same as no restart, wherever it comes: an engine that is
// closed and opened again at every point of a run ends like one that was not.
func TestRestartAnywhere(t *testing.T) {
	def := `{"StartAt":"P","TimeoutSeconds":100000,"States":{
		"P":{"Type":"Pass","Result":1,"ResultPath":"$.p","Next":"W"},
		"W":{"Type":"Wait","Seconds":10,"Next":"F"},
		"F":{` + call("f", `{"p.$":"$.p"}`) + `,"ResultSelector":{"x.$":"$.Payload.x"},"ResultPath":"$.f","Retry":[{"ErrorEquals":["Transient"],"IntervalSeconds":20,"BackoffRate":1,"MaxAttempts":3}],"Next":"T"},
		"T":{` + callback("t") + `,"TimeoutSeconds":1000,"HeartbeatSeconds":900,"ResultPath":"$.t","Next":"M"},
		"M":{"Type":"Map","ItemsPath":"$.list","ItemProcessor":{"StartAt":"I","States":{"I":{` + call("i", `{"n.$":"$"}`) + `,"OutputPath":"$.Payload","End":true}}},"ResultPath":"$.m","Next":"C"},
		"C":{"Type":"Choice","Choices":[{"Variable":"$.p","NumericEquals":1,"Next":"S"}]},
		"S":{"Type":"Succeed"}}}`
	const want = `{"f":{"x":1},"list":[1,2],"m":[{"n":1},{"n":2}],"p":1,"t":"done"}`
	for _, after := range []time.Duration{0, 5 * time.Second, 10 * time.Second, 15 * time.Second, 33 * time.Second, 60 * time.Second, 90 * time.Second, 300 * time.Second} {
		for _, away := range []time.Duration{0, time.Second, 100 * time.Second} {
			t.Run(fmt.Sprint("after ", after, " for ", away), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					dir := t.TempDir()
					tokens := make(chan string, 9)
					tries := 0
					s := &scripted{fns: fns{
						"f": func(ctx context.Context, _ map[string]any) (any, error) {
							select {
							case <-time.After(5 * time.Second):
							case <-ctx.Done():
								return nil, ctx.Err()
							}
							if tries++; tries <= 2 {
								return nil, lambdaError{"Transient", "again"}
							}
							return map[string]any{"x": 1}, nil
						},
						"t": handed(tokens),
						"i": takes(0, nil, nil),
					}}
					s.fns["i"] = func(_ context.Context, in map[string]any) (any, error) { return in, nil }
					e := restart(t, dir, s)
					arn := start(t, e, create(t, e, def), "x", `{"list":[1,2]}`)
					time.Sleep(after)
					synctest.Wait()
					if err := e.Close(); err != nil {
						t.Fatal(err)
					}
					before := e.executions[arn].events
					time.Sleep(away)
					e = restart(t, dir, s)
					tok := <-tokens
					for len(tokens) > 0 { // the function was called again: one token all the same
						if other := <-tokens; other != tok {
							t.Errorf("tokens %s and %s", tok, other)
						}
					}
					time.Sleep(time.Minute)
					if err := e.succeed(tok, `"done"`); err != nil {
						t.Error(err)
					}
					d := finish(t, e, arn)
					if d.Status != Succeeded || *d.Output != want {
						t.Errorf("%s %s %s", d.Status, deref(d.Output), d.Error)
					}
					if tries != 3 {
						t.Errorf("f succeeded after %d tries; the retrier's count did not survive", tries)
					}
					h := history(t, e, arn)
					if types(h[:len(before)]) != types(before) {
						t.Error("the history before the restart has changed")
					}
					if v := visits(h); v != "P W F T M I I C S" {
						t.Errorf("visited %s", v)
					}
				})
			})
		}
	}
}

func TestRestartKeepsTimers(t *testing.T) {
	for _, tc := range []struct {
		name, def string
		took      time.Duration
		status    Status
		error     string
	}{
		{"a Wait goes on", waitHour, time.Hour, Succeeded, ""},
		{"the state's time goes on", `{"StartAt":"A","States":{"A":{` + callback("f") + `,"TimeoutSeconds":3600,"End":true}}}`, time.Hour, Failed, "States.Timeout"},
		{"the heartbeat starts anew", `{"StartAt":"A","States":{"A":{` + callback("f") + `,"HeartbeatSeconds":1800,"End":true}}}`, 20*time.Minute + 30*time.Minute, Failed, "States.HeartbeatTimeout"},
		{"the execution's time goes on", `{"TimeoutSeconds":3600,` + waitHour[1:len(waitHour)-1] + `}`, time.Hour, TimedOut, "States.Timeout"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				s := &scripted{fns: fns{"f": ok}}
				e := restart(t, dir, s)
				arn := start(t, e, create(t, e, tc.def), "x", `{}`)
				time.Sleep(10 * time.Minute)
				e.Close()
				time.Sleep(10 * time.Minute)
				e = restart(t, dir, s)
				d := finish(t, e, arn)
				if took := d.StopDate.Sub(d.StartDate.Time); took != tc.took || d.Status != tc.status || d.Error != tc.error {
					t.Errorf("%s after %s: %s", d.Status, took, d.Error)
				}
			})
		})
	}
}

func TestRestartKeepsWhatIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		tokens := make(chan string, 9)
		s := &scripted{fns: fns{"f": handed(tokens)}}
		e := restart(t, dir, s)
		m := create(t, e, waiting("X"))
		stopped, done := start(t, e, m, "stopped", `{}`), start(t, e, m, "done", `{}`)
		one, two := <-tokens, <-tokens
		if _, err := e.StopExecution(StopExecutionInput{stopped, "E", "c"}); err != nil {
			t.Fatal(err)
		}
		for _, tok := range []string{one, two} {
			_ = e.succeed(tok, `1`) // one of them is the stopped one's
		}
		finish(t, e, done)
		was := []any{describe(t, e, stopped), describe(t, e, done), history(t, e, stopped), history(t, e, done)}
		e.Close()
		e = restart(t, dir, s)
		is := []any{describe(t, e, stopped), describe(t, e, done), history(t, e, stopped), history(t, e, done)}
		a, _ := json.Marshal(was)
		b, _ := json.Marshal(is)
		if string(a) != string(b) {
			t.Errorf("before %s\nafter  %s", a, b)
		}
		for _, name := range []string{"stopped", "done"} {
			if _, err := e.StartExecution(StartExecutionInput{m, name, `{}`}); code(err) != CodeExecutionAlreadyExists {
				t.Errorf("name %s: %v", name, err)
			}
		}
		for _, tok := range []string{one, two} {
			if err := e.succeed(tok, `1`); code(err) != CodeTaskTimedOut {
				t.Errorf("an old token: %v", err)
			}
		}
	})
}

// A token that was given out is valid the moment the engine is back, and not
// only when its execution has got round to waiting again.
func TestRestartKeepsTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		tokens := make(chan string, 9)
		s := &scripted{fns: fns{"f": handed(tokens)}}
		e := restart(t, dir, s)
		arn := start(t, e, create(t, e, waiting("X")), "x", `{}`)
		tok := <-tokens
		synctest.Wait()
		e.Close()
		e, err := New(Options{Invoker: s, Dir: dir, Seed: "another seed"})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.succeed(tok, `1`); err != nil {
			t.Error(err)
		}
		if d := finish(t, e, arn); d.Status != Succeeded {
			t.Errorf("%s %s", d.Status, d.Error)
		}
		if n := s.count("f"); n != 1 {
			t.Errorf("the function was called %d times", n)
		}
	})
}

// The same for an attempt whose function had not answered: if somebody answers
// the token before the function is called again, it is not called again.
func TestRestartKeepsTokensOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		tokens := make(chan string, 9)
		s := &scripted{fns: fns{"f": func(ctx context.Context, in map[string]any) (any, error) {
			tokens <- in["token"].(string)
			<-ctx.Done()
			return nil, ctx.Err()
		}}}
		e := restart(t, dir, s)
		arn := start(t, e, create(t, e, waiting("X")), "x", `{}`)
		tok := <-tokens
		e.Close()
		x := &Engine{opt: Options{Invoker: s, Region: "us-east-1", Account: "000000000000"}, source: source{[]byte("s")},
			machines: map[string]*machine{}, executions: map[string]*execution{}, tokens: map[string]*token{}}
		x.ctx, x.cancel = context.WithCancel(t.Context())
		x.mu.Lock() // the executions cannot go on before the answer is in
		if err := x.open(dir); err != nil {
			t.Fatal(err)
		}
		w := x.tokens[tok]
		if err := x.add(w.x, w.sc, record{Event: taskEvent(evTaskSucceeded, w.task, ptr(`1`), nil)}); err != nil {
			t.Fatal(err)
		}
		w.close()
		w.result, w.err = "1", nil
		x.mu.Unlock()
		defer x.Close()
		d := finish(t, x, arn)
		synctest.Wait()
		if d.Status != Succeeded || s.count("f") != 1 {
			t.Errorf("%s %s after %d calls", d.Status, d.Error, s.count("f"))
		}
	})
}

// A Map that a restart interrupts starts over: its old tokens are of the past.
func TestRestartInAMap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		tokens := make(chan string, 9)
		s := &scripted{fns: fns{"f": handed(tokens)}}
		e := restart(t, dir, s)
		m := create(t, e, `{"StartAt":"A","States":{"A":{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{`+callback("f")+`,"End":true}}},"End":true}}}`)
		arn := start(t, e, m, "x", `[1]`)
		old := <-tokens
		synctest.Wait()
		e.Close()
		e = restart(t, dir, s)
		again := <-tokens
		if err := e.succeed(old, `"old"`); code(err) != CodeTaskTimedOut {
			t.Errorf("the old token: %v", err)
		}
		if err := e.succeed(again, `"new"`); err != nil {
			t.Error(err)
		}
		if d := finish(t, e, arn); deref(d.Output) != `["new"]` {
			t.Errorf("%s %s", d.Status, deref(d.Output))
		}
	})
}

func TestJournalTroubles(t *testing.T) {
	write := func(t *testing.T, text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, journalName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	machine := `{"t":"machine","arn":"arn:aws:states:us-east-1:000000000000:stateMachine:m","name":"m","role":"r","definition":"{\"StartAt\":\"A\",\"States\":{\"A\":{\"Type\":\"Succeed\"}}}","created":1.000}` + "\n"
	for _, tc := range []struct{ name, text, want string }{
		{"a line that a crash cut short is dropped", machine + `{"t":"sta`, ""},
		{"a broken line in the middle is refused", "nonsense\n" + machine, "line 1: not readable"},
		{"an unknown kind is refused", machine + `{"t":"x"}` + "\n", `line 2: kind "x" is unknown`},
		{"an event of nobody is refused", machine + `{"t":"event","x":"y","e":{"type":"T","id":1,"previousEventId":0,"timestamp":1.000}}` + "\n", "line 2: event of unknown execution y"},
		{"an execution of nobody is refused", `{"t":"start","arn":"a","name":"n","machine":"m","revision":0,"input":"{}","start":1.000}` + "\n", "line 1: execution n: no revision 0 of m"},
		{"a definition that no longer loads is refused", strings.Replace(machine, "Succeed", "Nap", 1), `line 1: definition of m: $.States.A.Type: "Nap"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := write(t, tc.text)
			e, err := New(Options{Invoker: &scripted{}, Dir: dir})
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("got %v, want %q in it", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if l, _ := e.ListStateMachines(ListStateMachinesInput{}); len(l.StateMachines) != 1 {
				t.Errorf("machines: %v", l)
			}
			if b, _ := os.ReadFile(filepath.Join(dir, journalName)); string(b) != machine {
				t.Errorf("the journal is now %s", b)
			}
			if _, err := New(Options{Invoker: &scripted{}, Dir: dir}); err == nil || !strings.Contains(err.Error(), "in use by another engine") {
				t.Errorf("a second engine on one folder: %v", err)
			}
		})
	}
}

// What cannot be recorded does not happen: an engine whose journal fails stops.
func TestJournalFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := make(chan string, 9)
		s := &scripted{fns: fns{"f": handed(tokens)}}
		e := newEngine(t, Options{Invoker: s, Dir: t.TempDir()})
		m := create(t, e, waiting("X"))
		arn := start(t, e, m, "x", `{}`)
		tok := <-tokens
		synctest.Wait()
		e.mu.Lock()
		e.journal.f.Close() // as a full disk would, from here on
		e.journal.f, _ = os.Open(os.DevNull)
		e.mu.Unlock()
		if err := e.succeed(tok, `1`); code(err) != CodeUnavailable {
			t.Errorf("an answer that was not kept: %v", err)
		}
		if _, err := e.StartExecution(StartExecutionInput{m, "y", `{}`}); code(err) != CodeUnavailable {
			t.Errorf("start: %v", err)
		}
		if err := e.Wait(t.Context(), arn); err == nil {
			t.Error("the execution went on")
		}
		if got := types(history(t, e, arn)); !strings.HasSuffix(got, "TaskSubmitted") {
			t.Errorf("the history shows what was not kept: %s", got)
		}
	})
}

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
