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
	"fastbowlinglab/shared/metric"
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
// call failed for good. A recorded failure is not paid for a second time. A
// verdict is short, and stands here itself.
type outcome struct {
	Key      string        `json:"key,omitempty"`
	Author   *Author       `json:"author,omitempty"`
	About    string        `json:"about,omitempty"`   // what a text is about, by About
	Attempt  int           `json:"attempt,omitempty"` // that asked for it; 0 from a release before
	Precheck *PrecheckText `json:"precheck,omitempty"`
	Tags     *TagsText     `json:"tags,omitempty"`
	Fault    fault.Name    `json:"fault,omitempty"`
	Why      Why           `json:"why,omitempty"`
	Detail   string        `json:"detail,omitempty"`
}

// Run makes the call of a text task for a run, or reuses its recorded answer. The
// answer's State is names.EffectInProgress where another execution is making the
// call. Errors carry a name of package fault.
func (r *Runner) Run(ctx context.Context, run names.Run, t Task, in Input) (names.TextOut, error) {
	return r.text(ctx, run, t, "", in)
}

// text makes the call of a text task, or of a revision of it.
func (r *Runner) text(ctx context.Context, run names.Run, t Task, revision string, in Input) (names.TextOut, error) {
	o, err := r.once(ctx, run, t, revision, in)
	if about := About(in.Result); err == nil && !Suits(o.About, about) {
		if o.Attempt > run.Attempt { // what this one would pay for, nobody would read
			return names.TextOut{}, fault.New(fault.Conceded, "%s of %s: attempt %d has it, this is %d", t, run.AnalysisID, o.Attempt, run.Attempt)
		}
		// Never the old words beside new numbers: this answer is for an attempt
		// that measured something else.
		slog.WarnContext(ctx, "recorded answer is about other numbers", "analysis_id", run.AnalysisID, "attempt", run.Attempt, "task", t)
		o, err = r.once(ctx, run, t, again(revision, about), in)
	}
	var busy *effect.InProgress
	if errors.As(err, &busy) {
		return names.TextOut{State: names.EffectInProgress, Until: busy.Until.UTC().Format(time.RFC3339)}, nil
	}
	if err != nil {
		return names.TextOut{}, err
	}
	return names.TextOut{State: names.EffectDone, Key: o.Key}, nil
}

// Verdict is the precheck's answer and who gave it.
type Verdict struct {
	PrecheckText
	Author Author
}

// Precheck makes the precheck's call for a run, or reuses its recorded answer.
// Errors: *effect.InProgress where another invocation is making the call; others
// carry a name of package fault and, where the call failed, a *CallError.
func (r *Runner) Precheck(ctx context.Context, run names.Run, in Input) (Verdict, error) {
	o, err := r.once(ctx, run, Precheck, "", in)
	if err != nil {
		return Verdict{}, err
	}
	if o.Precheck == nil || o.Author == nil {
		return Verdict{}, fault.New(fault.Permanent, "%s of %s: the recorded outcome holds no verdict", Precheck, run.AnalysisID)
	}
	return Verdict{*o.Precheck, *o.Author}, nil
}

// once makes the call, or gives its recorded outcome, which is an answer.
func (r *Runner) once(ctx context.Context, run names.Run, t Task, revision string, in Input) (outcome, error) {
	spec, err := SpecOf(t)
	if err != nil {
		return outcome{}, fault.Wrap(fault.Permanent, err, "run an AI task")
	}
	// The choice is made first because the lease follows from it, but a bad one
	// only matters to whoever makes the call: a recorded answer stands.
	m, chosen := r.Models.Model(ctx, spec.Task)
	result, err := r.ask(ctx, run, spec, m, chosen, t.label(revision), in)
	if m.Fallback != nil && fault.NameOf(err) == fault.ModelUnavailable {
		unavailable(ctx, run, m.Setting)
		result, err = r.ask(ctx, run, spec, *m.Fallback, nil, t.label(revision), in)
	}
	var busy *effect.InProgress
	var unknown *effect.Unknown
	switch {
	case errors.As(err, &busy):
		return outcome{}, busy
	case errors.As(err, &unknown):
		return outcome{}, fault.Wrap(fault.OutcomeUnknown, err, "%s of %s", t, run.AnalysisID)
	case err != nil:
		err = named(err, t, run)
		if fault.NameOf(err) == fault.ModelUnavailable {
			unavailable(ctx, run, settingOf(spec, m))
		}
		return outcome{}, err
	}
	var o outcome
	if err := json.Unmarshal(result, &o); err != nil {
		return outcome{}, fault.Wrap(fault.Permanent, err, "%s of %s: read the recorded outcome", t, run.AnalysisID)
	}
	if o.Fault != "" {
		e := &CallError{Failure: NoAnswer, Detail: o.Detail}
		if o.Why != "" {
			e.Err = o.Why
		}
		return outcome{}, fault.Wrap(o.Fault, e, "%s of %s", t, run.AnalysisID)
	}
	return o, nil
}

// ask makes the call by one model, once whoever else asks.
func (r *Runner) ask(ctx context.Context, run names.Run, spec Spec, m Model, chosen error, label string, in Input) ([]byte, error) {
	ch := choice{lease: spec.Timeout}
	if chosen == nil {
		ch, chosen = r.choose(spec, m)
	}
	ch.label = label
	return r.Effects.Once(ctx, Task(label).EffectKey(run.AnalysisID), ch.lease, func(ctx context.Context) ([]byte, error) {
		if chosen != nil {
			return nil, effect.NotSent(chosen)
		}
		return r.call(ctx, run, spec, ch, in)
	})
}

// settingOf names the setting to change, by the task where it could not be read.
func settingOf(spec Spec, m Model) string {
	if m.Setting == "" {
		return string(spec.Task)
	}
	return m.Setting
}

// unavailable raises the alarm that names the setting which somebody must change.
func unavailable(ctx context.Context, run names.Run, setting string) {
	metric.Set(ctx, "setting", setting, []metric.Sample{{Name: metric.ModelUnavailable, Unit: "Count", Value: 1}},
		"analysis_id", run.AnalysisID, "attempt", run.Attempt)
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
