package stepfn

import (
	"time"

	"fastbowlinglab/integration/stepfn/asl"
)

// task carries out one attempt of a Task state. Its time counts from the moment
// at which the task was scheduled.
func (v *visit) task() (any, time.Time, error) {
	t := v.s.Task
	tok := v.r.e.source.token(v.key(v.s.Name, v.attempt)...)
	past := v.takeAttempt()
	if past.token != "" {
		tok = past.token
	}
	function, payload, params, err := v.arguments(tok)
	if err != nil {
		return nil, now(), err
	}
	if past.over {
		return past.result, past.at, past.err
	}
	w := v.waiting
	v.waiting = nil
	if w == nil {
		w = v.newToken(pastAttempt{})
	} else if result, over, err := v.settled(w); over {
		return result, now(), err
	}
	if past.submitted {
		return v.await(w, nil, function)
	}
	scheduled := Event{Type: evTaskScheduled, TaskScheduled: &ScheduledDetails{
		ResourceType: "lambda", Resource: t.Resource(), Region: v.r.e.opt.Region, Parameters: &params,
		Timeout: int64(t.Timeout / time.Second), Heartbeat: int64(t.Heartbeat / time.Second),
	}}
	rec := record{Event: scheduled}
	if t.WaitForToken {
		rec.Token = tok
	}
	if err := v.addRecord(rec); err != nil {
		return nil, now(), err
	}
	if err := v.register(w, tok); err != nil {
		return nil, now(), err
	}
	if err := v.add(taskEvent(evTaskStarted, t, nil, nil)); err != nil {
		return nil, now(), err
	}
	call := Call{ExecutionARN: v.r.x.arn, ExecutionName: v.r.x.name, State: v.s.Name, Visit: v.sc.visit, Attempt: v.attempt, Redrive: v.sc.drive}
	return v.await(w, v.r.e.invoke(call, function, payload), function)
}

// arguments gives the function, its payload and the whole parameters as text.
func (v *visit) arguments(tok string) (function string, payload []byte, params string, err error) {
	if !v.s.Task.WaitForToken {
		tok = ""
	}
	in, err := v.effectiveInput()
	if err != nil {
		return "", nil, "", err
	}
	p, err := v.s.Parameters.Eval(in, v.context(tok))
	if err != nil {
		return "", nil, "", err
	}
	fields := p.(map[string]any) // Parse accepts nothing else
	function, ok := fields["FunctionName"].(string)
	if !ok || function == "" {
		return "", nil, "", &asl.Error{Name: asl.ErrRuntime, Cause: "The FunctionName of state '" + v.s.Name + "' is not a string that names a function"}
	}
	payload = []byte("{}")
	if x, ok := fields["Payload"]; ok {
		payload = asl.Encode(x)
	}
	text := asl.Encode(p)
	if len(text) > MaxBytes {
		return "", nil, "", tooLarge(v.s.Name)
	}
	return function, payload, string(text), nil
}

// await waits for the end of an attempt: the function's answer, or with a token
// the token's. replies is nil when the function has answered already.
func (v *visit) await(w *token, replies <-chan reply, function string) (any, time.Time, error) {
	for {
		expiry, stop := v.r.e.alarm(w)
		var err error
		var result any
		done := false
		select {
		case rep := <-replies:
			replies = nil
			result, done, err = v.answered(w, rep, function)
		case <-w.wake:
		case <-expiry:
		case <-v.ctx.Done():
			err = errStopped
		}
		stop()
		if done || err != nil {
			v.r.e.release(w)
			return result, now(), err
		}
		if result, over, err := v.settled(w); over {
			return result, now(), err
		}
	}
}

// answered takes the function's answer. Without a token it is the end of the
// attempt; with one, only a failure is.
func (v *visit) answered(w *token, rep reply, function string) (result any, done bool, err error) {
	e, t := v.r.e, v.s.Task
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.closed || !rep.at.Before(w.expiry()) {
		return nil, false, nil // too late, or the token was answered first
	}
	fail := rep.fail
	if fail == nil && len(rep.out) > MaxBytes {
		fail = tooLarge("lambda")
	}
	if fail != nil {
		if err := e.add(v.r.x, v.sc, record{Event: taskEvent(evTaskFailed, t, nil, fail)}); err != nil {
			return nil, true, err
		}
		return nil, true, fail
	}
	result = invokeResult(function, rep.out)
	text := string(asl.Encode(result))
	if t.WaitForToken {
		return nil, false, e.add(v.r.x, v.sc, record{Event: taskEvent(evTaskSubmitted, t, &text, nil)})
	}
	return result, true, e.add(v.r.x, v.sc, record{Event: taskEvent(evTaskSucceeded, t, &text, nil)})
}

// settled looks whether the token was answered or the time is up.
func (v *visit) settled(w *token) (result any, over bool, err error) {
	e := v.r.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.closed {
		return w.result, true, w.err
	}
	fail := w.expired(now())
	if fail == nil {
		return nil, false, nil
	}
	w.close()
	if err := e.add(v.r.x, v.sc, record{Event: taskEvent(evTaskTimedOut, v.s.Task, nil, fail)}); err != nil {
		return nil, true, err
	}
	return nil, true, fail
}

// pastAttempt is what was recorded of an attempt before a restart.
type pastAttempt struct {
	over      bool // it ended, with result or err
	result    any
	err       error
	at        time.Time // of its end, or of its scheduling
	token     string
	submitted bool // its function had answered; the token is awaited
}

// takeAttempt takes the oldest attempt out of what was recorded of this visit.
func (v *visit) takeAttempt() pastAttempt {
	var p pastAttempt
	for len(v.recorded) > 0 {
		r := v.recorded[0]
		v.recorded = v.recorded[1:]
		switch ev := r.Event; ev.Type {
		case evTaskScheduled:
			p = pastAttempt{token: r.Token, at: ev.Timestamp.Time}
		case evTaskSubmitted:
			p.submitted = true
		case evTaskSucceeded:
			p.result, p.err = asl.Decode([]byte(*ev.TaskSucceeded.Output))
			p.over, p.at = true, ev.Timestamp.Time
			return p
		case evTaskFailed, evTaskTimedOut:
			d := ev.TaskFailed
			if d == nil {
				d = ev.TaskTimedOut
			}
			p.err = &asl.Error{Name: d.Error, Cause: d.Cause}
			p.over, p.at = true, ev.Timestamp.Time
			return p
		}
	}
	return p
}
