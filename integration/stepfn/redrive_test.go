package stepfn

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// https://docs.aws.amazon.com/step-functions/latest/dg/redrive-executions.html
// https://docs.aws.amazon.com/step-functions/latest/apireference/API_RedriveExecution.html

func redrive(e *Engine, arn, token string) (RedriveExecutionOutput, error) {
	return e.RedriveExecution(RedriveExecutionInput{ExecutionARN: arn, ClientToken: token})
}

// A redrive goes on in the state without an end, with the same input and ARN, and
// its retriers count from 0.
func TestRedriveGoesOn(t *testing.T) {
	def := `{"StartAt":"P","States":{
		"P":{"Type":"Pass","Result":1,"ResultPath":"$.p","Next":"F"},
		"F":{` + call("f", `{"p.$":"$.p","n.$":"$$.Execution.RedriveCount"}`) + `,"ResultPath":"$.f","ResultSelector":{"n.$":"$.Payload.n"},
			"Retry":[{"ErrorEquals":["Boom"],"IntervalSeconds":1,"MaxAttempts":2}],"Next":"S"},
		"S":{"Type":"Succeed"}}}`
	synctest.Test(t, func(t *testing.T) {
		good := false
		s := &scripted{fns: fns{"f": func(_ context.Context, in map[string]any) (any, error) {
			if good {
				return in, nil
			}
			return nil, lambdaError{"Boom", "no"}
		}}}
		var mu sync.Mutex
		var changes []string
		e := newEngine(t, Options{Invoker: s, OnStatusChange: func(c StatusChange) {
			mu.Lock()
			defer mu.Unlock()
			d := c.Detail
			changes = append(changes, fmt.Sprint(d.Status, " ", d.RedriveCount, " ", d.RedriveStatus))
		}})
		arn := start(t, e, create(t, e, def), "x", `{"in":true}`)
		first := finish(t, e, arn)
		if first.Status != Failed || first.RedriveStatus != statusRedrivable || first.RedriveReason != "" || first.RedriveCount != 0 || first.RedriveDate != nil {
			t.Errorf("failed: %+v", first)
		}
		before := history(t, e, arn)
		time.Sleep(time.Hour)
		if _, err := redrive(e, arn, ""); err != nil {
			t.Fatal(err)
		}
		if d := finish(t, e, arn); d.Status != Failed || d.RedriveCount != 1 || !d.RedriveDate.Equal(first.StopDate.Add(time.Hour)) || s.count("f") != 6 {
			t.Errorf("redriven once: %+v after %d calls; three and three are due", d, s.count("f"))
		}
		good = true
		out, err := redrive(e, arn, "")
		if err != nil {
			t.Fatal(err)
		}
		d := finish(t, e, arn)
		if d.Status != Succeeded || *d.Output != `{"f":{"n":2},"in":true,"p":1}` || d.RedriveCount != 2 || *d.RedriveDate != out.RedriveDate ||
			d.RedriveReason != "Execution is SUCCEEDED and cannot be redriven." || d.Error != "" {
			t.Errorf("redriven twice: %+v %s", d, deref(d.Output))
		}
		h := history(t, e, arn)
		if types(h[:len(before)]) != types(before) || visits(h) != "P F S" {
			t.Errorf("visits %s of %s", visits(h), types(h))
		}
		if ev := h[len(before)]; ev.Type != evExecutionRedriven || ev.ExecutionRedriven.RedriveCount != 1 || ev.Previous != int64(len(before)) {
			t.Errorf("event %+v", ev)
		}
		want := "RUNNING 0 NOT_REDRIVABLE, FAILED 0 REDRIVABLE, RUNNING 1 NOT_REDRIVABLE, FAILED 1 REDRIVABLE, RUNNING 2 NOT_REDRIVABLE, SUCCEEDED 2 NOT_REDRIVABLE"
		if got := strings.Join(changes, ", "); got != want {
			t.Errorf("changes %s\nwant    %s", got, want)
		}
		l, err := e.ListExecutions(ListExecutionsInput{StateMachineARN: d.StateMachineARN})
		if err != nil || l.Executions[0].RedriveCount != 2 || *l.Executions[0].RedriveDate != out.RedriveDate {
			t.Errorf("listed as %+v, %v", l.Executions, err)
		}
	})
}

func TestRedriveRefused(t *testing.T) {
	boom := `{"StartAt":"A","States":{"A":{"Type":"Fail","Error":"E"}}}`
	for _, tc := range []struct {
		name, def string
		wait      time.Duration
		events    int
		code      string
		reason    string
	}{
		{"at 14 days", boom, redrivable, 0, "", ""},
		{"after 14 days", boom, redrivable + time.Second, 0, CodeExecutionNotRedrivable, "Execution redrivable period exceeded."},
		{"succeeded", `{"StartAt":"A","States":{"A":{"Type":"Succeed"}}}`, 0, 0, CodeExecutionNotRedrivable, "Execution is SUCCEEDED and cannot be redriven."},
		{"running", waitHour, 0, 0, CodeExecutionNotRedrivable, "Execution is RUNNING and cannot be redriven."},
		{"24,998 events", boom, 0, MaxEvents - 2, "", ""},
		{"24,999 events", boom, 0, MaxEvents - 1, CodeExecutionNotRedrivable, "Execution history event limit exceeded."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(t, Options{})
				arn := start(t, e, create(t, e, tc.def), "x", `{}`)
				synctest.Wait()
				time.Sleep(tc.wait)
				if x := e.executions[arn]; tc.events > 0 {
					x.events = append(x.events, make([]Event, tc.events-len(x.events))...)
				}
				if d := describe(t, e, arn); d.RedriveReason != tc.reason || (d.RedriveStatus == statusRedrivable) != (tc.code == "") {
					t.Errorf("described as %s, %q", d.RedriveStatus, d.RedriveReason)
				}
				_, err := redrive(e, arn, "")
				if tc.code == "" && err != nil || tc.code != "" && code(err) != tc.code {
					t.Errorf("%v, want %q", err, tc.code)
				}
			})
		})
	}
	e := newEngine(t, Options{})
	m := create(t, e, boom)
	if _, err := redrive(e, strings.Replace(m, ":stateMachine:", ":execution:", 1)+":none", ""); code(err) != CodeExecutionDoesNotExist {
		t.Errorf("an execution that is not there: %v", err)
	}
	if _, err := redrive(e, m, ""); code(err) != CodeInvalidArn {
		t.Errorf("a machine's ARN: %v", err)
	}
	if _, err := redrive(e, m, strings.Repeat("x", 65)); code(err) != CodeValidation {
		t.Errorf("a long client token: %v", err)
	}
}

// No more than MaxOpen executions are open, however they were opened.
func TestRedriveWhereNoMoreMayBeOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{MaxOpen: 1})
		m := create(t, e, waitHour)
		arn := start(t, e, m, "x", `{}`)
		if _, err := e.StartExecution(StartExecutionInput{StateMachineARN: m, Name: "y"}); code(err) != CodeExecutionLimitExceeded {
			t.Errorf("a second start: %v", err)
		}
		if _, err := e.StopExecution(StopExecutionInput{ExecutionARN: arn}); err != nil {
			t.Fatal(err)
		}
		other := start(t, e, m, "z", `{}`)
		if _, err := redrive(e, arn, ""); code(err) != CodeExecutionLimitExceeded {
			t.Errorf("a redrive: %v", err)
		}
		finish(t, e, other)
		if _, err := redrive(e, arn, ""); err != nil {
			t.Errorf("a redrive when the other has ended: %v", err)
		}
	})
}

// A repeat with one client token is answered, and does not redrive again.
func TestRedriveClientToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		e := restart(t, dir, &scripted{})
		arn := start(t, e, create(t, e, `{"StartAt":"A","States":{"A":{"Type":"Fail","Error":"E"}}}`), "x", `{}`)
		finish(t, e, arn)
		one, err := redrive(e, arn, "token")
		if err != nil {
			t.Fatal(err)
		}
		finish(t, e, arn)
		e.Close()
		e = restart(t, dir, &scripted{})
		time.Sleep(clientTokenOK - time.Second)
		if again, err := redrive(e, arn, "token"); err != nil || again != one {
			t.Errorf("a repeat: %v, %v, want %v", again, err, one)
		}
		if d := describe(t, e, arn); d.RedriveCount != 1 {
			t.Errorf("redriven %d times", d.RedriveCount)
		}
		time.Sleep(time.Second)
		if _, err := redrive(e, arn, "token"); err != nil {
			t.Errorf("the token is of the past: %v", err)
		}
		if d := finish(t, e, arn); d.RedriveCount != 2 {
			t.Errorf("redriven %d times", d.RedriveCount)
		}
	})
}

// What the run before a redrive still does has no effect on it: its function's
// answer is dropped, its token is of the past, and its goroutine writes nothing.
func TestRedriveIgnoresTheRunBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := make(chan string, 9)
		s := &scripted{fns: fns{"f": handed(tokens)}}
		var order []Status
		e := newEngine(t, Options{Invoker: s, OnStatusChange: func(c StatusChange) {
			if c.Detail.Status == Aborted {
				time.Sleep(time.Minute) // a slow subscriber
			}
			order = append(order, c.Detail.Status) // one at a time: that is what is tested
		}})
		arn := start(t, e, create(t, e, waiting("X")), "x", `{}`)
		old := <-tokens
		synctest.Wait()
		if _, err := e.StopExecution(StopExecutionInput{ExecutionARN: arn}); err != nil {
			t.Fatal(err)
		}
		if _, err := redrive(e, arn, ""); err != nil { // the run before has not unwound
			t.Fatal(err)
		}
		if err := e.succeed(old, `"old"`); code(err) != CodeTaskTimedOut {
			t.Errorf("the old token: %v", err)
		}
		if d := describe(t, e, arn); d.Status != Running || d.StopDate != nil {
			t.Errorf("redriven: %+v", d)
		}
		tok := <-tokens
		if tok == old {
			t.Error("the redriven state has the old token")
		}
		if err := e.succeed(tok, `"new"`); err != nil {
			t.Error(err)
		}
		if d := finish(t, e, arn); d.Status != Succeeded || *d.Output != `"new"` {
			t.Errorf("%s %s", d.Status, deref(d.Output))
		}
		if got := fmt.Sprint(order); got != "[RUNNING ABORTED RUNNING SUCCEEDED]" {
			t.Errorf("changes %s", got)
		}
	})
}

// An answer that comes with the stop and the redrive belongs to the run before.
func TestRedriveAndAnAnswerAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		gates := map[float64]chan struct{}{}
		s := &scripted{fns: fns{"f": func(_ context.Context, in map[string]any) (any, error) {
			mu.Lock()
			gate := gates[in["n"].(float64)]
			mu.Unlock()
			<-gate
			return in, nil
		}}}
		e := newEngine(t, Options{Invoker: s})
		m := create(t, e, `{"StartAt":"A","States":{"A":{`+call("f", `{"n.$":"$.n"}`)+`,"Next":"B"},"B":{"Type":"Pass","End":true}}}`)
		for n := range 200 {
			gate := make(chan struct{})
			mu.Lock()
			gates[float64(n)] = gate
			mu.Unlock()
			arn := start(t, e, m, fmt.Sprint("x", n), fmt.Sprintf(`{"n":%d}`, n))
			synctest.Wait()
			close(gate)
			if _, err := e.StopExecution(StopExecutionInput{ExecutionARN: arn}); err != nil {
				t.Fatal(err)
			}
			if describe(t, e, arn).Status == Aborted {
				if _, err := redrive(e, arn, ""); err != nil {
					t.Fatal(err)
				}
			}
			finish(t, e, arn)
			h := history(t, e, arn)
			if got := strings.Count(types(h), evTaskSucceeded); got != 1 || visits(h) != "A B" {
				t.Fatalf("execution %d: %s", n, types(h))
			}
		}
	})
}

// The execution's time-out and a Wait begin anew.
func TestRedriveTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{})
		arn := start(t, e, create(t, e, `{"TimeoutSeconds":1800,`+waitHour[1:]), "x", `{}`)
		if d := finish(t, e, arn); d.Status != TimedOut {
			t.Fatalf("%s %s", d.Status, d.Error)
		}
		time.Sleep(time.Hour)
		if _, err := redrive(e, arn, ""); err != nil {
			t.Fatal(err)
		}
		d := finish(t, e, arn)
		if took := d.StopDate.Sub(d.RedriveDate.Time); d.Status != TimedOut || took != 30*time.Minute {
			t.Errorf("%s %s after the redrive", d.Status, took)
		}
	})
}

// Branches and iterations that have ended are not run again, across restarts and
// a second redrive; the others go on from the state that has no end.
func TestRedriveOfBranches(t *testing.T) {
	task := func(i string) string {
		return `{"StartAt":"First` + i + `","States":{"First` + i + `":{` + call("first", `{"n.$":"$"}`) + `,"OutputPath":"$.Payload.n","Next":"Second` + i + `"},
			"Second` + i + `":{` + call("second", `{"n.$":"$"}`) + `,"OutputPath":"$.Payload","End":true}}}`
	}
	for _, tc := range []struct{ name, def, input string }{
		{"map", `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":1,"ItemProcessor":` + task("") + `,"End":true}}}`, `[1,2,3]`},
		{"parallel", `{"StartAt":"M","States":{"M":{"Type":"Parallel","Branches":[` + task("1") + `,` + task("2") + `,` + task("3") + `],"End":true}}}`, `1`},
		{"map in parallel", `{"StartAt":"O","States":{"O":{"Type":"Parallel","OutputPath":"$[0]","Branches":[{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":1,"ItemProcessor":` + task("") + `,"End":true}}}],"End":true}}}`, `[1,2,3]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				var mu sync.Mutex
				bad, seconds := 2, 0
				s := &scripted{}
				s.fns = fns{
					"first": func(_ context.Context, in map[string]any) (any, error) { return in, nil },
					"second": func(_ context.Context, in map[string]any) (any, error) {
						mu.Lock()
						defer mu.Unlock()
						if seconds++; seconds > 1 && bad > 0 {
							bad--
							return nil, lambdaError{"Boom", "no"}
						}
						return in["n"], nil
					},
				}
				e := restart(t, dir, s)
				arn := start(t, e, create(t, e, tc.def), "x", tc.input)
				for n := 1; finish(t, e, arn).Status == Failed; n++ {
					if n > 5 {
						t.Fatal("still failing")
					}
					if n == 2 { // as well from the journal
						e.Close()
						e = restart(t, dir, s)
					}
					if _, err := redrive(e, arn, ""); err != nil {
						t.Fatal(err)
					}
				}
				d := finish(t, e, arn)
				want := `[1,2,3]`
				if tc.name == "parallel" {
					want = `[1,1,1]`
				}
				if d.Status != Succeeded || deref(d.Output) != want {
					t.Errorf("%s %s %s", d.Status, deref(d.Output), d.Error)
				}
				if tc.name == "parallel" { // a failure stops the neighbours, in whichever state they are
					left := map[string]int{}
					for _, ev := range everything(t, e, arn) {
						if ev.StateExited != nil {
							left[ev.StateExited.Name]++
						}
					}
					if got := fmt.Sprint(left); got != "map[First1:1 First2:1 First3:1 M:1 Second1:1 Second2:1 Second3:1]" {
						t.Errorf("states that ended: %s; each ends once", got)
					}
					return
				}
				if one, two := s.count("first"), s.count("second"); one != 3 || two != 5 {
					t.Errorf("the first state ran %d times and the second %d; each item ends once, and two failed", one, two)
				}
			})
		})
	}
}

// A restart in the middle of a redriven run goes on with it.
func TestRedriveAndRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		tokens := make(chan string, 9)
		s := &scripted{fns: fns{"f": handed(tokens)}}
		e := restart(t, dir, s)
		arn := start(t, e, create(t, e, waiting("X")), "x", `{}`)
		old := <-tokens
		synctest.Wait()
		if _, err := e.StopExecution(StopExecutionInput{ExecutionARN: arn}); err != nil {
			t.Fatal(err)
		}
		if _, err := redrive(e, arn, ""); err != nil {
			t.Fatal(err)
		}
		tok := <-tokens
		synctest.Wait()
		e.Close()
		e = restart(t, dir, s)
		if err := e.succeed(old, `"old"`); code(err) != CodeTaskTimedOut {
			t.Errorf("the old token: %v", err)
		}
		if err := e.succeed(tok, `"new"`); err != nil {
			t.Error(err)
		}
		if d := finish(t, e, arn); d.Status != Succeeded || d.RedriveCount != 1 || s.count("f") != 2 {
			t.Errorf("%s, redriven %d times, %d calls", d.Status, d.RedriveCount, s.count("f"))
		}
	})
}
