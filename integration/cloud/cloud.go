// Package cloud is the whole system on one machine: the embedded cloud
// (integration/local) with the Step Functions engine (integration/stepfn) and
// the real state machine in it. Demo, `make up` and the end-to-end tests start
// it from here.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/integration/local/lambdaapi"
	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// Start starts everything. cfg.States is set here.
func Start(ctx context.Context, cfg local.Config) (*local.Cloud, error) {
	cfg.States = states(cfg)
	return local.Start(ctx, cfg)
}

// role is what a state machine runs as; nothing here checks it.
const role = "arn:aws:iam::" + local.Account + ":role/" + names.StateMachine

// states makes Step Functions with the analysis state machine in it.
func states(cfg local.Config) func(local.StatesDeps) (local.States, error) {
	return func(d local.StatesDeps) (local.States, error) {
		definition, err := statemachine.Fill(statemachine.Analysis, d.Functions)
		if err != nil {
			return nil, err
		}
		engine, err := stepfn.New(stepfn.Options{
			Invoker: invoker{d.Invoke}, Region: local.Region, Account: local.Account, Dir: d.Dir, Logger: cfg.Log,
			OnStatusChange: func(c stepfn.StatusChange) {
				d.Changed(local.StatusChange{At: c.Time.Time, ExecutionARN: c.Detail.ExecutionARN, Status: string(c.Detail.Status), Detail: c.Detail})
			},
		})
		if err != nil {
			return nil, err
		}
		if err := deploy(engine, string(definition)); err != nil {
			return nil, errors.Join(err, engine.Close())
		}
		return engine, nil
	}
}

// deploy makes the state machine, or gives the one there is the definition of
// today; open executions go on with theirs.
func deploy(e *stepfn.Engine, definition string) error {
	_, err := e.CreateStateMachine(stepfn.CreateStateMachineInput{Name: names.StateMachine, Definition: definition, RoleARN: role})
	var exists *stepfn.APIError
	if errors.As(err, &exists) && exists.Code == stepfn.CodeStateMachineAlreadyExists {
		_, err = e.UpdateStateMachine(stepfn.UpdateStateMachineInput{StateMachineARN: local.StateMachineARN, Definition: definition, RoleARN: role})
	}
	if err != nil {
		return fmt.Errorf("deploy state machine %s: %w", names.StateMachine, err)
	}
	return nil
}

// invoker gives a refusal of the Lambda service the name under which Step
// Functions shows it.
type invoker struct {
	invoke func(context.Context, string, []byte) ([]byte, string, error)
}

func (i invoker) Invoke(ctx context.Context, function string, payload []byte) ([]byte, string, error) {
	out, functionError, err := i.invoke(ctx, function, payload)
	var refused *lambdaapi.Error
	if errors.As(err, &refused) {
		name := "Lambda." + refused.Code
		if refused.Status == http.StatusInternalServerError {
			name = "Lambda.ServiceException"
		}
		err = &stepfn.InvokeError{Name: name, Message: refused.Message}
	}
	return out, functionError, err
}
