package stepfn

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Pages of the AWS documentation that the rows below come from.
const (
	guide = "https://docs.aws.amazon.com/step-functions/latest/dg/"
	ref   = "https://docs.aws.amazon.com/step-functions/latest/apireference/"
	spec  = "https://states-language.net/spec.html"

	pageErrors   = guide + "concepts-error-handling.html"
	pageLambda   = guide + "connect-lambda.html"
	pageLambdaEx = guide + "bp-lambda-serviceexception.html"
	pageCallback = guide + "connect-to-resource.html#connect-wait-token"
	pageTask     = guide + "state-task.html"
	pageWait     = guide + "state-wait.html"
	pageChoice   = guide + "state-choice.html"
	pagePass     = guide + "state-pass.html"
	pageFail     = guide + "state-fail.html"
	pageMap      = guide + "state-map-inline.html"
	pageParallel = guide + "state-parallel.html"
	pagePaths    = guide + "concepts-input-output-filtering.html"
	pageContext  = guide + "input-output-contextobject.html"
	pageLimits   = guide + "service-quotas.html"
	pageMachine  = guide + "statemachine-structure.html"
)

const (
	invokeRes = `"Type":"Task","Resource":"arn:aws:states:::lambda:invoke"`
	tokenRes  = `"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken"`
)

// call is a Task state's fields that invoke function f with the given payload.
func call(f, payload string) string {
	return invokeRes + `,"Parameters":{"FunctionName":"` + fn(f) + `","Payload":` + payload + `}`
}

// callback is call with a task token in the payload.
func callback(f string) string {
	return tokenRes + `,"Parameters":{"FunctionName":"` + fn(f) + `","Payload":{"token.$":"$$.Task.Token"}}`
}

// row is one behaviour: what it is, where AWS documents it, and a run that shows it.
type row struct {
	behaviour, page string
	states          string // the States object; A is the first
	timeout         string // top-level TimeoutSeconds
	fns             fns
	input           string

	status       Status // default Succeeded
	output       string // "" is not looked at
	error, cause string // cause: a part of it
	visits       string
	types        string
	took         time.Duration // -1: not looked at
}

func (r row) run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{Invoker: &scripted{fns: r.fns}})
		top := ""
		if r.timeout != "" {
			top = `"TimeoutSeconds":` + r.timeout + `,`
		}
		m := create(t, e, `{"StartAt":"A",`+top+`"States":{`+r.states+`}}`)
		begin := time.Now()
		d := finish(t, e, start(t, e, m, "x-1", r.input))
		took := time.Since(begin)
		h := history(t, e, d.ExecutionARN)
		if r.status == "" {
			r.status = Succeeded
		}
		if d.Status != r.status || d.Error != r.error || !strings.Contains(d.Cause, r.cause) {
			t.Errorf("%s %q %q, want %s %q %q", d.Status, d.Error, d.Cause, r.status, r.error, r.cause)
		}
		if r.output != "" && (d.Output == nil || *d.Output != r.output) {
			t.Errorf("output %s\nwant   %s", deref(d.Output), r.output)
		}
		if r.took >= 0 && took != r.took {
			t.Errorf("took %s, want %s", took, r.took)
		}
		if got := visits(h); r.visits != "" && got != r.visits {
			t.Errorf("visited %s, want %s", got, r.visits)
		}
		if got := types(h); r.types != "" && got != r.types {
			t.Errorf("history %s\nwant    %s", got, r.types)
		}
	})
}

func deref(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

func run(t *testing.T, rows []row) {
	for _, r := range rows {
		t.Run(r.behaviour, r.run)
	}
}

// big is a JSON string of n bytes in all.
func big(n int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", n-2) + `"`) }

var (
	ok    = always(map[string]any{"ok": true}, nil)
	fails = func(name string) func(context.Context, map[string]any) (any, error) {
		return always(nil, lambdaError{name, "m"})
	}
	throttled = always(nil, &InvokeError{"Lambda.TooManyRequestsException", "Rate Exceeded."})
	catchAll  = `"Catch":[{"ErrorEquals":["States.ALL"],"ResultPath":"$.e","Next":"Z"}]`
	stateZ    = `,"Z":{"Type":"Succeed"}`
)

func TestTasks(t *testing.T) { run(t, taskRows()) }

func taskRows() []row {
	return []row{
		{behaviour: "the result has Lambda's shape; ResultSelector and ResultPath put it into the input", page: pageLambda,
			fns: fns{"f": ok}, input: `{"a":1}`,
			states: `"A":{` + call("f", `{"x.$":"$.a"}`) + `,"ResultSelector":{"r.$":"$.Payload.ok","s.$":"$.StatusCode","v.$":"$.ExecutedVersion"},"ResultPath":"$.f","End":true}`,
			output: `{"a":1,"f":{"r":true,"s":200,"v":"$LATEST"}}`,
			types:  "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSucceeded TaskStateExited ExecutionSucceeded"},
		{behaviour: "a function that answers nothing has the Payload null", page: pageLambda,
			fns: fns{"f": always(nil, nil)}, states: `"A":{` + call("f", `{}`) + `,"End":true}`,
			output: `{"ExecutedVersion":"$LATEST","Payload":null,"StatusCode":200}`},
		{behaviour: "a function's errorType is the error name and its error object the cause", page: pageErrors,
			fns: fns{"f": fails("Permanent")}, states: `"A":{` + call("f", `{}`) + `,"End":true}`,
			status: Failed, error: "Permanent", cause: `"errorMessage":"m"`,
			types: "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskFailed ExecutionFailed"},
		{behaviour: "a function error without an error object is Lambda.Unknown", page: pageLambdaEx,
			fns: fns{"f": fails("")}, states: `"A":{` + call("f", `{}`) + `,"End":true}`, status: Failed, error: "Lambda.Unknown"},
		{behaviour: "a failed call has the exception's name behind Lambda.", page: pageLambdaEx,
			states: `"A":{` + call("nobody", `{}`) + `,"End":true}`, status: Failed, error: "Lambda.ResourceNotFoundException", cause: "Function not found"},
		{behaviour: "any other failed call is Lambda.SdkClientException", page: pageLambdaEx,
			fns: fns{"f": always(nil, context.DeadlineExceeded)}, states: `"A":{` + call("f", `{}`) + `,"End":true}`,
			status: Failed, error: "Lambda.SdkClientException", cause: "deadline"},
		{behaviour: "Retry: interval, back-off and MaxDelaySeconds between attempts", page: pageErrors,
			fns: fns{"f": inTurn(throttled, throttled, throttled, throttled, ok)},
			states: `"A":{` + call("f", `{}`) + `,"Retry":[{"ErrorEquals":["Lambda.TooManyRequestsException"],"IntervalSeconds":2,"BackoffRate":3,"MaxAttempts":4,"MaxDelaySeconds":10}],
				"ResultSelector":{"n.$":"$$.State.RetryCount"},"End":true}`,
			took: 28 * time.Second, output: `{"n":4}`}, // 2 + 6 + 10 + 10
		{behaviour: "Retry: when a retrier is used up the error stands", page: pageErrors,
			fns:    fns{"f": throttled},
			states: `"A":{` + call("f", `{}`) + `,"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":1,"MaxAttempts":2}],` + catchAll + `,"End":true}` + stateZ,
			took:   3 * time.Second, visits: "A Z", output: `{"e":{"Cause":"Rate Exceeded.","Error":"Lambda.TooManyRequestsException"}}`,
			types: "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskFailed TaskScheduled TaskStarted TaskFailed TaskScheduled TaskStarted TaskFailed TaskStateExited SucceedStateEntered SucceedStateExited ExecutionSucceeded"},
		{behaviour: "Retry: MaxAttempts 0 means no retry, before a later retrier is asked", page: pageErrors,
			fns:    fns{"f": fails("X")},
			states: `"A":{` + call("f", `{}`) + `,"Retry":[{"ErrorEquals":["X"],"MaxAttempts":0},{"ErrorEquals":["States.ALL"]}],"End":true}`,
			status: Failed, error: "X"},
		{behaviour: "Retry: each retrier counts its own attempts", page: spec + "#errors",
			fns: fns{"f": inTurn(fails("X"), fails("Y"), fails("X"), fails("Y"), ok)},
			states: `"A":{` + call("f", `{}`) + `,"Retry":[{"ErrorEquals":["X"],"IntervalSeconds":1,"BackoffRate":2,"MaxAttempts":2},{"ErrorEquals":["Y"],"IntervalSeconds":10,"BackoffRate":2,"MaxAttempts":2}],
				"ResultPath":null,"End":true}`,
			took: 33 * time.Second}, // 1 + 10 + 2 + 20
		{behaviour: "Catch: the first catcher that matches; without ResultPath the error is the next input", page: pageErrors,
			fns:    fns{"f": fails("Conceded")},
			states: `"A":{` + call("f", `{}`) + `,"Catch":[{"ErrorEquals":["Other"],"Next":"Y"},{"ErrorEquals":["Conceded"],"Next":"Z"}],"Next":"Y"},"Y":{"Type":"Fail","Error":"wrong"}` + stateZ,
			visits: "A Z", output: `{"Cause":"{\"errorMessage\":\"m\",\"errorType\":\"Conceded\"}","Error":"Conceded"}`},
		{behaviour: "Catch: ResultPath null keeps the input", page: pageErrors, input: `{"k":1}`,
			fns:    fns{"f": fails("X")},
			states: `"A":{` + call("f", `{}`) + `,"Catch":[{"ErrorEquals":["States.TaskFailed"],"ResultPath":null,"Next":"Z"}],"End":true}` + stateZ,
			output: `{"k":1}`},
		{behaviour: "TimeoutSeconds: States.Timeout; the function's late answer is dropped", page: pageTask,
			fns:    fns{"f": takes(10*time.Second, "late", nil)},
			states: `"A":{` + call("f", `{}`) + `,"TimeoutSeconds":3,` + catchAll + `,"End":true}` + stateZ,
			took:   3 * time.Second, output: `{"e":{"Cause":"","Error":"States.Timeout"}}`,
			types: "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskTimedOut TaskStateExited SucceedStateEntered SucceedStateExited ExecutionSucceeded"},
		{behaviour: "TimeoutSeconds: an answer at the very moment is too late", page: pageTask,
			fns:    fns{"f": takes(3*time.Second, "late", nil)},
			states: `"A":{` + call("f", `{}`) + `,"TimeoutSeconds":3,"End":true}`, took: 3 * time.Second, status: Failed, error: "States.Timeout"},
		{behaviour: "TimeoutSeconds: each retry has its own", page: pageTask,
			fns:    fns{"f": inTurn(takes(9*time.Second, 1, nil), takes(2*time.Second, 2, nil))},
			states: `"A":{` + call("f", `{}`) + `,"TimeoutSeconds":3,"Retry":[{"ErrorEquals":["States.Timeout"],"IntervalSeconds":1}],"ResultSelector":{"r.$":"$.Payload"},"End":true}`,
			took:   6 * time.Second, output: `{"r":2}`},
		{behaviour: "States.TaskFailed does not cover a time-out", page: pageErrors,
			fns:    fns{"f": takes(9*time.Second, 1, nil)},
			states: `"A":{` + call("f", `{}`) + `,"TimeoutSeconds":3,"Catch":[{"ErrorEquals":["States.TaskFailed"],"Next":"Z"}],"End":true}` + stateZ,
			took:   3 * time.Second, status: Failed, error: "States.Timeout"},
		{behaviour: "the state machine's TimeoutSeconds ends the execution as TIMED_OUT; no Catch sees it", page: pageMachine,
			fns: fns{"f": takes(time.Hour, 1, nil)}, timeout: "60",
			states: `"A":{` + call("f", `{}`) + `,` + catchAll + `,"End":true}` + stateZ,
			took:   time.Minute, status: TimedOut, error: "States.Timeout",
			types: "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted ExecutionTimedOut"},
		{behaviour: "a state's time-out at the same moment as the execution's: the execution's", page: pageMachine,
			fns: fns{"f": takes(time.Hour, 1, nil)}, timeout: "60",
			states: `"A":{` + call("f", `{}`) + `,"TimeoutSeconds":60,` + catchAll + `,"End":true}` + stateZ,
			took:   time.Minute, status: TimedOut, error: "States.Timeout",
			types: "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted ExecutionTimedOut"},
		{behaviour: "a Wait that ends at the same moment as the execution's time: the execution's", page: pageMachine, timeout: "60",
			states: `"A":{"Type":"Wait","Seconds":60,"End":true}`, took: time.Minute, status: TimedOut, error: "States.Timeout",
			types: "ExecutionStarted WaitStateEntered ExecutionTimedOut"},
		{behaviour: "a task that is answered without a token has none", page: pageContext,
			states: `"A":{` + call("f", `{"t.$":"$$.Task.Token"}`) + `,"End":true}`, status: Failed, error: "States.Runtime"},
		{behaviour: "FunctionName may come from the input", page: pageLambda, input: `{"f":"` + fn("f") + `:12"}`,
			fns:    fns{"f": ok},
			states: `"A":{` + invokeRes + `,"Parameters":{"FunctionName.$":"$.f"},"ResultSelector":{"v.$":"$.ExecutedVersion"},"End":true}`,
			output: `{"v":"12"}`},
		{behaviour: "a FunctionName that is no string is States.Runtime", page: pageErrors, input: `{"f":1}`,
			states: `"A":{` + invokeRes + `,"Parameters":{"FunctionName.$":"$.f"},` + catchAll + `,"End":true}` + stateZ,
			status: Failed, error: "States.Runtime"},
	}
}

func TestDataFlow(t *testing.T) { run(t, dataRows()) }

func dataRows() []row {
	return []row{
		{behaviour: "InputPath, Parameters, ResultSelector, ResultPath, OutputPath, in this order", page: pagePaths,
			fns: fns{"f": always(map[string]any{"y": 2}, nil)}, input: `{"in":{"x":1},"keep":0}`,
			states: `"A":{` + call("f", `{"x.$":"$.x"}`) + `,"InputPath":"$.in","ResultSelector":{"y.$":"$.Payload.y"},"ResultPath":"$.out","OutputPath":"$.out","End":true}`,
			output: `{"y":2}`},
		{behaviour: "InputPath null gives an empty object, OutputPath null too", page: pagePaths, input: `{"a":1}`,
			states: `"A":{"Type":"Pass","InputPath":null,"ResultPath":"$.in","Next":"B"},"B":{"Type":"Pass","OutputPath":null,"ResultPath":"$.x","End":true}`,
			output: `{}`},
		{behaviour: "ResultPath null throws the result away", page: pagePaths, input: `{"a":1}`, fns: fns{"f": ok},
			states: `"A":{` + call("f", `{}`) + `,"ResultPath":null,"End":true}`, output: `{"a":1}`},
		{behaviour: "a path that finds nothing in Parameters is States.Runtime, which nothing catches", page: pageErrors, input: `{}`,
			states: `"A":{` + call("f", `{"x.$":"$.missing"}`) + `,"Retry":[{"ErrorEquals":["States.ALL"]}],` + catchAll + `,"End":true}` + stateZ,
			status: Failed, error: "States.Runtime", cause: "The JSONPath '$.missing' specified for the field 'x.$' could not be found in the input '{}'",
			types: "ExecutionStarted TaskStateEntered ExecutionFailed"},
		{behaviour: "a path that finds nothing in ResultSelector is States.Runtime", page: pageErrors, fns: fns{"f": ok},
			states: `"A":{` + call("f", `{}`) + `,"ResultSelector":{"x.$":"$.Payload.missing"},` + catchAll + `,"End":true}` + stateZ,
			status: Failed, error: "States.Runtime"},
		{behaviour: "a ResultPath that does not fit is States.ResultPathMatchFailure, which can be caught", page: pageErrors, input: `"text"`, fns: fns{"f": ok},
			states: `"A":{` + call("f", `{}`) + `,"ResultPath":"$.x","Catch":[{"ErrorEquals":["States.ResultPathMatchFailure"],"Next":"Z"}],"End":true}` + stateZ,
			visits: "A Z"},
		{behaviour: "a failed intrinsic function is States.IntrinsicFailure, which can be caught", page: pageErrors, input: `{"s":"{"}`,
			states: `"A":{` + call("f", `{"x.$":"States.StringToJson($.s)"}`) + `,"Catch":[{"ErrorEquals":["States.IntrinsicFailure"],"Next":"Z"}],"End":true}` + stateZ,
			visits: "A Z"},
		{behaviour: "the context object", page: pageContext, input: `{"i":7}`,
			states: `"A":{"Type":"Pass","Parameters":{"id.$":"$$.Execution.Id","name.$":"$$.Execution.Name","in.$":"$$.Execution.Input.i","start.$":"$$.Execution.StartTime","role.$":"$$.Execution.RoleArn",
				"state.$":"$$.State.Name","entered.$":"$$.State.EnteredTime","m.$":"$$.StateMachine.Name","mid.$":"$$.StateMachine.Id"},"End":true}`,
			output: `{"entered":"2000-01-01T00:00:00.000Z","id":"arn:aws:states:us-east-1:000000000000:execution:m:x-1","in":7,"m":"m","mid":"arn:aws:states:us-east-1:000000000000:stateMachine:m","name":"x-1","role":"` + testRole + `","start":"2000-01-01T00:00:00.000Z","state":"A"}`},
		{behaviour: "an integer passes through unchanged whatever its size", page: pagePaths, input: `{"n":12345678901234567890}`,
			states: `"A":{"Type":"Pass","End":true}`, output: `{"n":12345678901234567890}`},
	}
}

func TestOtherStates(t *testing.T) { run(t, otherRows()) }

func otherRows() []row {
	return []row{
		{behaviour: "Pass: Result at ResultPath", page: pagePass, input: `{"a":1}`,
			states: `"A":{"Type":"Pass","Result":{"r":[1]},"ResultPath":"$.b","End":true}`, output: `{"a":1,"b":{"r":[1]}}`,
			types: "ExecutionStarted PassStateEntered PassStateExited ExecutionSucceeded"},
		{behaviour: "Wait: Seconds", page: pageWait, states: `"A":{"Type":"Wait","Seconds":90,"End":true}`, took: 90 * time.Second,
			types: "ExecutionStarted WaitStateEntered WaitStateExited ExecutionSucceeded"},
		{behaviour: "Wait: SecondsPath", page: pageWait, input: `{"s":5}`, states: `"A":{"Type":"Wait","SecondsPath":"$.s","End":true}`, took: 5 * time.Second},
		{behaviour: "Wait: a SecondsPath that is no whole number is States.Runtime", page: pageWait, input: `{"s":"5"}`,
			states: `"A":{"Type":"Wait","SecondsPath":"$.s","End":true}`, status: Failed, error: "States.Runtime"},
		{behaviour: "Wait: Timestamp", page: pageWait, states: `"A":{"Type":"Wait","Timestamp":"2000-01-01T01:00:00+00:30","End":true}`, took: 30 * time.Minute},
		{behaviour: "Wait: TimestampPath; one in the past does not wait", page: pageWait, input: `{"t":"1999-12-31T00:00:00Z","u":"2000-01-01T00:00:01.5Z"}`,
			states: `"A":{"Type":"Wait","TimestampPath":"$.t","Next":"B"},"B":{"Type":"Wait","TimestampPath":"$.u","End":true}`, took: 1500 * time.Millisecond},
		{behaviour: "Wait: a TimestampPath that is no timestamp is States.Runtime", page: pageWait, input: `{"t":""}`,
			states: `"A":{"Type":"Wait","TimestampPath":"$.t","End":true}`, status: Failed, error: "States.Runtime"},
		{behaviour: "Choice: the first rule that holds, else Default", page: pageChoice, input: `{"n":5}`,
			states: `"A":{"Type":"Choice","Choices":[{"Variable":"$.n","NumericGreaterThan":9,"Next":"Y"},{"Variable":"$.n","NumericGreaterThan":4,"Next":"B"}],"Default":"Y"},
				"B":{"Type":"Choice","Choices":[{"Variable":"$.n","NumericEquals":9,"Next":"Y"}],"Default":"Z"},"Y":{"Type":"Fail"}` + stateZ,
			visits: "A B Z", output: `{"n":5}`},
		{behaviour: "Choice: no rule and no Default is States.NoChoiceMatched", page: pageErrors, input: `{"n":5}`,
			states: `"A":{"Type":"Choice","Choices":[{"Variable":"$.n","NumericEquals":9,"Next":"Z"}]}` + stateZ,
			status: Failed, error: "States.NoChoiceMatched", types: "ExecutionStarted ChoiceStateEntered ExecutionFailed"},
		{behaviour: "Choice: a variable that is missing is States.Runtime", page: pageChoice, input: `{}`,
			states: `"A":{"Type":"Choice","Choices":[{"Variable":"$.n","NumericEquals":9,"Next":"Z"}],"Default":"Z"}` + stateZ,
			status: Failed, error: "States.Runtime", cause: "references an invalid value"},
		{behaviour: "Fail: Error and Cause", page: pageFail, states: `"A":{"Type":"Fail","Error":"E","Cause":"why"}`,
			status: Failed, error: "E", cause: "why", types: "ExecutionStarted FailStateEntered ExecutionFailed"},
		{behaviour: "Fail: ErrorPath, and a CausePath with an intrinsic function", page: pageFail, input: `{"e":"E","n":3}`,
			states: `"A":{"Type":"Fail","ErrorPath":"$.e","CausePath":"States.Format('{} tries', $.n)"}`, status: Failed, error: "E", cause: "3 tries"},
		{behaviour: "Succeed ends with its input", page: guide + "state-succeed.html", input: `{"a":{"b":1}}`,
			states: `"A":{"Type":"Succeed","OutputPath":"$.a"}`, output: `{"b":1}`},
		{behaviour: "Map: items in order, ItemSelector, MaxConcurrency", page: pageMap, input: `{"l":[3,1,2],"k":"v"}`,
			fns: fns{"f": func(_ context.Context, in map[string]any) (any, error) {
				time.Sleep(time.Duration(in["n"].(float64)) * time.Second)
				return in, nil
			}},
			states: `"A":{"Type":"Map","ItemsPath":"$.l","MaxConcurrency":2,"ItemSelector":{"n.$":"$$.Map.Item.Value","i.$":"$$.Map.Item.Index","k.$":"$.k"},
				"ItemProcessor":{"StartAt":"I","States":{"I":{` + call("f", `{"n.$":"$.n","i.$":"$.i","k.$":"$.k"}`) + `,"OutputPath":"$.Payload","End":true}}},"ResultPath":"$.r","OutputPath":"$.r","End":true}`,
			took: 3 * time.Second, output: `[{"i":0,"k":"v","n":3},{"i":1,"k":"v","n":1},{"i":2,"k":"v","n":2}]`},
		{behaviour: "Map: no items", page: pageMap, input: `[]`,
			states: `"A":{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Succeed"}}},"End":true}`, output: `[]`,
			types: "ExecutionStarted MapStateEntered MapStateStarted MapStateSucceeded MapStateExited ExecutionSucceeded"},
		{behaviour: "Map: items that are no array are States.Runtime", page: pageMap, input: `{}`,
			states: `"A":{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Succeed"}}},` + catchAll + `,"End":true}` + stateZ, status: Failed, error: "States.Runtime"},
		{behaviour: "Map: a failed iteration stops the others; the state can be retried and caught", page: pageMap, input: `[1,2]`,
			fns: fns{"f": func(_ context.Context, in map[string]any) (any, error) {
				if in["n"].(float64) == 1 {
					time.Sleep(time.Second)
					return nil, lambdaError{"X", "m"}
				}
				time.Sleep(time.Hour)
				return nil, nil
			}},
			states: `"A":{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{` + call("f", `{"n.$":"$"}`) + `,"End":true}}},
				"Retry":[{"ErrorEquals":["X"],"IntervalSeconds":5,"MaxAttempts":1}],"Catch":[{"ErrorEquals":["X"],"ResultPath":null,"Next":"Z"}],"End":true}` + stateZ,
			took: 7 * time.Second, output: `[1,2]`},
		{behaviour: "Parallel: branches at once, outputs in order", page: pageParallel, input: `{"a":1}`,
			states: `"A":{"Type":"Parallel","Branches":[{"StartAt":"P","States":{"P":{"Type":"Wait","Seconds":9,"End":true}}},{"StartAt":"Q","States":{"Q":{"Type":"Pass","Result":2,"End":true}}}],"End":true}`,
			took:   9 * time.Second, output: `[{"a":1},2]`},
		{behaviour: "Parallel: a failed branch stops the others and is the state's error", page: pageParallel,
			states: `"A":{"Type":"Parallel","Branches":[{"StartAt":"P","States":{"P":{"Type":"Wait","Seconds":99,"End":true}}},{"StartAt":"Q","States":{"Q":{"Type":"Fail","Error":"E","Cause":"c"}}}],
				` + catchAll + `,"End":true}` + stateZ,
			output: `{"e":{"Cause":"c","Error":"E"}}`},
		{behaviour: "Parallel: States.Runtime in a branch ends the execution", page: pageErrors,
			states: `"A":{"Type":"Parallel","Branches":[{"StartAt":"P","States":{"P":{"Type":"Pass","InputPath":"$.no","End":true}}}],` + catchAll + `,"End":true}` + stateZ,
			status: Failed, error: "States.Runtime"},
		{behaviour: "the execution's time-out reaches into branches", page: pageMachine, timeout: "10",
			states: `"A":{"Type":"Parallel","Branches":[{"StartAt":"P","States":{"P":{"Type":"Wait","Seconds":99,"End":true}}}],"End":true}`,
			took:   10 * time.Second, status: TimedOut, error: "States.Timeout"},
	}
}

func TestLimits(t *testing.T) { run(t, limitRows()) }

func limitRows() []row {
	const limit = 256 << 10
	return []row{
		{behaviour: "a result over 256 KiB is States.DataLimitExceeded, which States.ALL does not catch", page: pageErrors,
			fns: fns{"f": always(big(limit+1), nil)}, states: `"A":{` + call("f", `{}`) + `,` + catchAll + `,"End":true}` + stateZ,
			status: Failed, error: "States.DataLimitExceeded", cause: "'lambda' returned a result with a size exceeding the maximum number of bytes",
			types: "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskFailed ExecutionFailed"},
		{behaviour: "it can be caught by its own name", page: pageErrors,
			fns:    fns{"f": always(big(limit+1), nil)},
			states: `"A":{` + call("f", `{}`) + `,"Catch":[{"ErrorEquals":["States.DataLimitExceeded"],"Next":"Z"}],"End":true}` + stateZ, visits: "A Z"},
		{behaviour: "the limit counts bytes of UTF-8, not letters", page: pageLimits,
			fns:    fns{"f": always(json.RawMessage(`"`+strings.Repeat("த", limit/3)+`"`), nil)},
			states: `"A":{` + call("f", `{}`) + `,"End":true}`, status: Failed, error: "States.DataLimitExceeded"},
		{behaviour: "a result of exactly 256 KiB can be picked from", page: pageLimits,
			fns:    fns{"f": always(big(limit), nil)},
			states: `"A":{` + call("f", `{}`) + `,"ResultPath":null,"End":true}`, output: `{}`},
		{behaviour: "a state's output over 256 KiB is States.DataLimitExceeded", page: pageErrors,
			fns: fns{"f": always(big(limit-100), nil)}, input: `{"a":"` + strings.Repeat("y", 200) + `"}`,
			states: `"A":{` + call("f", `{}`) + `,"ResultPath":"$.r","End":true}`, status: Failed, error: "States.DataLimitExceeded"},
		{behaviour: "which can be caught by its own name", page: pageErrors,
			fns: fns{"f": always(big(limit-100), nil)}, input: `{"a":"` + strings.Repeat("y", 200) + `"}`,
			states: `"A":{` + call("f", `{}`) + `,"ResultPath":"$.r","Catch":[{"ErrorEquals":["States.DataLimitExceeded"],"ResultPath":null,"Next":"Z"}],"End":true}` + stateZ, visits: "A Z"},
		{behaviour: "the output of a Pass counts too", page: pageErrors, input: `"` + strings.Repeat("y", limit/2) + `"`,
			states: `"A":{"Type":"Pass","Parameters":{"a.$":"$","b.$":"$"},"End":true}`, status: Failed, error: "States.DataLimitExceeded"},
		{behaviour: "Parameters over 256 KiB are States.DataLimitExceeded", page: pageErrors,
			input:  `{"a":"` + strings.Repeat("y", limit-10) + `"}`,
			states: `"A":{` + call("f", `{"a.$":"$.a","b":1}`) + `,"End":true}`, status: Failed, error: "States.DataLimitExceeded"},
	}
}

// https://docs.aws.amazon.com/step-functions/latest/apireference/API_TaskFailedEventDetails.html
func TestCauseIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{Invoker: &scripted{fns: fns{"f": always(nil, lambdaError{"X", strings.Repeat("த", 40000)})}}})
		d := finish(t, e, start(t, e, create(t, e, `{"StartAt":"A","States":{"A":{`+call("f", `{}`)+`,"End":true}}}`), "x", `{}`))
		if n := len([]rune(d.Cause)); d.Error != "X" || n != 32768 {
			t.Errorf("%s with %d characters", d.Error, n)
		}
	})
}

func TestHistoryLimit(t *testing.T) {
	// https://docs.aws.amazon.com/step-functions/latest/dg/bp-history-limit.html
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{})
		m := create(t, e, `{"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":5,"Next":"B"},"B":{"Type":"Pass","Next":"A"}}}`)
		d := finish(t, e, start(t, e, m, "x", "{}"))
		if d.Status != Failed || d.Error != "States.Runtime" || d.Cause != "The execution reached the maximum number of history events (25000)." {
			t.Fatalf("%s %s %s", d.Status, d.Error, d.Cause)
		}
		h, err := e.GetExecutionHistory(GetExecutionHistoryInput{ExecutionARN: d.ExecutionARN, ReverseOrder: true, MaxResults: 1})
		if err != nil {
			t.Fatal(err)
		}
		if last := h.Events[0]; last.ID != MaxEvents || last.Type != "ExecutionFailed" {
			t.Errorf("the last event is %d, %s", last.ID, last.Type)
		}
	})
}
