package stepfn

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fastbowlinglab/integration/stepfn/asl"
)

// handed is a function that hands its task token to the test.
func handed(ch chan<- string) func(context.Context, map[string]any) (any, error) {
	return func(_ context.Context, in map[string]any) (any, error) {
		ch <- in["token"].(string)
		return nil, nil
	}
}

func (e *Engine) succeed(token, output string) error {
	_, err := e.SendTaskSuccess(SendTaskSuccessInput{token, &output})
	return err
}

func (e *Engine) fail(token, name, cause string) error {
	_, err := e.SendTaskFailure(SendTaskFailureInput{token, name, cause})
	return err
}

func (e *Engine) beat(token string) error {
	_, err := e.SendTaskHeartbeat(SendTaskHeartbeatInput{token})
	return err
}

// waiting is a state machine of one state that waits for a token: 60 s, with
// heartbeats every 10 s, one retry of Again, and a Catch of what caught names.
func waiting(caught string) string {
	return `{"StartAt":"A","States":{"A":{` + callback("f") + `,"TimeoutSeconds":60,"HeartbeatSeconds":10,
		"Retry":[{"ErrorEquals":["Again"],"IntervalSeconds":1,"MaxAttempts":1}],
		"Catch":[{"ErrorEquals":["` + caught + `"],"ResultPath":"$.e","Next":"Z"}],"End":true},"Z":{"Type":"Succeed"}}}`
}

// Behaviour of task tokens; each row's page is in the comment above it.
func TestTaskTokens(t *testing.T) {
	type world struct {
		*testing.T
		e      *Engine
		arn    string
		tokens chan string
	}
	want := func(w world, what string, err error, want string) {
		w.Helper()
		got := ""
		if err != nil {
			got = code(err)
		}
		if got != want {
			w.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	for _, tc := range []struct {
		behaviour string
		drive     func(w world)
		status    Status
		output    string
		error     string
		took      time.Duration
		types     string // after TaskStarted
	}{
		// https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html
		{behaviour: "success: its output is the result", status: Succeeded, output: `{"r":1}`, took: 5 * time.Second,
			types: "TaskSubmitted TaskSucceeded TaskStateExited ExecutionSucceeded",
			drive: func(w world) {
				tok := <-w.tokens
				time.Sleep(5 * time.Second)
				want(w, "success", w.e.succeed(tok, ` {"r": 1}`), "")
			}},
		// https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskFailure.html
		{behaviour: "failure: error and cause", status: Failed, error: "PoseFailed",
			types: "TaskSubmitted TaskFailed ExecutionFailed",
			drive: func(w world) {
				tok := <-w.tokens
				synctest.Wait()
				want(w, "failure", w.e.fail(tok, "PoseFailed", "no progress"), "")
			}},
		{behaviour: "a retry has a token of its own, and the old one is of the past", status: Succeeded, output: `2`, took: time.Second,
			drive: func(w world) {
				first := <-w.tokens
				want(w, "failure", w.e.fail(first, "Again", ""), "")
				want(w, "old token during the back-off", w.e.succeed(first, `1`), CodeTaskTimedOut)
				second := <-w.tokens
				want(w, "old token", w.e.succeed(first, `1`), CodeTaskTimedOut)
				want(w, "new token", w.e.succeed(second, `2`), "")
			}},
		// https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskHeartbeat.html
		{behaviour: "heartbeats keep the state waiting, but not beyond TimeoutSeconds", status: Failed, error: "States.Timeout", took: time.Minute,
			drive: func(w world) {
				tok := <-w.tokens
				for range 7 {
					time.Sleep(9 * time.Second)
					if time.Since(epoch) < time.Minute {
						want(w, "heartbeat", w.e.beat(tok), "")
					}
				}
				want(w, "late heartbeat", w.e.beat(tok), CodeTaskTimedOut)
			}},
		{behaviour: "a lost heartbeat is States.HeartbeatTimeout", status: Failed, error: "States.HeartbeatTimeout", took: 18 * time.Second,
			types: "TaskSubmitted TaskTimedOut ExecutionFailed",
			drive: func(w world) {
				tok := <-w.tokens
				time.Sleep(8 * time.Second)
				want(w, "heartbeat", w.e.beat(tok), "")
				time.Sleep(10 * time.Second)
				want(w, "heartbeat at the very moment", w.e.beat(tok), CodeTaskTimedOut)
				want(w, "success afterwards", w.e.succeed(tok, `1`), CodeTaskTimedOut)
			}},
		{behaviour: "an answer at the very moment of the time-out is too late", status: Failed, error: "States.HeartbeatTimeout", took: 10 * time.Second,
			drive: func(w world) {
				tok := <-w.tokens
				time.Sleep(10 * time.Second)
				want(w, "success", w.e.succeed(tok, `1`), CodeTaskTimedOut)
			}},
		{behaviour: "a second answer is TaskTimedOut", status: Succeeded, output: `1`,
			drive: func(w world) {
				tok := <-w.tokens
				want(w, "first", w.e.succeed(tok, `1`), "")
				want(w, "second", w.e.succeed(tok, `2`), CodeTaskTimedOut)
				want(w, "failure", w.e.fail(tok, "X", ""), CodeTaskTimedOut)
				want(w, "heartbeat", w.e.beat(tok), CodeTaskTimedOut)
			}},
		{behaviour: "an output that is no JSON is InvalidOutput and leaves the token open", status: Succeeded, output: `1`,
			drive: func(w world) {
				tok := <-w.tokens
				want(w, "no JSON", w.e.succeed(tok, `{`), CodeInvalidOutput)
				want(w, "too large", w.e.succeed(tok, `"`+strings.Repeat("x", MaxBytes)+`"`), CodeInvalidOutput)
				_, err := w.e.SendTaskSuccess(SendTaskSuccessInput{TaskToken: tok})
				want(w, "missing", err, CodeMissingRequiredParameter)
				want(w, "cause too long", w.e.fail(tok, "X", strings.Repeat("x", 32769)), CodeValidation)
				want(w, "error too long", w.e.fail(tok, strings.Repeat("x", 257), ""), CodeValidation)
				want(w, "good", w.e.succeed(tok, `1`), "")
			}},
		{behaviour: "tokens that are mangled or that nobody was given", status: Succeeded, output: `1`,
			drive: func(w world) {
				tok := <-w.tokens
				want(w, "empty", w.e.succeed("", `1`), CodeInvalidToken)
				want(w, "mangled", w.e.succeed("x"+tok[1:], `1`), CodeInvalidToken)
				want(w, "cut", w.e.succeed(tok[:len(tok)-4], `1`), CodeInvalidToken)
				want(w, "another engine's", w.e.succeed(source{[]byte("other")}.token("x"), `1`), CodeTaskDoesNotExist)
				want(w, "good", w.e.succeed(tok, `1`), "")
			}},
		{behaviour: "the token of a stopped execution is TaskTimedOut", status: Aborted, error: "Op",
			drive: func(w world) {
				tok := <-w.tokens
				if _, err := w.e.StopExecution(StopExecutionInput{w.arn, "Op", "because"}); err != nil {
					w.Error(err)
				}
				want(w, "success", w.e.succeed(tok, `1`), CodeTaskTimedOut)
			}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tokens := make(chan string, 9)
				e := newEngine(t, Options{Invoker: &scripted{fns: fns{"f": handed(tokens)}}})
				arn := start(t, e, create(t, e, waiting("Caught")), "x", `{}`)
				tc.drive(world{t, e, arn, tokens})
				d := finish(t, e, arn)
				if d.Status != tc.status || d.Error != tc.error || tc.output != "" && deref(d.Output) != tc.output {
					t.Errorf("%s %q %s, want %s %q %s", d.Status, d.Error, deref(d.Output), tc.status, tc.error, tc.output)
				}
				if took := d.StopDate.Sub(d.StartDate.Time); took != tc.took {
					t.Errorf("took %s, want %s", took, tc.took)
				}
				if _, tail, _ := strings.Cut(types(history(t, e, arn)), "TaskStarted "); tc.types != "" && tail != tc.types {
					t.Errorf("history ... %s\nwant        ... %s", tail, tc.types)
				}
			})
		})
	}
}

// epoch is when bubbles start.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html
func TestHeartbeatTimeoutIsCaughtBy(t *testing.T) {
	for name, caught := range map[string]bool{
		"States.HeartbeatTimeout": true, "States.Timeout": true, "States.ALL": true, "States.TaskFailed": false, "Other": false,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(t, Options{Invoker: &scripted{fns: fns{"f": ok}}})
				d := finish(t, e, start(t, e, create(t, e, waiting(name)), "x", `{}`))
				if got := d.Status == Succeeded; got != caught {
					t.Errorf("caught: %t, %s", got, d.Error)
				}
				if caught && *d.Output != `{"e":{"Cause":"","Error":"States.HeartbeatTimeout"}}` {
					t.Errorf("output %s", *d.Output)
				}
			})
		})
	}
}

// A function may answer its own token, and ask the engine things, while it runs:
// no lock is held over a call.
func TestFunctionAnswersItsOwnToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e *Engine
		s := &scripted{fns: fns{"f": func(_ context.Context, in map[string]any) (any, error) {
			if err := e.succeed(in["token"].(string), `"early"`); err != nil {
				t.Error(err)
			}
			if _, err := e.ListStateMachines(ListStateMachinesInput{}); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
			return nil, lambdaError{"Late", "after the answer"}
		}}}
		e = newEngine(t, Options{Invoker: s})
		d := finish(t, e, start(t, e, create(t, e, waiting("States.ALL")), "x", `{}`))
		if d.Status != Succeeded || *d.Output != `"early"` || !d.StopDate.Equal(epoch) {
			t.Errorf("%s %s at %s", d.Status, deref(d.Output), d.StopDate)
		}
	})
}

// A function that fails fails the state, though nobody has answered the token.
func TestFunctionOfATokenFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := make(chan string, 1)
		s := &scripted{fns: fns{"f": func(_ context.Context, in map[string]any) (any, error) {
			tokens <- in["token"].(string)
			return nil, lambdaError{"Released", "given back"}
		}}}
		e := newEngine(t, Options{Invoker: s})
		d := finish(t, e, start(t, e, create(t, e, waiting("Released")), "x", `{}`))
		if d.Status != Succeeded || !strings.Contains(*d.Output, `"Error":"Released"`) {
			t.Errorf("%s %s", d.Status, deref(d.Output))
		}
		if err := e.succeed(<-tokens, `1`); code(err) != CodeTaskTimedOut {
			t.Errorf("the token afterwards: %v", err)
		}
	})
}

func TestTokensInBranches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := make(chan string, 9)
		e := newEngine(t, Options{Invoker: &scripted{fns: fns{"f": handed(tokens)}}})
		m := create(t, e, `{"StartAt":"A","States":{"A":{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{`+callback("f")+`,"End":true}}},"End":true}}}`)
		arn := start(t, e, m, "x", `[1,2,3]`)
		seen := map[string]bool{}
		for range 3 {
			tok := <-tokens
			if seen[tok] {
				t.Error("two iterations have one token")
			}
			seen[tok] = true
			if err := e.succeed(tok, `7`); err != nil {
				t.Error(err)
			}
		}
		if d := finish(t, e, arn); deref(d.Output) != `[7,7,7]` {
			t.Errorf("output %s", deref(d.Output))
		}
	})
}

// At the moment of the execution's own time-out nothing else counts any more,
// whichever goroutine comes first.
func TestTheExecutionsTimeIsUp(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			tokens := make(chan string, 9)
			e := newEngine(t, Options{Invoker: &scripted{fns: fns{"f": handed(tokens)}}})
			m := create(t, e, `{"TimeoutSeconds":30,"StartAt":"A","States":{"A":{`+callback("f")+`,"End":true}}}`)
			answered, stopped := start(t, e, m, "answered", `{}`), start(t, e, m, "stopped", `{}`)
			one, two := <-tokens, <-tokens
			time.Sleep(30 * time.Second)
			for _, tok := range []string{one, two} {
				if err := e.succeed(tok, `1`); code(err) != CodeTaskTimedOut {
					t.Error(err)
				}
			}
			if _, err := e.StopExecution(StopExecutionInput{ExecutionARN: stopped}); err != nil {
				t.Error(err)
			}
			for _, arn := range []string{answered, stopped} {
				if d := finish(t, e, arn); d.Status != TimedOut || d.Error != "States.Timeout" {
					t.Errorf("%s is %s", d.Name, d.Status)
				}
			}
		})
	}
}

// What a function answers counts only while its attempt is open: not after the
// token was answered, and not at the very moment of the time-out. Which of the
// two a goroutine sees first must not matter, so this asks directly.
func TestFunctionTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := make(chan string, 9)
		e := newEngine(t, Options{Invoker: &scripted{fns: fns{"f": handed(tokens)}}})
		arn := start(t, e, create(t, e, waiting("X")), "x", `{}`)
		tok := <-tokens
		synctest.Wait()
		w := e.tokens[tok]
		v := &visit{r: &runner{e: e, x: w.x, sc: w.sc}, sc: w.sc, s: w.x.rev.model.States["A"]}
		failure := &asl.Error{Name: "X"}
		if _, done, err := v.answered(w, reply{at: w.expiry(), fail: failure}, "f"); done || err != nil {
			t.Errorf("at the moment of the time-out: %t %v", done, err)
		}
		if err := e.succeed(tok, `1`); err != nil {
			t.Fatal(err)
		}
		if _, done, err := v.answered(w, reply{at: epoch, fail: failure}, "f"); done || err != nil {
			t.Errorf("after the answer: %t %v", done, err)
		}
		if d := finish(t, e, arn); deref(d.Output) != `1` {
			t.Errorf("%s %s", d.Status, d.Error)
		}
	})
}
