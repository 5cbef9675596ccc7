package aitask

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/usage"
)

// call is the guarded effect: it sends at most one request.
func (r *Runner) call(ctx context.Context, run names.Run, spec Spec, ch choice, in Input) ([]byte, error) {
	model, p := ch.model, ch.provider
	c := usage.Call{AnalysisID: run.AnalysisID, Attempt: run.Attempt, Task: ch.label, Provider: model.Provider,
		Model: model.ID, PromptVersion: version(p, spec), At: r.now().UTC(), Outcome: "sent"}
	if claim, ok := effect.ClaimFrom(ctx); ok {
		c.Fence = claim.Fence
	}
	if err := r.Record(ctx, c); err != nil { // before anything leaves: a call that is lost is still counted
		return nil, effect.NotSent(fault.Wrap(fault.Transient, err, "count the call"))
	}
	reply, err := send(ctx, p, Request{Spec: spec, Model: model.ID, Input: in})
	c.Duration = r.now().Sub(c.At)
	if err != nil {
		return r.failed(ctx, c, model, failureOf(err))
	}
	c.Tokens, c.Throttled = reply.Tokens, reply.Throttled
	o, err := read(reply.Text, spec, in)
	if err != nil {
		return r.failed(ctx, c, model, &CallError{Failure: NoAnswer, Detail: "not usable", Err: err, Tokens: c.Tokens, Throttled: c.Throttled})
	}
	a := Author{Provider: model.Provider, Model: c.Model, Version: c.PromptVersion}
	if reply.Model != "" {
		a.Model = reply.Model
	}
	defer r.count(ctx, &c, "ok")
	switch v := o.(type) {
	case *PrecheckText:
		return json.Marshal(outcome{Author: &a, Precheck: v})
	case *TagsText:
		return json.Marshal(outcome{Author: &a, Tags: v})
	}
	key := names.TextKey(run.AnalysisID, run.Attempt, ch.label)
	doc := newDocument(spec.Task, a, o)
	doc.About = About(in.Result)
	if err := r.store(ctx, key, doc); err != nil {
		return nil, fault.Wrap(fault.Transient, err, "store the answer of %s", spec.Task)
	}
	return json.Marshal(outcome{Key: key, Author: &a, About: doc.About, Attempt: run.Attempt})
}

// send makes the call in nine tenths of the time that is left, at most 5 s less
// than all: an answer that cannot be stored any more would be paid for in vain.
func send(ctx context.Context, p Provider, req Request) (Reply, error) {
	if until, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until.Add(-min(time.Until(until)/10, 5*time.Second)))
		defer cancel()
	}
	return p.Call(ctx, req)
}

// choice is what a task's setting leads to.
type choice struct {
	model    Model
	provider Provider
	label    string // the task, with its revision where it is one
	lease    time.Duration
}

// rulesLease is how long a call of the rules is waited for: it takes
// milliseconds, and a dead process should not hold an analysis up for longer.
const rulesLease = 30 * time.Second

// choose finds the provider and model that the setting names.
func (r *Runner) choose(spec Spec, m Model) (choice, error) {
	ch := choice{lease: spec.Timeout}
	p, ok := r.Providers[m.Provider]
	if !ok {
		return ch, fault.New(fault.ModelUnavailable, "setting %s names the provider %q, which does not exist", m.Setting, clip(m.Provider, 80))
	}
	if m.Provider == RulesProvider {
		ch.lease = rulesLease
		if m.ID == "" {
			m.ID = RulesModel
		}
	}
	if err := p.Check(m.ID); err != nil {
		return ch, fault.Wrap(fault.ModelUnavailable, err, "setting %s names %s", m.Setting, clip(m.String(), 120))
	}
	ch.model, ch.provider = m, p
	return ch, nil
}

func version(p Provider, s Spec) string {
	if v := p.Version(s.Task); v != "" {
		return v
	}
	return s.PromptVersion
}

// failed records a failed call and says what becomes of its claim: given back
// where nothing was done, kept to run out where nobody knows, settled for good
// where the model's answer is of no use.
func (r *Runner) failed(ctx context.Context, c usage.Call, m Model, e *CallError) ([]byte, error) {
	c.Tokens, c.Throttled = e.Tokens, e.Throttled
	if e.Failure.free() {
		c.Tokens = usage.None()
	}
	name := fault.Transient // under which it leaves
	switch e.Failure {
	case Throttled, NotSent:
		r.count(ctx, &c, e.Failure.String())
	case Refused:
		name = fault.Permanent
		r.count(ctx, &c, e.Failure.String())
	case Unavailable:
		name = fault.ModelUnavailable
		r.count(ctx, &c, string(name))
		return nil, effect.NotSent(fault.Wrap(name, e, "setting %s names %s", m.Setting, clip(m.String(), 120)))
	case NoAnswer:
		o := outcome{Fault: fault.ModelNoAnswer, Detail: clip(e.Error(), 500)}
		errors.As(e.Err, &o.Why)
		c.Detail = string(o.Why)
		r.count(ctx, &c, string(fault.ModelNoAnswer))
		return json.Marshal(o)
	default:
		r.count(ctx, &c, string(fault.OutcomeUnknown))
		return nil, fault.Wrap(fault.Transient, e, "%s: sent, no answer", c.Task)
	}
	return nil, effect.NotSent(fault.Wrap(name, e, "%s", c.Task))
}

// count completes the usage row. The call is made; a row that stays at "sent" is
// still counted, so this error only goes to the log.
func (r *Runner) count(ctx context.Context, c *usage.Call, how string) {
	c.Outcome = how
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second) // the call took all the time there was
	defer cancel()
	if err := r.Record(ctx, *c); err != nil {
		slog.ErrorContext(ctx, "usage row not completed", "analysis_id", c.AnalysisID, "attempt", c.Attempt, "task", c.Task, "detail", err.Error())
	}
}
