package aitask

import (
	"context"
	"encoding/json"
	"fmt"

	"fastbowlinglab/shared/usage"
)

// The embedded provider.
const (
	RulesProvider = "rules"
	RulesModel    = "fast-bowling"
	RulesVersion  = "rules-3"
)

// Rules writes findings and drills from the measured values by fixed rules: no
// network, no model, the same input gives the same bytes. It does not read
// notes. The precheck needs pictures judged, which is its caller's business.
type Rules struct{}

// Check knows one model.
func (Rules) Check(model string) error {
	if model != RulesModel {
		return fmt.Errorf("the rules provider has no model %q, only %q", clip(model, 80), RulesModel)
	}
	return nil
}

// Version is that of the rules.
func (Rules) Version(Task) string { return RulesVersion }

// Call writes the text of a task.
func (Rules) Call(_ context.Context, req Request) (Reply, error) {
	var out any
	switch req.Spec.Task {
	case Findings:
		out = rulesFindings(req.Input.Result)
	case Coaching:
		if req.Input.Findings == nil {
			return Reply{}, &CallError{Failure: NotSent, Detail: "coaching needs findings"}
		}
		out = rulesCoaching(*req.Input.Findings)
	case Tags:
		out = rulesTags(req.Input.Result)
	default:
		return Reply{}, &CallError{Failure: Unavailable, Detail: fmt.Sprintf("the rules have no text for %s", req.Spec.Task)}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return Reply{}, &CallError{Failure: NotSent, Detail: "encode the text", Err: err}
	}
	return Reply{Text: string(b), Model: RulesModel, Tokens: usage.None()}, nil
}
