package stepfn

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const waitHour = `{"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":3600,"End":true}}}`

// https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
func TestStartExecutionNames(t *testing.T) {
	e := newEngine(t, Options{})
	m := create(t, e, waitHour)
	for name, valid := range map[string]bool{
		"an-abc_1.x": true, "ü-名前": true, strings.Repeat("n", 80): true, strings.Repeat("名", 80): true,
		strings.Repeat("n", 81): false, "a b": false, "a\tb": false, "a<b": false, "a>b": false, "a{b": false, "a}b": false,
		"a[b": false, "a]b": false, "a?b": false, "a*b": false, `a"b`: false, "a#b": false, "a%b": false, `a\b`: false,
		"a^b": false, "a|b": false, "a~b": false, "a`b": false, "a$b": false, "a&b": false, "a,b": false, "a;b": false,
		"a:b": false, "a/b": false, "a\u0000b": false, "a\u0085b": false, "a\u007fb": false, "a\xffb": false,
	} {
		_, err := e.StartExecution(StartExecutionInput{StateMachineARN: m, Name: name})
		if (err == nil) != valid || err != nil && code(err) != CodeInvalidName {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

// https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
func TestStartExecutionIsIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{})
		m := create(t, e, waitHour)
		begin := func(name, input string) (StartExecutionOutput, string) {
			x, err := e.StartExecution(StartExecutionInput{m, name, input})
			if err != nil {
				return x, code(err)
			}
			return x, ""
		}
		first, _ := begin("x", `{"a":1}`)
		time.Sleep(time.Minute)
		if again, err := begin("x", `{"a":1}`); err != "" || again != first {
			t.Errorf("open, same input: %v %q, want %v", again, err, first)
		}
		if _, err := begin("x", `{"a":2}`); err != CodeExecutionAlreadyExists {
			t.Errorf("open, other input: %q", err)
		}
		finish(t, e, first.ExecutionARN)
		if _, err := begin("x", `{"a":1}`); err != CodeExecutionAlreadyExists {
			t.Errorf("closed, same input: %q", err)
		}
		a, _ := begin("", `{}`)
		b, _ := begin("", `{}`)
		if a.ExecutionARN == b.ExecutionARN || a.ExecutionARN == "" {
			t.Errorf("without a name: %v and %v", a, b)
		}
		for _, bad := range []struct{ arn, input, want string }{
			{m, `{`, CodeInvalidExecutionInput},
			{m, `"` + strings.Repeat("x", MaxBytes) + `"`, CodeInvalidExecutionInput},
			{m + "x", `{}`, CodeStateMachineDoesNotExist},
			{"m", `{}`, CodeInvalidArn},
		} {
			if _, err := e.StartExecution(StartExecutionInput{bad.arn, "y", bad.input}); code(err) != bad.want {
				t.Errorf("%.40s %.10s: %v, want %s", bad.arn, bad.input, err, bad.want)
			}
		}
		if n := count(t, e, m); n != 3 {
			t.Errorf("%d executions", n)
		}
	})
}

func count(t *testing.T, e *Engine, m string) int {
	t.Helper()
	l, err := e.ListExecutions(ListExecutionsInput{StateMachineARN: m, MaxResults: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return len(l.Executions)
}

func TestParallelStartsMakeOneExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{fns: fns{"f": takes(time.Minute, 1, nil)}}
		e := newEngine(t, Options{Invoker: s})
		m := create(t, e, `{"StartAt":"A","States":{"A":{`+call("f", `{}`)+`,"End":true}}}`)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { start(t, e, m, "an-1", `{"a":1}`) })
		}
		wg.Wait()
		synctest.Wait()
		if s.count("f") != 1 || count(t, e, m) != 1 {
			t.Errorf("%d calls, %d executions", s.count("f"), count(t, e, m))
		}
	})
}

// https://docs.aws.amazon.com/step-functions/latest/apireference/API_StopExecution.html
func TestStopExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{fns: fns{"f": takes(time.Hour, "late", nil)}}
		e := newEngine(t, Options{Invoker: s})
		m := create(t, e, `{"StartAt":"A","States":{"A":{`+call("f", `{}`)+`,"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Z"}],"End":true},"Z":{"Type":"Succeed"}}}`)
		arn := start(t, e, m, "x", `{}`)
		time.Sleep(time.Minute)
		first, err := e.StopExecution(StopExecutionInput{arn, "Operator", "by hand"})
		if err != nil {
			t.Fatal(err)
		}
		if d := describe(t, e, arn); d.Status != Aborted || d.Error != "Operator" || d.Cause != "by hand" || !d.StopDate.Equal(first.StopDate.Time) {
			t.Errorf("at once: %+v", d)
		}
		time.Sleep(2 * time.Hour) // the function's late answer changes nothing
		again, err := e.StopExecution(StopExecutionInput{arn, "Other", ""})
		if err != nil || again != first {
			t.Errorf("a second stop: %v %v", again, err)
		}
		if got := types(history(t, e, arn)); got != "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted ExecutionAborted" {
			t.Errorf("history %s", got)
		}
		if _, err := e.StopExecution(StopExecutionInput{ExecutionARN: arn + "x"}); code(err) != CodeExecutionDoesNotExist {
			t.Error(err)
		}
	})
}

func TestStatusChanges(t *testing.T) {
	// https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var got []string
		var last StatusChange
		opt := Options{Invoker: &scripted{fns: fns{"f": fails("Boom")}}, OnStatusChange: func(c StatusChange) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, c.Detail.Name+" "+string(c.Detail.Status))
			last = c
		}}
		e := newEngine(t, opt)
		m := create(t, e, `{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Variable":"$.do","StringEquals":"wait","Next":"W"},{"Variable":"$.do","StringEquals":"fail","Next":"F"}],"Default":"S"},
			"W":{"Type":"Wait","Seconds":3600,"End":true},"F":{`+call("f", `{}`)+`,"End":true},"S":{"Type":"Succeed"}},"TimeoutSeconds":60}`)
		one := func(name, do string, stop bool) {
			arn := start(t, e, m, name, `{"do":"`+do+`"}`)
			if stop {
				synctest.Wait()
				if _, err := e.StopExecution(StopExecutionInput{ExecutionARN: arn}); err != nil {
					t.Error(err)
				}
			}
			finish(t, e, arn)
		}
		one("a", "succeed", false)
		one("b", "fail", false)
		if d := last.Detail; d.Error == nil || *d.Error != "Boom" || d.Cause == nil || d.Output != nil || d.Input == nil || *d.Input != `{"do":"fail"}` || *d.StopDate != d.StartDate {
			t.Errorf("detail of a failure: %+v", d)
		}
		one("c", "wait", true)
		one("d", "wait", false)
		want := "a RUNNING, a SUCCEEDED, b RUNNING, b FAILED, c RUNNING, c ABORTED, d RUNNING, d TIMED_OUT"
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("changes %s\nwant    %s", s, want)
		}
		b, err := json.Marshal(last.Detail)
		if err != nil {
			t.Fatal(err)
		}
		wantDetail := `{"executionArn":"arn:aws:states:us-east-1:000000000000:execution:m:d","stateMachineArn":"` + m + `","name":"d","status":"TIMED_OUT","startDate":946684800000,"stopDate":946684860000,` +
			`"input":"{\"do\":\"wait\"}","output":null,"inputDetails":{"included":true},"outputDetails":null,"error":"States.Timeout","cause":"","stateMachineVersionArn":null,"stateMachineAliasArn":null,"redriveCount":0,"redriveDate":null,"redriveStatus":"REDRIVABLE","redriveStatusReason":null}`
		if string(b) != wantDetail {
			t.Errorf("detail %s\nwant   %s", b, wantDetail)
		}
	})
}

// Close waits for what still runs, and leaves open executions as they are.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var returned atomic.Int32
		s := &scripted{fns: fns{"f": func(ctx context.Context, _ map[string]any) (any, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // winding up
			returned.Add(1)
			return nil, ctx.Err()
		}}}
		e := newEngine(t, Options{Invoker: s})
		m := create(t, e, `{"StartAt":"A","States":{"A":{`+call("f", `{}`)+`,"TimeoutSeconds":5,"End":true}}}`)
		arn := start(t, e, m, "x", `{}`)
		finish(t, e, arn) // timed out; the function still runs
		open := start(t, e, m, "y", `{}`)
		synctest.Wait()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if returned.Load() != 2 {
			t.Error("Close did not wait for both functions")
		}
		if d := describe(t, e, open); d.Status != Running {
			t.Errorf("the open execution is %s", d.Status)
		}
		if _, err := e.StartExecution(StartExecutionInput{StateMachineARN: m}); code(err) != CodeUnavailable {
			t.Errorf("start after Close: %v", err)
		}
		if err := e.Wait(t.Context(), open); err == nil {
			t.Error("Wait for an open execution of a closed engine returned no error")
		}
	})
}
