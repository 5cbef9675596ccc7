package virtual

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/shared/names"
)

// InvokeFault is what goes wrong between the engine and a function, after a
// while.
type InvokeFault struct {
	Kind  InvokeKind
	After time.Duration
}

// InvokeKind is a kind of InvokeFault.
type InvokeKind string

// The faults of an invocation.
const (
	InvokeRefused InvokeKind = "invoke_throttled"      // the function is not started
	InvokeTimeout InvokeKind = "invoke_client_timeout" // the caller gives up; the original runs on
	InvokeUnknown InvokeKind = "invoke_answer_lost"    // the caller never sees the answer
	InvokeSlow    InvokeKind = "invoke_slow"           // it starts late
)

// Invocation says which invocation a fault is asked for.
type Invocation struct {
	Function string
	ID       string // execution, state, visit, attempt
}

// Invoke implements stepfn.Invoker: the function's handler in this process,
// under its own timeout, whose end is the end of its process: nothing that it
// does afterwards reaches the cloud. An execution that is stopped, or a state that
// runs out of time, takes its caller from a function and does not stop it.
func (c *Cloud) Invoke(ctx context.Context, arn string, payload []byte) ([]byte, string, error) {
	name := functionName(arn)
	actor := name
	if call, ok := stepfn.CallOf(ctx); ok {
		actor = fmt.Sprintf("%s/%s/%d/%d", call.ExecutionName, call.State, call.Visit, call.Attempt)
		if call.Redrive > 0 {
			actor += fmt.Sprint("/redrive-", call.Redrive)
		}
	}
	f := InvokeFault{}
	if c.opt.Invocations != nil && !c.Gate.isCalm() {
		f = c.opt.Invocations(Invocation{name, actor})
	}
	switch f.Kind {
	case InvokeRefused:
		return nil, "", &stepfn.InvokeError{Name: "Lambda.TooManyRequestsException", Message: "Rate Exceeded."}
	case InvokeSlow:
		if !sleep(ctx, f.After) {
			return nil, "", ctx.Err()
		}
	case InvokeTimeout:
		giveUp := time.Now().Add(f.After)
		select {
		case r := <-c.start(As(c.ctx, actor), name, payload):
			if time.Now().Before(giveUp) { // in one instant it is too late
				return r.out, r.fail, nil
			}
		case <-time.After(f.After):
		case <-ctx.Done():
			return nil, "", ctx.Err()
		}
		return nil, "", &stepfn.InvokeError{Name: "Lambda.ClientExecutionTimeoutException", Message: "Read timed out"}
	case InvokeUnknown:
		if _, _, err := wait(ctx, c.start(As(c.ctx, actor), name, payload)); err != nil {
			return nil, "", err
		}
		return nil, "", &stepfn.InvokeError{Name: "Lambda.SdkClientException", Message: "Unable to execute HTTP request"}
	}
	return wait(ctx, c.start(As(c.ctx, actor), name, payload))
}

// wait waits for an answer for as long as there is somebody to hear it.
func wait(ctx context.Context, of <-chan answered) (out []byte, fail string, err error) {
	select {
	case r := <-of:
		out, fail = r.out, r.fail
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // in one instant it is too late
		return nil, "", ctx.Err()
	}
	return out, fail, nil
}

// answered is how an invocation ended.
type answered struct {
	out  []byte
	fail string
}

// call runs a handler as the process of ctx.
func (c *Cloud) call(ctx context.Context, name string, payload []byte) answered {
	return <-c.start(ctx, name, payload)
}

// start runs a handler as the process of ctx and gives its answer, or the error
// of its death. Its goroutine may go on for as long as it has no request to make.
func (c *Cloud) start(ctx context.Context, name string, payload []byte) <-chan answered {
	h, proc := c.functions[name], ProcOf(ctx)
	if h == nil {
		panic("virtual: no function " + name)
	}
	ctx, cancel := context.WithTimeout(ctx, timeoutOf(name))
	deadline := time.Now().Add(timeoutOf(name))
	done, out := make(chan answered, 1), make(chan answered, 1)
	c.wg.Go(func() {
		b, err := h.Invoke(ctx, payload)
		if err != nil {
			done <- answered{wireError(err), "Unhandled"}
			return
		}
		done <- answered{out: b}
	})
	c.wg.Go(func() {
		defer cancel()
		var r answered
		select {
		case r = <-done:
		case <-proc.Killed():
		case <-ctx.Done():
		}
		switch { // by the state of things and not by what was seen first
		case proc.Dead():
			r = died("Runtime.ExitError", "Runtime exited with error: signal: killed")
		case ctx.Err() != nil || !time.Now().Before(deadline):
			proc.Kill()
			r = died("Sandbox.Timedout", fmt.Sprintf("Task timed out after %s", timeoutOf(name)))
		case c.opt.Answered != nil:
			c.opt.Answered(name, payload, r.out, r.fail)
		}
		out <- r
	})
	return out
}

// died is the answer for an invocation whose process ended before it answered.
func died(kind, message string) answered {
	return answered{wireError(messages.InvokeResponse_Error{Type: kind, Message: message}), "Unhandled"}
}

func wireError(err error) []byte {
	e, ok := err.(messages.InvokeResponse_Error)
	if !ok {
		e = messages.InvokeResponse_Error{Type: "errorString", Message: err.Error()}
	}
	out, mErr := json.Marshal(map[string]string{"errorType": e.Type, "errorMessage": e.Message})
	if mErr != nil {
		panic(mErr) // two strings: cannot fail
	}
	return out
}

func timeoutOf(name string) time.Duration {
	for _, f := range names.Functions() {
		if f.Name == name {
			return f.Timeout
		}
	}
	panic("virtual: " + name + " is not a declared function")
}

// Call runs a function as the process of ctx, outside the state machine.
func (c *Cloud) Call(ctx context.Context, name string, payload any) ([]byte, error) {
	r := c.call(ctx, name, mustJSON(payload))
	if r.fail != "" {
		return nil, fmt.Errorf("%s: %s", name, r.out)
	}
	return r.out, nil
}
