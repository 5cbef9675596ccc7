package stepfn

import (
	"strings"

	"fastbowlinglab/integration/stepfn/asl"
)

// position is where the top of an execution, or one of its branches, stands,
// kept so that a restart or a redrive can go on from there.
type position struct {
	state   string // entered, or to be entered; "" when the last state has ended
	input   string // of that state
	entered bool
	when    Time     // of the entry
	visit   int      // states entered so far
	prev    int64    // id of the last event
	log     []record // events of this visit since the run began

	branches string // path of the branches of this visit's latest attempt
	prior    string // path of those that a redrive goes on with
}

// finished reports whether the last state has ended; input is its output.
func (p *position) finished() bool { return p != nil && p.visit > 0 && p.state == "" }

func (p *position) move(r record) {
	ev := r.Event
	p.prev = ev.ID
	switch {
	case ev.isEntered():
		p.state, p.input = ev.StateEntered.Name, *ev.StateEntered.Input
		p.entered, p.when, p.log, p.branches, p.prior = true, ev.Timestamp, nil, "", ""
		p.visit++
	case ev.isExited():
		p.state, p.input, p.entered, p.log = r.Next, *ev.StateExited.Output, false, nil
	default:
		p.log = append(p.log, r)
		if r.Branches != "" {
			p.branches = r.Branches
		}
	}
}

// apply adds a recorded event to the execution and moves its positions.
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
	switch {
	case ev.Type == evExecutionStarted:
		return // AWS counts the first state's previous event as 0
	case r.Scope != "":
		p := x.inner[r.Scope]
		if p == nil {
			p = &position{}
			x.inner[r.Scope] = p
		}
		p.move(r)
	default:
		x.at.move(r)
		if ev.isExited() {
			clear(x.inner)
		}
	}
	if r.From != "" {
		x.inherit(r.From, r.Branches)
	}
	if ev.Type == evExecutionRedriven {
		x.reopen(r)
	}
}

// inherit lets new branches stand where those of an earlier run stood.
func (x *execution) inherit(from, to string) {
	for path, p := range x.inner {
		rest, ok := strings.CutPrefix(path, from+"[")
		if index, more, _ := strings.Cut(rest, "]"); ok && more == "" {
			c := *p
			x.inner[to+"["+index+"]"] = &c
		}
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
				x.done = make(chan struct{})
				close(x.done)
				continue
			}
			e.launch(x, false)
		}
	}
}
