package stepfn

import "fastbowlinglab/integration/stepfn/asl"

// position is where the top of an execution stands, kept so that a restart can
// go on from there.
type position struct {
	state   string // entered, or to be entered; "" when the last state has ended
	input   string // of that state
	entered bool
	when    Time     // of the entry
	visit   int      // states entered so far
	prev    int64    // id of the last event at the top
	log     []record // events of this visit at the top
}

// apply adds a recorded event to the execution and moves its position.
func (x *execution) apply(r record) {
	ev := r.Event
	x.events = append(x.events, ev)
	switch ev.Type {
	case evExecutionSucceeded:
		x.close(Succeeded, ev, nil)
		x.output = *ev.ExecutionSucceeded.Output
	case evExecutionFailed:
		x.close(Failed, ev, ev.ExecutionFailed)
	case evExecutionAborted:
		x.close(Aborted, ev, ev.ExecutionAborted)
	case evExecutionTimedOut:
		x.close(TimedOut, ev, ev.ExecutionTimedOut)
	}
	if r.Scope != "" || ev.Type == evExecutionStarted {
		return // AWS counts the first state's previous event as 0
	}
	x.at.prev = ev.ID
	switch {
	case ev.isEntered():
		x.at.entered, x.at.when, x.at.log = true, ev.Timestamp, nil
		x.at.visit++
	case ev.isExited():
		x.at.state, x.at.input, x.at.entered, x.at.log = r.Next, *ev.StateExited.Output, false, nil
	default:
		x.at.log = append(x.at.log, r)
	}
}

func (x *execution) close(s Status, ev Event, f *FailureDetails) {
	x.status, x.stop = s, ev.Timestamp.Time
	if f != nil && (f.Error != "" || f.Cause != "") {
		x.fail = &asl.Error{Name: f.Error, Cause: f.Cause}
	}
}

// resume goes on with the executions that were open. Tokens of the state that
// each stands in are known again; those of states it has left are closed. The
// lock is held.
func (e *Engine) resume() {
	for _, m := range e.order {
		for _, x := range m.executions {
			if x.status != Running {
				close(x.done)
				continue
			}
			e.launch(x, false)
		}
	}
}
