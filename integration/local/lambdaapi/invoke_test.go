package lambdaapi_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"fastbowlinglab/integration/local/lambdaapi"
)

// TestFailures is the table of how a failed invocation looks. The shapes are
// those of AWS's "Lambda function errors" and of aws-lambda-go.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, payload string
		opts          []func(*lambdaapi.Config)
		wantType      string
		wantMessage   string // contained
		wantStack     bool
	}{
		{name: "an error with a name keeps it", payload: `{"do":"typed"}`, wantType: "Transient", wantMessage: "try again"},
		{name: "a plain error is named by its Go type", payload: `{"do":"plain"}`, wantType: "errorString", wantMessage: "plain"},
		{name: "a wrapped error loses its name", payload: `{"do":"wrapped"}`, wantType: "wrapError", wantMessage: "outer: inner"},
		{name: "a panic has a stack", payload: `{"do":"panic"}`, wantType: "string", wantMessage: "the roof", wantStack: true},
		{name: "exit with a code", payload: `{"do":"exit","code":3}`, wantType: "Runtime.ExitError", wantMessage: "Runtime exited with error: exit status 3"},
		{name: "exit without one", payload: `{"do":"exit"}`, wantType: "Runtime.ExitError", wantMessage: "Runtime exited without providing a reason"},
		{name: "a response over 6 MB", payload: `{"do":"big","bytes":6300000}`, wantType: "Function.ResponseSizeTooLarge", wantMessage: "6291556 bytes"},
		{name: "init exits", payload: `{}`, opts: opts(env("FN_INIT=crash")), wantType: "Runtime.ExitError", wantMessage: "exit status 7"},
		{name: "init reports its error", payload: `{}`, opts: opts(env("FN_INIT=error")), wantType: "Config.Missing", wantMessage: "TABLE_ANALYSES is not set"},
		{name: "init never ends", payload: `{}`,
			opts:     opts(env("FN_INIT=hang"), timeout(50*time.Millisecond), func(c *lambdaapi.Config) { c.Init = 20 * time.Millisecond }),
			wantType: "Sandbox.Timedout", wantMessage: "Task timed out after 0.05 seconds"},
		{name: "no program", payload: `{}`, opts: opts(func(c *lambdaapi.Config) { c.Binary = func(string) string { return "/nowhere/fn" } }),
			wantType: "Runtime.InvalidEntrypoint", wantMessage: "/nowhere/fn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, c.opts...)
			a, fe := call(t, s, "fn", c.payload)
			if fe != "Unhandled" {
				t.Errorf("function error %q, want Unhandled", fe)
			}
			if a.Type != c.wantType || !strings.Contains(a.Message, c.wantMessage) {
				t.Errorf("got %s: %s, want %s: %s", a.Type, a.Message, c.wantType, c.wantMessage)
			}
			if (len(a.Stack) > 0) != c.wantStack {
				t.Errorf("stack trace of %d frames, want one: %v", len(a.Stack), c.wantStack)
			}
			if r := s.Invocations(); len(r) != 1 || r[0].Error != c.wantType {
				t.Errorf("record %+v, want one invocation with error %s", r, c.wantType)
			}
		})
	}
}

func opts(o ...func(*lambdaapi.Config)) []func(*lambdaapi.Config) { return o }

// TestRefusals are the errors for which no function runs.
func TestRefusals(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		name, function, payload, code string
		status                        int
	}{
		{"unknown function", "nobody", `{}`, "ResourceNotFoundException", 404},
		{"unknown version", "fn:9", `{}`, "ResourceNotFoundException", 404},
		{"version with a leading zero", "fn:01", `{}`, "ResourceNotFoundException", 404},
		{"another account's function", "arn:aws:lambda:us-east-1:111111111111:function:fn", `{}`, "ResourceNotFoundException", 404},
		{"not a name", "a:b:c", `{}`, "InvalidParameterValueException", 400},
		{"empty name", "", `{}`, "InvalidParameterValueException", 400},
		{"not JSON", "fn", `{"do":`, "InvalidRequestContentException", 400},
		{"two JSON values", "fn", `{} {}`, "InvalidRequestContentException", 400},
		{"over 6 MB", "fn", `"` + strings.Repeat("x", 6<<20) + `"`, "RequestTooLargeException", 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := s.Invoke(t.Context(), c.function, []byte(c.payload))
			var e *lambdaapi.Error
			if !errors.As(err, &e) || e.Code != c.code || e.Status != c.status {
				t.Errorf("got %v, want %s with status %d", err, c.code, c.status)
			}
		})
	}
	if n := len(s.Invocations()); n != 0 {
		t.Errorf("%d invocations ran, want none", n)
	}
}

func TestNamesOfAFunction(t *testing.T) {
	s := start(t)
	base := "arn:aws:lambda:us-east-1:000000000000:function:fn"
	for ref, wantARN := range map[string]string{
		"fn": base, "fn:1": base + ":1", "fn:$LATEST": base, base: base, base + ":1": base + ":1",
		"000000000000:function:fn": base, "000000000000:function:fn:1": base + ":1",
	} {
		if a, fe := call(t, s, ref, `{}`); fe != "" || a.ARN != wantARN {
			t.Errorf("%s ran as %s (%s %s), want %s", ref, a.ARN, fe, a.Message, wantARN)
		}
	}
}

func TestAProcessIsReused(t *testing.T) {
	s := start(t)
	first, _ := call(t, s, "fn", `{}`)
	second, _ := call(t, s, "fn", ``)
	if first.PID != second.PID {
		t.Errorf("pids %d and %d, want one process", first.PID, second.PID)
	}
	r := s.Invocations()
	if !r[0].Cold || r[1].Cold || r[0].Init <= 0 || r[1].Init != 0 {
		t.Errorf("cold %v (init %v) then %v (init %v), want a cold start and a warm one", r[0].Cold, r[0].Init, r[1].Cold, r[1].Init)
	}
	if r[1].Duration() <= 0 || r[1].PeakMemoryMB <= 0 {
		t.Errorf("record %+v lacks duration or memory", r[1])
	}
}

func TestTheFunctionSeesItsDeadline(t *testing.T) {
	s := start(t, timeout(20*time.Second))
	a, _ := call(t, s, "fn", `{}`)
	if a.LeftMS <= 15_000 || a.LeftMS > 20_000 {
		t.Errorf("%d ms left at the start, want just under 20,000", a.LeftMS)
	}
}

func TestTheFunctionGetsItsEnvironment(t *testing.T) {
	s := start(t, env("TABLE_ANALYSES=fbl-analyses"))
	for name, want := range map[string]string{
		"TABLE_ANALYSES": "fbl-analyses", "AWS_LAMBDA_FUNCTION_VERSION": "1", "AWS_LAMBDA_FUNCTION_NAME": "fn",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128", "AWS_REGION": "us-east-1", "HOME": "",
	} {
		if a, _ := call(t, s, "fn:1", fmt.Sprintf(`{"env":%q}`, name)); a.Env != want {
			t.Errorf("%s is %q in the function, want %q", name, a.Env, want)
		}
	}
}

func TestTwoAtOnceAreTwoProcessesAndTheCapHolds(t *testing.T) {
	s := start(t, func(c *lambdaapi.Config) { c.Concurrency = 2 })
	g := newGate(t)
	d1, d2 := async(t.Context(), s, g.payload("")), async(t.Context(), s, g.payload(""))
	v1, v2 := g.next(t), g.next(t)
	if v1.pid == v2.pid {
		t.Errorf("both in process %d", v1.pid)
	}
	_, _, err := s.Invoke(t.Context(), "fn", nil)
	var e *lambdaapi.Error
	if !errors.As(err, &e) || e.Code != "TooManyRequestsException" || e.Status != 429 {
		t.Errorf("the third at once: %v, want TooManyRequestsException", err)
	}
	v1.answer <- ""
	v2.answer <- ""
	for _, d := range []<-chan error{d1, d2} {
		if err := <-d; err != nil {
			t.Error(err)
		}
	}
	if a, _ := call(t, s, "fn", `{}`); a.PID != v1.pid && a.PID != v2.pid {
		t.Errorf("process %d is a new one; two were idle", a.PID)
	}
}

func TestItsOwnTimeoutKillsTheProcessGroup(t *testing.T) {
	s := start(t, timeout(300*time.Millisecond))
	g := newGate(t)
	a, fe := call(t, s, "fn", g.payload("child"))
	if fe != "Unhandled" || a.Type != "Sandbox.Timedout" || !strings.HasSuffix(a.Message, "Error: Task timed out after 0.30 seconds") {
		t.Errorf("got %s %s: %s", fe, a.Type, a.Message)
	}
	v := g.next(t)
	eventually(t, "the function's process is gone", func() bool { return !alive(v.pid) })
	eventually(t, "its child is gone", func() bool { return !alive(v.child) })
	if b, _ := call(t, s, "fn", `{}`); b.PID == v.pid || b.Type != "" {
		t.Errorf("the next call ran in the killed process or failed: %+v", b)
	}
}

func TestACallerThatStopsWaitingStopsNothing(t *testing.T) {
	s := start(t)
	g := newGate(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := async(ctx, s, g.payload(""))
	v := g.next(t)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller got %v, want context.Canceled", err)
	}
	if !alive(v.pid) || len(s.Invocations()) != 0 {
		t.Error("the function did not run on")
	}
	v.answer <- ""
	eventually(t, "the invocation ends by itself", func() bool { return len(s.Invocations()) == 1 })
	if r := s.Invocations()[0]; r.Error != "" {
		t.Errorf("it ended with %s", r.Error)
	}
	if a, _ := call(t, s, "fn", `{}`); a.PID != v.pid {
		t.Errorf("process %d served the next call, want the idle %d", a.PID, v.pid)
	}
}

func TestACrashInMidCall(t *testing.T) {
	s := start(t)
	g := newGate(t)
	done := async(t.Context(), s, g.payload(""))
	v := g.next(t)
	if err := syscall.Kill(v.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a killed process answered")
	}
	if r := s.Invocations()[0]; r.Error != "Runtime.ExitError" {
		t.Errorf("error %q, want Runtime.ExitError", r.Error)
	}
}

func TestAProcessThatDiedIdleIsReplaced(t *testing.T) {
	s := start(t)
	a, _ := call(t, s, "fn", `{}`)
	for range 30 { // whether the service has noticed the death is a matter of luck
		if err := syscall.Kill(a.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for alive(a.PID) {
			runtime.Gosched()
		}
		b, fe := call(t, s, "fn", `{}`)
		if fe != "" || b.PID == a.PID {
			t.Fatalf("got %s %s from process %d, want a fresh process", fe, b.Type, b.PID)
		}
		a = b
	}
}

func TestAnIdleProcessIsStoppedAfterAWhile(t *testing.T) {
	s := start(t, func(c *lambdaapi.Config) { c.Idle = 30 * time.Millisecond })
	a, _ := call(t, s, "fn", `{}`)
	eventually(t, "the idle process is stopped", func() bool { return !alive(a.PID) })
}

func TestASlowInitIsStartedAgain(t *testing.T) {
	s := start(t, env("FN_INIT=slow once", "FN_MARK="+filepath.Join(t.TempDir(), "mark")),
		func(c *lambdaapi.Config) { c.Init = 500 * time.Millisecond })
	if a, fe := call(t, s, "fn", `{}`); fe != "" || a.PID == 0 {
		t.Errorf("got %s %s: %s", fe, a.Type, a.Message)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	s := start(t)
	g := newGate(t)
	done := async(t.Context(), s, g.payload("child"))
	v := g.next(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-done
	if alive(v.pid) {
		t.Errorf("process %d is alive after Close", v.pid)
	}
	eventually(t, "its child is gone", func() bool { return !alive(v.child) })
	_, _, err := s.Invoke(t.Context(), "fn", nil)
	var e *lambdaapi.Error
	if !errors.As(err, &e) || e.Code != "ServiceException" {
		t.Errorf("invoke after Close: %v, want ServiceException", err)
	}
}
