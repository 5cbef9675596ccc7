package stepfn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

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
