package stepfn

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"fastbowlinglab/integration/stepfn/asl"
)

// Invoker calls a Lambda function and waits for its answer, as Lambda's Invoke
// with RequestResponse does.
//
// A function that failed is not an err: then functionError is not empty (AWS says
// "Unhandled") and out is Lambda's error object, {"errorType": ..., "errorMessage":
// ...}, whose errorType becomes the state's error name. err means that the call
// itself failed: an *InvokeError gives the name (Lambda.TooManyRequestsException),
// anything else is Lambda.SdkClientException.
//
// ctx ends only when the engine is closed: a state that times out or an execution
// that is stopped leaves its function running, as on AWS, and drops the answer.
// CallOf(ctx) tells who is calling.
type Invoker interface {
	Invoke(ctx context.Context, functionARN string, payload []byte) (out []byte, functionError string, err error)
}

// InvokeError is a failed call with the error name under which Step Functions
// reports it, for example Lambda.TooManyRequestsException.
type InvokeError struct {
	Name    string
	Message string
}

func (e *InvokeError) Error() string { return e.Name + ": " + e.Message }

// Call says on whose behalf a function is invoked.
type Call struct {
	ExecutionARN  string
	ExecutionName string
	State         string
	Visit         int // how often a state was entered in this branch, from 1
	Attempt       int // from 0
	Redrive       int // redrives before; with each, attempts count from 0 again
}

type callKey struct{}

// CallOf gives the call that a context passed to an Invoker belongs to.
func CallOf(ctx context.Context) (Call, bool) {
	c, ok := ctx.Value(callKey{}).(Call)
	return c, ok
}

// reply is the outcome of an invocation and when it came.
type reply struct {
	at   time.Time
	out  []byte
	fail *asl.Error
}

// invoke calls the function on a goroutine of its own, which may outlive the
// state. The engine's lock is not held.
func (e *Engine) invoke(call Call, function string, payload []byte) <-chan reply {
	ch := make(chan reply, 1)
	ctx := context.WithValue(e.ctx, callKey{}, call)
	e.wg.Go(func() {
		out, functionError, err := e.opt.Invoker.Invoke(ctx, function, payload)
		ch <- reply{now(), out, failure(out, functionError, err)}
	})
	return ch
}

// failure gives the error of an invocation, or nil. Its cause is cut to what AWS
// keeps of one.
func failure(out []byte, functionError string, err error) *asl.Error {
	name, cause := "Lambda.SdkClientException", ""
	var named *InvokeError
	switch {
	case err == nil && functionError == "":
		return nil
	case err == nil:
		name, cause = functionName(out, functionError), string(out)
	case errors.As(err, &named):
		name, cause = named.Name, named.Message
	default:
		cause = err.Error()
	}
	if r := []rune(cause); len(r) > maxCauseRunes {
		cause = string(r[:maxCauseRunes])
	}
	return &asl.Error{Name: name, Cause: cause}
}

// functionName is the name of a function's own failure.
func functionName(out []byte, functionError string) string {
	var body struct {
		ErrorType string `json:"errorType"`
	}
	_ = json.Unmarshal(out, &body) // no error object: the name is Lambda.Unknown
	switch {
	case body.ErrorType != "":
		return body.ErrorType
	case functionError != "Handled" && functionError != "Unhandled":
		return functionError
	}
	return "Lambda.Unknown"
}

// invokeResult is the result of lambda:invoke as a state sees it.
func invokeResult(function string, out []byte) any {
	payload, err := asl.Decode(out)
	if err != nil && len(out) > 0 {
		payload = string(out)
	}
	return map[string]any{
		"ExecutedVersion": version(function),
		"Payload":         payload,
		"StatusCode":      json.Number("200"),
	}
}

// version is the qualifier of a function's ARN.
func version(function string) string {
	parts := strings.Split(function, ":")
	if len(parts) == 8 && parts[5] == "function" {
		return parts[7]
	}
	return "$LATEST"
}
