// Package handler turns a typed function into a Lambda handler: it decodes the
// payload strictly enough to name a bad one, logs one structured line for each
// call, and maps errors to the names of package fault.
package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"

	"fastbowlinglab/shared/fault"
)

// Func is a function of one payload type. Its binary passes New's result to
// lambda.Start; the virtual cloud calls Invoke directly.
type Func[In, Out any] func(ctx context.Context, in In) (Out, error)

// New makes a lambda.Handler of fn. name goes into the log. Errors come back as
// messages.InvokeResponse_Error with a type from package fault.
func New[In, Out any](name string, fn Func[In, Out]) lambda.Handler {
	return adapter[In, Out]{name, fn}
}

type adapter[In, Out any] struct {
	name string
	fn   Func[In, Out]
}

// Invoke implements lambda.Handler.
func (a adapter[In, Out]) Invoke(ctx context.Context, payload []byte) (out []byte, err error) {
	start := time.Now()
	var in In
	defer func() {
		if p := recover(); p != nil {
			err = wire(fault.New(fault.Permanent, "%s: panic: %v", a.name, p))
		}
		a.log(ctx, payload, start, err)
	}()
	if err := json.Unmarshal(payload, &in); err != nil {
		return nil, wire(fault.Wrap(fault.Permanent, err, "%s: decode the payload", a.name))
	}
	res, err := a.fn(ctx, in)
	if err != nil {
		return nil, wire(err)
	}
	out, err = json.Marshal(res)
	if err != nil {
		return nil, wire(fault.Wrap(fault.Permanent, err, "%s: encode the answer", a.name))
	}
	return out, nil
}

// maxMessage bounds the message of an error, in bytes. It travels between the
// states of a state machine, which end at 256 KiB; what a tool printed does not
// belong there in full.
const maxMessage = 4 << 10

// wire gives err the shape that the Lambda runtime passes on unchanged. An
// error made with %w would arrive as errorType "wrapError" and miss every Retry.
func wire(err error) error {
	msg := err.Error()
	if len(msg) > maxMessage {
		msg = strings.ToValidUTF8(msg[:maxMessage], "") + " (cut)"
	}
	return messages.InvokeResponse_Error{Type: string(fault.NameOf(err)), Message: msg}
}

// log writes one line a call. Only ids are taken from the payload: it may hold
// task tokens.
func (a adapter[In, Out]) log(ctx context.Context, payload []byte, start time.Time, err error) {
	var id struct {
		AnalysisID string `json:"analysis_id"`
		Attempt    int    `json:"attempt"`
	}
	_ = json.Unmarshal(payload, &id) // an unreadable payload has no id to log
	attrs := []any{"function", a.name, "analysis_id", id.AnalysisID, "attempt", id.Attempt,
		"ms", time.Since(start).Milliseconds()}
	if err != nil {
		name, detail := fmt.Sprintf("%T", err), err.Error()
		if e, ok := err.(messages.InvokeResponse_Error); ok { // whose Error prints the struct
			name, detail = e.Type, e.Message
		}
		slog.ErrorContext(ctx, "failed", append(attrs, "error", name, "detail", detail)...)
		return
	}
	slog.InfoContext(ctx, "done", attrs...)
}
