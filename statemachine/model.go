package statemachine

import (
	"encoding/json"
	"fmt"
	"maps"
)

// definition is as much of a definition as the checks look at. The engine and
// asl-validator read all of it; here it is about what the definition promises to
// the rest of the system.
type definition struct {
	StartAt        string
	TimeoutSeconds int
	States         map[string]state
}

type state struct {
	Type             string
	Resource         string
	Parameters       json.RawMessage
	ResultSelector   map[string]any
	ResultPath       string
	TimeoutSeconds   int
	HeartbeatSeconds int
	Retry            []retrier
	Catch            []catcher
	Choices          []rule
	Default, Next    string
	Result           json.RawMessage
	ItemProcessor    *processor
}

// processor is what a Map does with each item.
type processor struct {
	StartAt string
	States  map[string]state
}

type retrier struct {
	ErrorEquals     []string
	IntervalSeconds int
	MaxAttempts     *int
	BackoffRate     float64
	MaxDelaySeconds int
	JitterStrategy  string
}

type catcher struct {
	ErrorEquals      []string
	ResultPath, Next string
}

type rule struct {
	Next            string
	Variable        string
	NumericLessThan *float64
	And             []rule
}

// invocation is the Parameters of a Lambda task.
type invocation struct {
	FunctionName string
	Payload      map[string]any
}

func load(name string) (definition, error) {
	var d definition
	src, err := Source(name)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(src, &d); err != nil {
		return d, fmt.Errorf("state machine %s: %w", name, err)
	}
	return d, nil
}

// all lists the states with those inside of Maps.
func (d definition) all() map[string]state {
	out := map[string]state{}
	for name, s := range d.States {
		out[name] = s
		if s.ItemProcessor != nil {
			maps.Copy(out, s.ItemProcessor.States)
		}
	}
	return out
}

func (s state) invocation() (invocation, error) {
	var i invocation
	err := json.Unmarshal(s.Parameters, &i)
	return i, err
}

// waits reports whether the state waits for a task token.
func (s state) waits() bool { return s.Resource == "arn:aws:states:::lambda:invoke.waitForTaskToken" }

// nexts lists the states that may follow.
func (s state) nexts() []string {
	var out []string
	for _, c := range s.Catch {
		out = append(out, c.Next)
	}
	for _, r := range s.Choices {
		out = append(out, r.Next)
	}
	for _, n := range []string{s.Default, s.Next} {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}
