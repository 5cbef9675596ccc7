package stepfn

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
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
			`"input":"{\"do\":\"wait\"}","output":null,"inputDetails":{"included":true},"outputDetails":null,"error":"States.Timeout","cause":"","stateMachineVersionArn":null,"stateMachineAliasArn":null,"redriveCount":0,"redriveStatus":"NOT_REDRIVABLE"}`
		if string(b) != wantDetail {
			t.Errorf("detail %s\nwant   %s", b, wantDetail)
		}
	})
}

func TestUpdateStateMachine(t *testing.T) {
	// https://docs.aws.amazon.com/step-functions/latest/apireference/API_UpdateStateMachine.html
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{})
		waiting := `{"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":60,"Next":"Old"},"Old":{"Type":"Succeed"}}}`
		m := create(t, e, waiting)
		open := start(t, e, m, "open", `{}`)
		synctest.Wait()
		newer := `{"StartAt":"New","States":{"New":{"Type":"Succeed"}}}`
		u, err := e.UpdateStateMachine(UpdateStateMachineInput{StateMachineARN: m, Definition: newer})
		if err != nil || u.RevisionID == "" {
			t.Fatal(u, err)
		}
		later := start(t, e, m, "later", `{}`)
		finish(t, e, open)
		finish(t, e, later)
		if v := visits(history(t, e, open)); v != "A Old" {
			t.Errorf("the open run went %s", v)
		}
		if v := visits(history(t, e, later)); v != "New" {
			t.Errorf("the later run went %s", v)
		}
		d, err := e.DescribeStateMachine(DescribeStateMachineInput{m})
		if err != nil || d.Definition != newer || d.RevisionID != u.RevisionID || d.RoleARN != testRole {
			t.Errorf("%+v %v", d, err)
		}
		f, err := e.DescribeStateMachineForExecution(DescribeStateMachineForExecutionInput{open})
		if err != nil || f.Definition != waiting || f.RevisionID != "" {
			t.Errorf("%+v %v", f, err)
		}
		for _, bad := range []struct {
			in   UpdateStateMachineInput
			want string
		}{
			{UpdateStateMachineInput{StateMachineARN: m}, CodeMissingRequiredParameter},
			{UpdateStateMachineInput{StateMachineARN: m + "x", Definition: newer}, CodeStateMachineDoesNotExist},
			{UpdateStateMachineInput{StateMachineARN: m, Definition: `{}`}, CodeInvalidDefinition},
		} {
			if _, err := e.UpdateStateMachine(bad.in); code(err) != bad.want {
				t.Errorf("%+v: %v", bad.in, err)
			}
		}
	})
}

func TestCreateStateMachine(t *testing.T) {
	e := newEngine(t, Options{})
	in := CreateStateMachineInput{Name: "m", Definition: waitHour, RoleARN: testRole}
	first, err := e.CreateStateMachine(in)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.CreateStateMachine(in); err != nil || again != first {
		t.Errorf("the same again: %v %v", again, err)
	}
	change := func(f func(*CreateStateMachineInput)) CreateStateMachineInput {
		out := in
		f(&out)
		return out
	}
	for _, tc := range []struct {
		in   CreateStateMachineInput
		want string
	}{
		{change(func(i *CreateStateMachineInput) { i.RoleARN = "arn:aws:iam::1:role/other" }), CodeStateMachineAlreadyExists},
		{change(func(i *CreateStateMachineInput) { i.Name = "a b" }), CodeInvalidName},
		{change(func(i *CreateStateMachineInput) { i.Name = "" }), CodeInvalidName},
		{change(func(i *CreateStateMachineInput) {
			i.Name, i.Definition = "n", `{"StartAt":"A","States":{"A":{"Type":"Nap"}}}`
		}), CodeInvalidDefinition},
		{change(func(i *CreateStateMachineInput) { i.Name, i.Type = "n", "EXPRESS" }), CodeTypeNotSupported},
		{change(func(i *CreateStateMachineInput) { i.Name, i.RoleARN = "n", "" }), CodeInvalidArn},
		{change(func(i *CreateStateMachineInput) { i.Name, i.Publish = "n", true }), CodeValidation},
	} {
		if _, err := e.CreateStateMachine(tc.in); code(err) != tc.want {
			t.Errorf("%+v: %v, want %s", tc.in, err, tc.want)
		}
	}
	_, err = e.CreateStateMachine(change(func(i *CreateStateMachineInput) {
		i.Name, i.Definition = "n", `{"StartAt":"A","States":{"A":{"Type":"Nap"}}}`
	}))
	if !strings.Contains(err.Error(), `$.States.A.Type: "Nap" is no type of state`) {
		t.Errorf("the field is not named: %v", err)
	}
}

func TestListsArePaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{})
		m := create(t, e, `{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Variable":"$.w","BooleanEquals":true,"Next":"W"}],"Default":"S"},"W":{"Type":"Wait","Seconds":9,"End":true},"S":{"Type":"Succeed"}}}`)
		for i := range 7 {
			start(t, e, m, fmt.Sprint("x", i), fmt.Sprintf(`{"w":%t}`, i%2 == 0))
		}
		synctest.Wait()
		list := func(filter Status, size int) (names []string) {
			in := ListExecutionsInput{StateMachineARN: m, StatusFilter: filter, MaxResults: size}
			for {
				l, err := e.ListExecutions(in)
				if err != nil {
					t.Fatal(err)
				}
				if len(l.Executions) > size {
					t.Fatalf("%d on a page of %d", len(l.Executions), size)
				}
				for _, x := range l.Executions {
					names = append(names, x.Name)
				}
				if in.NextToken = l.NextToken; in.NextToken == "" {
					return names
				}
			}
		}
		if got := list("", 3); strings.Join(got, " ") != "x6 x5 x4 x3 x2 x1 x0" {
			t.Errorf("all: %v", got)
		}
		if got := list(Running, 2); strings.Join(got, " ") != "x6 x4 x2 x0" {
			t.Errorf("running: %v", got)
		}
		if got := list(Succeeded, 2); strings.Join(got, " ") != "x5 x3 x1" {
			t.Errorf("succeeded: %v", got)
		}
		for _, bad := range []ListExecutionsInput{
			{StateMachineARN: m, StatusFilter: "DONE"}, {StateMachineARN: m, MaxResults: 1001}, {},
		} {
			if _, err := e.ListExecutions(bad); code(err) != CodeValidation {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		if _, err := e.ListExecutions(ListExecutionsInput{StateMachineARN: m, NextToken: "x"}); code(err) != CodeInvalidToken {
			t.Error(err)
		}
	})
}

// https://docs.aws.amazon.com/step-functions/latest/apireference/API_GetExecutionHistory.html
func TestGetExecutionHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{Invoker: &scripted{fns: fns{"f": ok}}})
		m := create(t, e, `{"StartAt":"A","States":{"A":{`+call("f", `{"secret":"s3cr3t"}`)+`,"TimeoutSeconds":9,"HeartbeatSeconds":5,"ResultPath":"$.r","End":true}}}`)
		arn := start(t, e, m, "x", `{"in":"s3cr3t"}`)
		finish(t, e, arn)
		all := history(t, e, arn)
		page := func(reverse bool, size int) (out []Event) {
			in := GetExecutionHistoryInput{ExecutionARN: arn, ReverseOrder: reverse, MaxResults: size}
			for {
				h, err := e.GetExecutionHistory(in)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, h.Events...)
				if in.NextToken = h.NextToken; in.NextToken == "" {
					return out
				}
			}
		}
		if got := page(false, 2); types(got) != types(all) {
			t.Errorf("in pages: %s", types(got))
		}
		back := page(true, 3)
		slices.Reverse(back)
		if types(back) != types(all) {
			t.Errorf("reversed: %s", types(back))
		}
		for i, ev := range all {
			if ev.ID != int64(i+1) || i > 1 && ev.Previous != int64(i) || i <= 1 && ev.Previous != 0 {
				t.Errorf("event %d has id %d and previous %d", i, ev.ID, ev.Previous)
			}
		}
		if d := all[2].TaskScheduled; d.ResourceType != "lambda" || d.Resource != "invoke" || d.Timeout != 9 || d.Heartbeat != 5 || d.Region != "us-east-1" ||
			*d.Parameters != `{"FunctionName":"`+fn("f")+`","Payload":{"secret":"s3cr3t"}}` {
			t.Errorf("TaskScheduled: %+v", d)
		}
		bare, err := e.GetExecutionHistory(GetExecutionHistoryInput{ExecutionARN: arn, IncludeExecutionData: ptr(false)})
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := json.Marshal(bare); strings.Contains(string(b), "s3cr3t") || types(bare.Events) != types(all) {
			t.Errorf("without data: %s", b)
		}
		if b, _ := json.Marshal(history(t, e, arn)); !strings.Contains(string(b), "s3cr3t") {
			t.Error("the history itself lost its data")
		}
	})
}

// campaign runs executions with retries, jitter, tokens and time-outs, and gives
// a hash over all their histories.
func campaign(t *testing.T, seed string) (hash string) {
	synctest.Test(t, func(t *testing.T) {
		var e *Engine
		s := &scripted{fns: fns{
			"shaky": func(ctx context.Context, in map[string]any) (any, error) {
				c, ok := CallOf(ctx)
				if !ok || c.State != "A" || c.Visit != 1 {
					t.Errorf("call %+v", c)
				}
				if c.Attempt < len(c.ExecutionName)%4 {
					return nil, lambdaError{"Transient", fmt.Sprint("attempt ", c.Attempt)}
				}
				return in, nil
			},
			"wait": func(ctx context.Context, in map[string]any) (any, error) {
				tok, c := in["token"].(string), ctx
				call, _ := CallOf(c)
				go func() {
					time.Sleep(time.Duration(len(call.ExecutionName)) * 7 * time.Second)
					_ = e.succeed(tok, `"`+tok+`"`) // some come too late, on purpose
				}()
				return nil, nil
			},
		}}
		e = newEngine(t, Options{Invoker: s, Seed: seed})
		m := create(t, e, `{"StartAt":"A","States":{
			"A":{`+call("shaky", `{"n.$":"$$.Execution.Name"}`)+`,"Retry":[{"ErrorEquals":["Transient"],"IntervalSeconds":3,"MaxAttempts":4,"JitterStrategy":"FULL"}],"Next":"B"},
			"B":{`+callback("wait")+`,"TimeoutSeconds":60,"Catch":[{"ErrorEquals":["States.Timeout"],"Next":"Z"}],"End":true},"Z":{"Type":"Succeed"}}}`)
		var arns []string
		for i := range 12 {
			arns = append(arns, start(t, e, m, strings.Repeat("n", i+1), `{}`))
		}
		h := sha256.New()
		for _, arn := range arns {
			finish(t, e, arn)
			b, _ := json.Marshal(history(t, e, arn))
			h.Write(b)
		}
		time.Sleep(time.Hour) // the late answers
		hash = fmt.Sprintf("%x", h.Sum(nil)[:8])
	})
	return hash
}

func TestSameSeedSameHistories(t *testing.T) {
	first := campaign(t, "one")
	for range 20 {
		if again := campaign(t, "one"); again != first {
			t.Fatalf("hash %s, then %s", first, again)
		}
	}
	if other := campaign(t, "two"); other == first {
		t.Error("another seed gives the same histories")
	}
}

// Close waits for what still runs, and leaves open executions as they are.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		returned := false
		s := &scripted{fns: fns{"f": func(ctx context.Context, _ map[string]any) (any, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // winding up
			returned = true
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
		if !returned {
			t.Error("Close did not wait for the function")
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
