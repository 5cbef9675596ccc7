package stepfn

import (
	"context"
	"encoding/json"
	"fmt"
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

func TestRestartOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		tokens := make(chan string, 99)
		s := &scripted{fns: fns{"f": handed(tokens)}}
		e := restart(t, dir, s)
		m := create(t, e, waiting("X"))
		for i := range 30 {
			start(t, e, m, fmt.Sprint("x", i), `{}`)
		}
		synctest.Wait()
		e.Close()
		e = restart(t, dir, s)
		if len(tokens) != 30 {
			t.Fatalf("%d tokens", len(tokens))
		}
		for range 30 {
			if err := e.succeed(<-tokens, `1`); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		l, err := e.ListExecutions(ListExecutionsInput{StateMachineARN: m, StatusFilter: Succeeded})
		if err != nil || len(l.Executions) != 30 {
			t.Errorf("%d succeeded, %v", len(l.Executions), err)
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
