package stepfn

import (
	"fmt"
	"slices"
	"time"
)

// Limits of a redrive.
const (
	redrivable    = 14 * 24 * time.Hour  // after the end
	maxOpenTime   = 365 * 24 * time.Hour // after the start
	clientTokens  = 10                   // remembered for each execution
	clientTokenOK = 15 * time.Minute     // after its first use
)

// Values of redriveStatus.
const (
	statusRedrivable    = "REDRIVABLE"
	statusNotRedrivable = "NOT_REDRIVABLE"
)

// redrives is what an execution remembers of its redrives.
type redrives struct {
	count  int
	last   time.Time
	tokens []clientToken
}

type clientToken struct {
	token string
	at    time.Time
}

// date is the time of the last redrive; nil: none.
func (d redrives) date() *Time {
	if d.count == 0 {
		return nil
	}
	return &Time{d.last}
}

// RedriveExecutionInput is the input of RedriveExecution.
type RedriveExecutionInput struct {
	ExecutionARN string `json:"executionArn"`
	ClientToken  string `json:"clientToken"`
}

// RedriveExecutionOutput is the output of RedriveExecution.
type RedriveExecutionOutput struct {
	RedriveDate Time `json:"redriveDate"`
}

// RedriveExecution goes on with an execution that failed, was aborted or timed
// out, under the same ARN, definition and history, from the state that has no
// end, or from the branches and iterations that have none, with the same input.
// Retriers count from 0 again, the execution's own time starts anew, and a state
// that waits for a token gets another. A repeat with the same client token
// within 15 minutes gives the first answer. Errors: ExecutionDoesNotExist,
// ExecutionLimitExceeded, ExecutionNotRedrivable, InvalidArn, ValidationException.
func (e *Engine) RedriveExecution(in RedriveExecutionInput) (RedriveExecutionOutput, error) {
	var none RedriveExecutionOutput
	if len(in.ClientToken) > 64 {
		return none, apiErr(CodeValidation, "clientToken has more than 64 characters")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(); err != nil {
		return none, err
	}
	x, err := e.findExecution(in.ExecutionARN)
	if err != nil {
		return none, err
	}
	t := now()
	for _, c := range x.drives.tokens {
		if in.ClientToken != "" && c.token == in.ClientToken && t.Before(c.at.Add(clientTokenOK)) {
			return RedriveExecutionOutput{Time{c.at}}, nil
		}
	}
	if status, reason := x.redrivable(t); status != statusRedrivable {
		return none, apiErr(CodeExecutionNotRedrivable, "Execution Not Redrivable: '%s': %s", x.arn, reason)
	}
	if err := e.room(); err != nil {
		return none, err
	}
	top := &scope{prev: x.at.prev}
	ev := Event{Type: evExecutionRedriven, ExecutionRedriven: &RedrivenDetails{x.drives.count + 1}}
	if err := e.append(x, top, record{Event: ev, Client: in.ClientToken}, t); err != nil {
		return none, e.usable()
	}
	e.launch(x, true)
	return RedriveExecutionOutput{Time{t}}, nil
}

// redrivable gives redriveStatus at t and, when it is not, the reason, in AWS's
// words. The lock is held.
func (x *execution) redrivable(t time.Time) (status, reason string) {
	switch {
	case x.status == Running || x.status == Succeeded:
		reason = fmt.Sprintf("Execution is %s and cannot be redriven.", x.status)
	case len(x.events) >= MaxEvents-1: // the redrive and one more have to fit
		reason = "Execution history event limit exceeded."
	case t.Sub(x.start) > maxOpenTime:
		reason = "Execution has exceeded the max execution time."
	case t.Sub(x.stop) > redrivable:
		reason = "Execution redrivable period exceeded."
	default:
		return statusRedrivable, ""
	}
	return statusNotRedrivable, reason
}

// reopen applies ExecutionRedriven: every visit that has no end begins again.
func (x *execution) reopen(r record) {
	t := r.Event.Timestamp.Time
	x.status, x.stop, x.fail = Running, time.Time{}, nil
	x.drives.count, x.drives.last = r.Event.ExecutionRedriven.RedriveCount, t
	if r.Client != "" {
		x.drives.tokens = append(x.drives.tokens, clientToken{r.Client, t})
		n := len(x.drives.tokens)
		x.drives.tokens = slices.Clone(x.drives.tokens[max(0, n-clientTokens):])
	}
	if x.rev.model.Timeout > 0 {
		x.deadline = t.Add(x.rev.model.Timeout)
	}
	begin := func(p *position) {
		if p.entered {
			p.when, p.log, p.prior = Time{t}, nil, p.branches
		}
	}
	begin(&x.at)
	for _, p := range x.inner {
		begin(p)
	}
}

// room reports whether one more execution may be open. The lock is held.
func (e *Engine) room() error {
	open := 0
	if len(e.executions) >= e.opt.MaxOpen {
		for _, x := range e.executions {
			if x.status == Running {
				open++
			}
		}
	}
	if open >= e.opt.MaxOpen {
		return apiErr(CodeExecutionLimitExceeded, "Execution Limit Exceeded: '%d executions are open, which is the most there may be'", open)
	}
	return nil
}
