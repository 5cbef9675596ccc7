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

// Invoke implements stepfn.Invoker: the function's handler in this process,
// under its own timeout, whose end is the end of its process: nothing that it
// does afterwards reaches the cloud.
func (c *Cloud) Invoke(ctx context.Context, arn string, payload []byte) ([]byte, string, error) {
	name := functionName(arn)
	actor := name
	if call, ok := stepfn.CallOf(ctx); ok {
		actor = fmt.Sprintf("%s/%s/%d/%d", call.ExecutionName, call.State, call.Visit, call.Attempt)
	}
	return c.call(As(ctx, actor), name, payload)
}

// call runs a handler as the named actor of ctx.
func (c *Cloud) call(ctx context.Context, name string, payload []byte) ([]byte, string, error) {
	h := c.functions[name]
	if h == nil {
		return nil, "", fmt.Errorf("virtual: no function %q", name)
	}
	ctx, cancel := context.WithTimeout(ctx, timeoutOf(name))
	defer cancel()
	type result struct {
		out []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		out, err := h.Invoke(ctx, payload)
		done <- result{out, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return wireError(r.err), "Unhandled", nil
		}
		return r.out, "", nil
	case <-ctx.Done():
		<-done // it cannot reach anything any more; wait, so that nothing leaks
		return wireError(messages.InvokeResponse_Error{
			Type: "Sandbox.Timedout", Message: fmt.Sprintf("Task timed out after %s", timeoutOf(name)),
		}), "Unhandled", nil
	}
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
