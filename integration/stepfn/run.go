package stepfn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fastbowlinglab/integration/stepfn/asl"
)

// launch starts the goroutine of an open execution. The lock is held.
func (e *Engine) launch(x *execution, fresh bool) {
	if x.deadline.IsZero() {
		x.ctx, x.cancel = context.WithCancel(e.ctx)
	} else {
		x.ctx, x.cancel = context.WithDeadline(e.ctx, x.deadline)
	}
	r := &runner{e: e, x: x, sc: &scope{prev: x.at.prev, visit: x.at.visit}}
	first, last := r.start()
	e.wg.Go(func() {
		defer close(x.done)
		defer x.cancel()
		if fresh {
			e.notify(x, true)
		}
		out, err := last, error(nil)
		if first != nil {
			out, err = r.machine(x.rev.model, first)
		}
		if e.finish(x, r.sc, out, err) {
			e.notify(x, false)
		}
	})
}

// finish writes the execution's end; it reports whether the execution has one.
func (e *Engine) finish(x *execution, sc *scope, out any, err error) bool {
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
	case x.late(now()), errors.Is(x.ctx.Err(), context.DeadlineExceeded):
		// The second, since a wall clock that was put back may say that there is
		// time left when the timer has run.
		e.end(x, sc, timedOut())
	}
	if fail != nil {
		e.end(x, sc, Event{Type: evExecutionFailed, ExecutionFailed: &FailureDetails{fail.Name, fail.Cause}})
	}
	return x.status != Running
}

// runner interprets one execution.
type runner struct {
	e  *Engine
	x  *execution
	sc *scope // the top
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
	v := &visit{r: r, ctx: r.x.ctx, sc: r.sc, s: r.x.rev.model.States[at.state], input: input}
	if at.entered {
		v.resumed, v.when, v.recorded = true, at.when.Time, at.log
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

	resumed  bool     // entered before a restart
	recorded []record // what was written of this visit before a restart
	waiting  *token   // of an attempt that a restart interrupted
	attempt  int      // of Task, Map and Parallel, from 0
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
