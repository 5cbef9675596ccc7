package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

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

// startStates starts Step Functions with every state machine, whose definitions
// name the functions' published versions. Executions that were open go on, with
// the definition that they began with. A cloud with functions of its own has only
// the machines whose functions it has.
func (c *Cloud) startStates() error {
	e, err := stepfn.New(stepfn.Options{Invoker: invoker{c.lambda}, Region: Region, Account: Account,
		Dir: c.state("executions"), OnStatusChange: c.changed, Logger: c.cfg.Log})
	if err != nil {
		return err
	}
	c.states = e
	c.later(e.Close)
	c.services.Services[endpoint.States] = e
	return c.release()
}

// release publishes what there is now, and leads new analyses there: versions of
// the functions, definitions that name them, a version of the analysis's, and the
// alias on that.
func (c *Cloud) release() error {
	arns := map[string]string{} // by function
	for _, f := range c.cfg.Functions {
		if !f.State {
			continue
		}
		arn, err := c.lambda.Publish(f.Name)
		if err != nil {
			return err
		}
		arns[f.Name] = arn
	}
	defs, err := c.definitions(arns)
	if err != nil {
		return err
	}
	for _, machine := range slices.Sorted(maps.Keys(defs)) {
		if err := define(c.states, machine, string(defs[machine])); err != nil {
			return fmt.Errorf("state machine %s: %w", machine, err)
		}
	}
	return lead(c.states)
}

// lead publishes the analysis's definition and moves the alias to it, all at
// once: nobody waits here for a canary's alarms.
func lead(e *stepfn.Engine) error {
	v, err := e.PublishStateMachineVersion(stepfn.PublishStateMachineVersionInput{StateMachineARN: StateMachineARN})
	if err != nil {
		return fmt.Errorf("publish the state machine: %w", err)
	}
	to := []stepfn.Route{{VersionARN: v.VersionARN, Weight: 100}}
	_, err = e.UpdateStateMachineAlias(stepfn.AliasInput{AliasARN: LiveARN, Routes: to})
	var none *stepfn.APIError
	if errors.As(err, &none) && none.Code == stepfn.CodeResourceNotFound {
		_, err = e.CreateStateMachineAlias(stepfn.AliasInput{Name: names.MachineAlias, Routes: to})
	}
	if err != nil {
		return fmt.Errorf("alias %s: %w", names.MachineAlias, err)
	}
	return nil
}

// definitions gives the definition of every state machine, by its name, for the
// functions' ARNs.
func (c *Cloud) definitions(arns map[string]string) (map[string][]byte, error) {
	defs := map[string][]byte{}
	for _, machine := range statemachine.Names() {
		subs := map[string]string{}
		complete := true
		for _, f := range statemachine.Functions(machine) {
			arn, ok := arns[f.Name]
			complete = complete && ok
			subs[f.ARNPlaceholder()] = arn
		}
		var err error
		switch {
		case machine == statemachine.Analysis:
			for _, f := range c.cfg.Functions { // a test's own functions, with a definition of their own
				if f.In(machine) {
					subs[f.ARNPlaceholder()] = arns[f.Name]
				}
			}
			defs[machine], err = c.cfg.Definition(subs)
		case complete:
			defs[machine], err = statemachine.Fill(machine, subs)
		}
		if err != nil {
			return nil, err
		}
	}
	return defs, nil
}

// define creates a state machine, or gives it its new definition.
func define(e *stepfn.Engine, machine, def string) error {
	name := names.MachineName(machine)
	_, err := e.CreateStateMachine(stepfn.CreateStateMachineInput{Name: name, Definition: def, RoleARN: roleARN})
	var exists *stepfn.APIError
	if errors.As(err, &exists) && exists.Code == stepfn.CodeStateMachineAlreadyExists {
		_, err = e.UpdateStateMachine(stepfn.UpdateStateMachineInput{StateMachineARN: MachinePrefix + machine, Definition: def, RoleARN: roleARN})
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
