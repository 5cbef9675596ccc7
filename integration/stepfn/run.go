package stepfn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fastbowlinglab/integration/stepfn/asl"
)

// launch starts the goroutine of an open execution; fresh means that it was just
// started or redriven. A run of the same execution before it is waited for, so
// that changes of status are reported in order. The lock is held.
func (e *Engine) launch(x *execution, fresh bool) {
	var ctx context.Context
	var cancel context.CancelFunc
	if x.deadline.IsZero() {
		ctx, cancel = context.WithCancel(e.ctx)
	} else {
		ctx, cancel = context.WithDeadline(e.ctx, x.deadline)
	}
	before := x.done
	done := make(chan struct{})
	x.cancel, x.done = cancel, done
	r := &runner{e: e, x: x, ctx: ctx, redriven: x.drives.last,
		sc: &scope{prev: x.at.prev, visit: x.at.visit, drive: x.drives.count}}
	first, last := r.start()
	started := e.change(x, true)
	e.wg.Go(func() {
		defer close(done)
		defer cancel()
		if before != nil {
			<-before
		}
		if fresh {
			e.notify(started)
		}
		out, err := last, error(nil)
		if first != nil {
			out, err = r.machine(x.rev.model, first)
		}
		if ended, report := r.finish(out, err); ended {
			e.notify(report)
		}
	})
}

// finish writes the execution's end; it reports whether this run has one, and
// how it is reported.
func (r *runner) finish(out any, err error) (bool, StatusChange) {
	e, x, sc := r.e, r.x, r.sc
	e.mu.Lock()
	defer e.mu.Unlock()
	var fail *asl.Error
	switch {
	case err == nil:
		text := string(asl.Encode(out))
		e.end(x, sc, Event{Type: evExecutionSucceeded, ExecutionSucceeded: &OutputDetails{&text, whole()}})
	case errors.Is(err, errHistoryFull):
		fail = &asl.Error{Name: asl.ErrRuntime, Cause: fmt.Sprintf("The execution reached the maximum number of history events (%d).", MaxEvents)}
	case errors.As(err, &fail):
	case x.late(now()), errors.Is(r.ctx.Err(), context.DeadlineExceeded):
		// The second, since a wall clock that was put back may say that there is
		// time left when the timer has run.
		e.end(x, sc, timedOut())
	}
	if fail != nil {
		e.end(x, sc, Event{Type: evExecutionFailed, ExecutionFailed: &FailureDetails{fail.Name, fail.Cause}})
	}
	return x.status != Running || sc.drive != x.drives.count, x.report
}

// runner interprets one run of an execution: from its start, from where a
// restart found it, or from a redrive.
type runner struct {
	e        *Engine
	x        *execution
	ctx      context.Context
	redriven time.Time // the redrive that this run began with; zero: none
	sc       *scope    // the top
}

// start gives the visit from which the execution goes on, or, when its last
// state has ended, nil and the output. Task tokens that were given out before a
// restart are valid again when start returns.
func (r *runner) start() (first *visit, output any) {
	at := r.x.at
	input, err := asl.Decode([]byte(at.input))
	if err != nil { // it was written by Encode or checked by StartExecution
		panic(fmt.Sprintf("stepfn: recorded input of %s: %v", r.x.arn, err))
	}
	if at.state == "" {
		return nil, input
	}
	v := &visit{r: r, ctx: r.ctx, sc: r.sc, s: r.x.rev.model.States[at.state], input: input}
	if at.entered {
		v.resumed, v.when, v.recorded, v.prior = true, at.when.Time, at.log, at.prior
		v.reopen()
	}
	return v, nil
}

// machine runs a definition or a branch from the visit v on.
func (r *runner) machine(m *asl.Machine, v *visit) (any, error) {
	for {
		out, next, err := v.run()
		if err != nil || next == "" {
			return out, err
		}
		v = &visit{r: r, ctx: v.ctx, sc: v.sc, s: m.States[next], input: out}
	}
}

// visit is one stay in one state.
type visit struct {
	r     *runner
	ctx   context.Context
	sc    *scope
	s     *asl.State
	input any // as it came in
	when  time.Time

	resumed  bool     // entered before a restart or redrive
	recorded []record // what was written of this visit before a restart
	prior    string   // path of the branches that a redrive goes on with
	waiting  *token   // of an attempt that a restart interrupted
	attempt  int      // of Task, Map and Parallel, from 0
}

// key is what a derived value of this visit is for. What a redrive does is
// something else than what was done before it.
func (v *visit) key(parts ...any) []any {
	out := append([]any{v.r.x.arn, v.sc.path, v.sc.visit}, parts...)
	if v.sc.drive > 0 {
		out = append(out, "redrive", v.sc.drive)
	}
	return out
}

// add appends an event of this visit's branch.
func (v *visit) add(ev Event) error { return v.addRecord(record{Event: ev}) }

func (v *visit) addRecord(rec record) error {
	e := v.r.e
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.add(v.r.x, v.sc, rec)
}

// run carries the state out and gives its output and the state that follows.
func (v *visit) run() (out any, next string, err error) {
	if !v.resumed {
		if err := v.add(entered(v.s, string(asl.Encode(v.input)))); err != nil {
			return nil, "", err
		}
		v.sc.visit++
		v.when = now()
	}
	out, next, err = v.work()
	if err != nil {
		return nil, "", err
	}
	text := asl.Encode(out)
	if len(text) > MaxBytes {
		return nil, "", tooLarge(v.s.Name)
	}
	return out, next, v.addRecord(record{Event: exited(v.s, string(text)), Next: next})
}

func tooLarge(what string) *asl.Error {
	return &asl.Error{Name: asl.ErrDataLimitExceeded,
		Cause: fmt.Sprintf("The state/task '%s' returned a result with a size exceeding the maximum number of bytes service limit.", what)}
}

func (v *visit) work() (out any, next string, err error) {
	switch v.s.Type {
	case asl.TaskType:
		return v.guarded(v.task)
	case asl.MapType:
		return v.guarded(v.mapItems)
	case asl.ParallelType:
		return v.guarded(v.branches)
	}
	in, err := v.effectiveInput()
	if err != nil {
		return nil, "", err
	}
	next = v.s.Next
	switch v.s.Type {
	case asl.ChoiceType:
		if next, err = v.s.Choice.Pick(v.s.Name, in, v.context("")); err != nil {
			return nil, "", err
		}
		out = in
	case asl.WaitType:
		until, err := v.s.Wait.Until(v.when, in, v.context(""))
		if err != nil {
			return nil, "", err
		}
		if err := sleep(v.ctx, until); err != nil {
			return nil, "", err
		}
		out = in
	case asl.PassType:
		if out, err = v.pass(in); err != nil {
			return nil, "", err
		}
	case asl.SucceedType:
		out = in
	case asl.FailType:
		return nil, "", v.failure(in)
	}
	out, err = v.s.OutputPath.Get("OutputPath", out, v.context(""))
	return out, next, err
}

func (v *visit) effectiveInput() (any, error) {
	return v.s.InputPath.Get("InputPath", v.input, v.context(""))
}

func (v *visit) pass(in any) (any, error) {
	result := in
	if v.s.Pass.HasResult {
		result = v.s.Pass.Result
	}
	if v.s.Parameters != nil {
		var err error
		if result, err = v.s.Parameters.Eval(in, v.context("")); err != nil {
			return nil, err
		}
	}
	return v.s.ResultPath.Put(v.input, result)
}

// failure is the error that a Fail state ends the execution with.
func (v *visit) failure(in any) error {
	f := v.s.Fail
	out := &asl.Error{Name: f.Error, Cause: f.Cause}
	for _, field := range []struct {
		path *asl.Template
		to   *string
	}{{f.ErrorPath, &out.Name}, {f.CausePath, &out.Cause}} {
		if field.path == nil {
			continue
		}
		x, err := field.path.Eval(in, v.context(""))
		if err != nil {
			return err
		}
		text, ok := x.(string)
		if !ok {
			return &asl.Error{Name: asl.ErrRuntime, Cause: fmt.Sprintf("Fail state '%s': %s is not a string", v.s.Name, asl.Encode(x))}
		}
		*field.to = text
	}
	return out
}

// sleep waits until a time; it ends early, with an error, when ctx does.
func sleep(ctx context.Context, until time.Time) error {
	d := time.Until(until)
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return errStopped
	}
}
