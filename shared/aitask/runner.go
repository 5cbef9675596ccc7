package aitask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/usage"
)

// Effects is what a Runner needs to make a call once; *effect.Store is one.
type Effects interface {
	Once(ctx context.Context, key string, lease time.Duration, fn func(context.Context) ([]byte, error)) ([]byte, error)
}

// Objects is what a Runner needs of S3.
type Objects interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Models tells which model a task uses; *Settings does.
type Models interface {
	Model(context.Context, Task) (Model, error)
}

// Runner makes the calls of tasks.
type Runner struct {
	Effects   Effects
	Objects   Objects
	Bucket    string
	Models    Models
	Providers map[string]Provider                     // by the name that a setting uses
	Record    func(context.Context, usage.Call) error // stores a usage row
	Retry     retry.Policy                            // of storing the answer
	Now       func() time.Time                        // nil for time.Now
}

// outcome is the result that the effect records: where the answer is, or how the
// call failed for good. A recorded failure is not paid for a second time.
type outcome struct {
	Key    string     `json:"key,omitempty"`
	Author *Author    `json:"author,omitempty"`
	Fault  fault.Name `json:"fault,omitempty"`
	Detail string     `json:"detail,omitempty"`
}

// Run makes the call of a task for a run, or reuses its recorded answer. The
// answer's State is names.EffectInProgress where another execution is making the
// call. Errors carry a name of package fault.
func (r *Runner) Run(ctx context.Context, run names.Run, t Task, in Input) (names.TextOut, error) {
	spec, err := SpecOf(t)
	if err != nil {
		return names.TextOut{}, fault.Wrap(fault.Permanent, err, "run an AI task")
	}
	// The choice is made first because the lease follows from it, but a bad one
	// only matters to whoever makes the call: a recorded answer stands.
	ch, chosen := r.choose(ctx, spec)
	result, err := r.Effects.Once(ctx, t.EffectKey(run.AnalysisID), ch.lease, func(ctx context.Context) ([]byte, error) {
		if chosen != nil {
			return nil, effect.NotSent(chosen)
		}
		return r.call(ctx, run, spec, ch, in)
	})
	var busy *effect.InProgress
	var unknown *effect.Unknown
	switch {
	case errors.As(err, &busy):
		return names.TextOut{State: names.EffectInProgress, Until: busy.Until.UTC().Format(time.RFC3339)}, nil
	case errors.As(err, &unknown):
		return names.TextOut{}, fault.Wrap(fault.OutcomeUnknown, err, "%s of %s", t, run.AnalysisID)
	case err != nil:
		return names.TextOut{}, named(err, t, run)
	}
	var o outcome
	if err := json.Unmarshal(result, &o); err != nil {
		return names.TextOut{}, fault.Wrap(fault.Permanent, err, "%s of %s: read the recorded outcome", t, run.AnalysisID)
	}
	if o.Fault != "" {
		return names.TextOut{}, fault.New(o.Fault, "%s of %s: %s", t, run.AnalysisID, o.Detail)
	}
	return names.TextOut{State: names.EffectDone, Key: o.Key}, nil
}

// named gives err a name: its own, or Transient, since what is not named came
// from the stores around the call, and the claim guards a repeat.
func named(err error, t Task, run names.Run) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return fault.Wrap(f.Name, err, "%s of %s", t, run.AnalysisID)
	}
	return fault.Wrap(fault.Transient, err, "%s of %s", t, run.AnalysisID)
}

// call is the guarded effect: it sends at most one request.
func (r *Runner) call(ctx context.Context, run names.Run, spec Spec, ch choice, in Input) ([]byte, error) {
	model, p := ch.model, ch.provider
	c := usage.Call{AnalysisID: run.AnalysisID, Attempt: run.Attempt, Task: string(spec.Task), Provider: model.Provider,
		Model: model.ID, PromptVersion: version(p, spec), At: r.now().UTC(), Outcome: "sent"}
	if claim, ok := effect.ClaimFrom(ctx); ok {
		c.Fence = claim.Fence
	}
	if err := r.Record(ctx, c); err != nil { // before anything leaves: a call that is lost is still counted
		return nil, effect.NotSent(fault.Wrap(fault.Transient, err, "count the call"))
	}
	reply, err := p.Call(ctx, Request{Spec: spec, Model: model.ID, Input: in})
	c.Duration = r.now().Sub(c.At)
	if err != nil {
		return r.failed(ctx, c, model, failureOf(err))
	}
	c.Tokens = reply.Tokens
	o, err := parse(reply.Text, newOutput(spec.Task))
	if err != nil {
		return r.failed(ctx, c, model, &CallError{Failure: NoAnswer, Detail: err.Error(), Tokens: reply.Tokens})
	}
	a := Author{Provider: model.Provider, Model: c.Model, Version: c.PromptVersion}
	if reply.Model != "" {
		a.Model = reply.Model
	}
	key := names.TextKey(run.AnalysisID, run.Attempt, string(spec.Task))
	if err := r.store(ctx, key, newDocument(spec.Task, a, o)); err != nil {
		r.count(ctx, c, "ok")
		return nil, fault.Wrap(fault.Transient, err, "store the answer of %s", spec.Task)
	}
	r.count(ctx, c, "ok")
	return json.Marshal(outcome{Key: key, Author: &a})
}

// choice is what a task's setting leads to.
type choice struct {
	model    Model
	provider Provider
	lease    time.Duration
}

// rulesLease is how long a call of the rules is waited for: it takes
// milliseconds, and a dead process should not hold an analysis up for longer.
const rulesLease = 30 * time.Second

// choose finds the provider and model that the setting names.
func (r *Runner) choose(ctx context.Context, spec Spec) (choice, error) {
	ch := choice{lease: spec.Timeout}
	m, err := r.Models.Model(ctx, spec.Task)
	if err != nil {
		return ch, err
	}
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
	c.Tokens = e.Tokens
	switch e.Failure {
	case Throttled, NotSent:
		r.count(ctx, c, e.Failure.String())
		return nil, effect.NotSent(fault.Wrap(fault.Transient, e, "%s", c.Task))
	case Unavailable:
		r.count(ctx, c, string(fault.ModelUnavailable))
		return nil, effect.NotSent(fault.Wrap(fault.ModelUnavailable, e, "setting %s names %s", m.Setting, clip(m.String(), 120)))
	case NoAnswer:
		r.count(ctx, c, string(fault.ModelNoAnswer))
		return json.Marshal(outcome{Fault: fault.ModelNoAnswer, Detail: clip(e.Error(), 500)})
	}
	r.count(ctx, c, string(fault.OutcomeUnknown))
	return nil, fault.Wrap(fault.Transient, e, "%s: sent, no answer", c.Task)
}

// count completes the usage row. The call is made; a row that stays at "sent" is
// still counted, so this error only goes to the log.
func (r *Runner) count(ctx context.Context, c usage.Call, how string) {
	c.Outcome = how
	if err := r.Record(ctx, c); err != nil {
		slog.ErrorContext(ctx, "usage row not completed", "analysis_id", c.AnalysisID, "attempt", c.Attempt, "task", c.Task, "detail", err.Error())
	}
}

func (r *Runner) store(ctx context.Context, key string, d Document) error {
	b, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	kind := "application/json"
	return r.Retry.Do(ctx, func() error {
		_, err := r.Objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &r.Bucket, Key: &key, Body: bytes.NewReader(b), ContentType: &kind})
		return err
	})
}

func (r *Runner) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}
