package local

import (
	"context"
	"errors"
	"fmt"

	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/integration/local/lambdaapi"
	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// roleARN is the execution role of the state machine: it has to have one.
const roleARN = "arn:aws:iam::" + Account + ":role/" + names.StateMachine

// States is Step Functions.
func (c *Cloud) States() *stepfn.Engine { return c.states }

// startStates starts Step Functions with the analysis state machine, whose
// definition names the functions' published versions. Executions that were open
// go on, with the definition that they began with.
func (c *Cloud) startStates() error {
	arns := map[string]string{}
	for _, f := range c.cfg.Functions {
		if !f.State {
			continue
		}
		arn, err := c.lambda.Publish(f.Name)
		if err != nil {
			return err
		}
		arns[f.ARNPlaceholder()] = arn
	}
	def, err := c.cfg.Definition(arns)
	if err != nil {
		return err
	}
	e, err := stepfn.New(stepfn.Options{Invoker: invoker{c.lambda}, Region: Region, Account: Account,
		Dir: c.state("executions"), OnStatusChange: c.changed, Logger: c.cfg.Log})
	if err != nil {
		return err
	}
	c.states = e
	c.later(e.Close)
	c.services.Services[endpoint.States] = e
	if err := define(e, string(def)); err != nil {
		return fmt.Errorf("state machine %s: %w", names.StateMachine, err)
	}
	return nil
}

// define creates the state machine, or gives it its new definition.
func define(e *stepfn.Engine, def string) error {
	_, err := e.CreateStateMachine(stepfn.CreateStateMachineInput{Name: names.StateMachine, Definition: def, RoleARN: roleARN})
	var exists *stepfn.APIError
	if errors.As(err, &exists) && exists.Code == stepfn.CodeStateMachineAlreadyExists {
		_, err = e.UpdateStateMachine(stepfn.UpdateStateMachineInput{StateMachineARN: StateMachineARN, Definition: def, RoleARN: roleARN})
	}
	return err
}

// definition fills in the analysis's definition.
func definition(arns map[string]string) ([]byte, error) {
	return statemachine.Fill(statemachine.Analysis, arns)
}

// invoker gives the engine a refused call under the name that Step Functions
// has for it.
type invoker struct{ lambda *lambdaapi.Service }

func (i invoker) Invoke(ctx context.Context, arn string, payload []byte) ([]byte, string, error) {
	out, functionError, err := i.lambda.Invoke(ctx, arn, payload)
	var refused *lambdaapi.Error
	if errors.As(err, &refused) {
		err = &stepfn.InvokeError{Name: "Lambda." + refused.Code, Message: refused.Message}
	}
	return out, functionError, err
}
