package precheck

import (
	"context"
	"errors"
	"time"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/retry"
)

// surely is the confidence from which on a rejection counts. A doubtful one is
// let pass: the pose pass measures, and can still refuse the footage.
const surely = 0.7

// judge asks for the verdict and writes it into the record.
//
// The policy where the model did not answer (refused, guarded, cut, empty,
// unusable, throttled for all the time there was, no answer in time, outcome
// unknown): the footage is let pass, and the record says why. A failure of ours
// is never a verdict on the athlete, the check is the cheap one of two, and the
// pose pass decides. A model that is retired or missing is not let pass: it stops
// the analysis, alarms and refunds, since every later one would fail alike.
func (d Deps) judge(ctx context.Context, in names.Run, rec *Record, pics []aitask.Picture) error {
	v, err := d.ask(ctx, in, aitask.Input{Pictures: pics, Seen: rec.Clips})
	rec.Verdict, rec.Reason = names.VerdictPass, ""
	if err != nil {
		why := unanswered(err)
		if why == "" {
			return fault.Wrap(fault.NameOf(err), err, "precheck: verdict")
		}
		rec.NoAnswer = why
		return nil
	}
	rec.Provider, rec.Model = v.Author.Provider, v.Author.Model
	rec.Said, rec.Confidence = v.Verdict+": "+v.PrecheckText.Reason, v.Confidence
	if v.Verdict == names.VerdictReject && v.Confidence >= surely {
		rec.Verdict, rec.Reason = names.VerdictReject, reason.NotBowling
		if rec.Provider == aitask.RulesProvider {
			rec.Reason = reason.NoPerson // the one thing that they can say
		}
	}
	return nil
}

// unanswered names how a model did not answer, "" for an error of another kind.
func unanswered(err error) string {
	var busy *effect.InProgress
	var call *aitask.CallError
	var why aitask.Why
	switch name := fault.NameOf(err); {
	case errors.As(err, &busy):
		return "in_progress_elsewhere"
	case name == fault.OutcomeUnknown:
		return "outcome_unknown"
	case name == fault.ModelNoAnswer && errors.As(err, &why):
		return string(why)
	case name == fault.ModelNoAnswer:
		return "no_answer"
	case errors.As(err, &call) && call.Failure == aitask.Throttled:
		return "throttled"
	case errors.As(err, &call) && call.Failure == aitask.Unknown:
		return "no_answer_in_time"
	}
	return ""
}

// leftAtEnd is the time that is kept for writing the record.
const leftAtEnd = 10 * time.Second

// ask asks for the verdict. While another invocation is asking, it waits for that
// one's answer, as long as there is time.
func (d Deps) ask(ctx context.Context, in names.Run, input aitask.Input) (aitask.Verdict, error) {
	if until, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until.Add(-min(leftAtEnd, time.Until(until)/4)))
		defer cancel()
	}
	for {
		v, err := d.Tasks.Precheck(ctx, in, input)
		var busy *effect.InProgress
		if !errors.As(err, &busy) || !wait(ctx, time.Until(busy.Until)) {
			return v, err
		}
	}
}

// wait waits for d; false, at once, if ctx ends before.
func wait(ctx context.Context, d time.Duration) bool {
	if until, ok := ctx.Deadline(); ok && time.Until(until) <= d {
		return false
	}
	return retry.Sleep(ctx, d) == nil
}
