// Package operator is what operators start by hand, in the console, with a small
// JSON input: {"action": "...", ...}. statemachine/OPERATIONS.md has a form for each.
// Every answer is read from rows, or from Step Functions where executions are
// asked about; every change is one that may be asked for twice.
package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/usage"
)

// Steps is what the function needs of Step Functions.
type Steps interface {
	analysis.Stopper
	DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error)
	RedriveExecution(context.Context, *sfn.RedriveExecutionInput, ...func(*sfn.Options)) (*sfn.RedriveExecutionOutput, error)
}

// Deps is what the function works with.
type Deps struct {
	Life       analysis.Store
	Ledger     credit.Store
	Runs       batchrun.Store
	Usage      usage.Store
	Erasures   erasure.Store
	Steps      Steps
	MachineARN string // of the analysis
	Machines   string // ARN of state machines up to and with names.Prefix
	Queue      Queue
	QueueURL   string
	Retry      retry.Policy
	Now        func() time.Time
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

// By says who asks, and why: both go into the log and, where there is one, the row.
type By struct {
	Action   string `json:"action"`
	Operator string `json:"operator"`
	Reason   string `json:"reason"`
}

// New makes the function.
func New(d Deps) lambda.Handler {
	actions := map[string]func(context.Context, []byte) (any, error){
		"drain":   do(d.drain),
		"restart": do(d.restart),
		"grant":   do(d.grant),
		"erase":   do(d.erase),
		"reprice": do(d.reprice),
		"release": do(d.release),
		"requeue": do(d.requeue),
		"redrive": do(d.redrive),
	}
	return handler.New(names.FnOperator, func(ctx context.Context, in json.RawMessage) (any, error) {
		var by By
		if err := json.Unmarshal(in, &by); err != nil {
			return nil, fault.Wrap(fault.Permanent, err, "operator: the input is no JSON object")
		}
		act, ok := actions[by.Action]
		if !ok {
			return nil, fault.New(fault.Permanent, "operator: action %q: there are %v", by.Action, slices.Sorted(maps.Keys(actions)))
		}
		if by.Operator == "" {
			return nil, fault.New(fault.Permanent, "operator: say who you are: \"operator\" is needed")
		}
		slog.InfoContext(ctx, "operator", "action", by.Action, "operator", by.Operator, "reason", by.Reason)
		return act(ctx, in)
	})
}

// do reads an action's own input, strictly: a misspelt field is an error.
func do[In, Out any](fn func(context.Context, In) (Out, error)) func(context.Context, []byte) (any, error) {
	return func(ctx context.Context, b []byte) (any, error) {
		var in In
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return nil, fault.Wrap(fault.Permanent, err, "operator: the input is not as statemachine/OPERATIONS.md shows it")
		}
		return fn(ctx, in)
	}
}
