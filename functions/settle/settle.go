// Package settle ends an analysis as failed, refunded, when its execution could
// not: called by the execution's own catch-all, or by the event that an
// execution failed, timed out or was aborted without one. It acts only if the
// attempt in the execution's name is still the row's.
package settle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
)

// request is a payload of either shape, read into one.
type request struct {
	names.SettleIn
	Why   reason.Code
	Event bool
	Alien bool // an event of an execution that is not ours, or did not fail
}

// event is "Step Functions Execution Status Change" of EventBridge:
// https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
type event struct {
	Source string `json:"source"`
	Detail struct {
		Name   string `json:"name"`
		Status string `json:"status"`
		Error  string `json:"error"`
		Cause  string `json:"cause"`
	} `json:"detail"`
}

const eventSource = "aws.states"

// UnmarshalJSON reads a state machine's payload or an event.
func (r *request) UnmarshalJSON(b []byte) error {
	var ev event
	if err := json.Unmarshal(b, &ev); err != nil {
		return err
	}
	if ev.Source == "" {
		if err := json.Unmarshal(b, &r.SettleIn); err != nil {
			return err
		}
		r.Why = outcome.ReasonOf(r.Error)
		return nil
	}
	if ev.Source != eventSource {
		return fmt.Errorf("event source %q, want %q", ev.Source, eventSource)
	}
	r.Event, r.Execution, r.Error, r.Cause = true, ev.Detail.Name, ev.Detail.Error, ev.Detail.Cause
	id, attempt, ok := analysis.ParseExecutionName(ev.Detail.Name)
	switch ev.Detail.Status {
	case "FAILED", "TIMED_OUT", "ABORTED":
	default:
		ok = false
	}
	r.AnalysisID, r.Attempt, r.Alien = id, attempt, !ok
	r.Why = outcome.ReasonOfStatus(ev.Detail.Status, ev.Detail.Error)
	return nil
}

// New makes the function.
func New(ends outcome.Store) lambda.Handler {
	return handler.New(names.FnSettle, func(ctx context.Context, in request) (names.EndOut, error) {
		if in.Alien {
			slog.WarnContext(ctx, "event of an execution that needs no settling", "execution", in.Execution)
			return names.EndOut{}, nil
		}
		if in.AnalysisID == "" || in.Attempt < 1 {
			return names.EndOut{}, fault.New(fault.Permanent, "settle: analysis_id and attempt are needed")
		}
		slog.WarnContext(ctx, "an execution could not finish", "analysis_id", in.AnalysisID, "attempt", in.Attempt,
			"error", in.Error, "reason", in.Why, "event", in.Event)
		res, err := ends.Fail(ctx, in.AnalysisID, in.Attempt, in.Execution,
			outcome.By(names.FnSettle, in.Run, in.Execution), in.Why)
		if in.Event && errors.Is(err, analysis.ErrNotFound) {
			slog.WarnContext(ctx, "event of an execution without an analysis", "execution", in.Execution)
			return names.EndOut{}, nil
		}
		return res.Out(), awserr.Fault(err, "settle")
	})
}
