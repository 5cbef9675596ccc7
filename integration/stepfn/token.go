package stepfn

import (
	"time"

	"fastbowlinglab/integration/stepfn/asl"
)

// token is an attempt of a task while it waits: for its task token, or just for
// its function (then nobody can look it up). Guarded by Engine.mu.
type token struct {
	id        string // "" when the state has no token
	x         *execution
	sc        *scope
	task      *asl.Task
	deadline  time.Time // zero: none
	beat      time.Time // when the heartbeat is overdue; zero: none
	heartbeat time.Duration
	wake      chan struct{} // holds one signal: look again

	closed bool // answered, timed out or given up
	result any
	err    error
}

func closedToken() *token { return &token{closed: true, err: errStopped} }

// newToken makes the waiting of one attempt. The state's time goes on from a
// past attempt that is still waiting; the heartbeat starts anew, since nobody
// could be heard while the engine was away.
func (v *visit) newToken(past pastAttempt) *token {
	t := v.s.Task
	w := &token{x: v.r.x, sc: v.sc, task: t, heartbeat: t.Heartbeat, wake: make(chan struct{}, 1)}
	start := now()
	if t.Heartbeat > 0 {
		w.beat = start.Add(t.Heartbeat)
	}
	if past.submitted {
		start = past.at
	}
	if t.Timeout > 0 {
		w.deadline = start.Add(t.Timeout)
	}
	return w
}

// register makes a task token known to the API.
func (v *visit) register(w *token, id string) error {
	if !v.s.Task.WaitForToken || w.id == id {
		return nil
	}
	e := v.r.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if v.r.x.status != Running || v.sc.drive != v.r.x.drives.count {
		return errStopped
	}
	e.keep(w, id)
	return nil
}

func (e *Engine) keep(w *token, id string) {
	w.id = id
	e.tokens[id] = w
}

// reopen makes the task token of the attempt that a restart interrupted valid
// again, before anybody can ask for it. The lock is held.
func (v *visit) reopen() {
	if v.s.Task == nil || !v.s.Task.WaitForToken {
		return
	}
	recorded := v.recorded
	var past pastAttempt
	for len(v.recorded) > 0 {
		past = v.takeAttempt()
	}
	v.recorded = recorded
	if past.token == "" || past.over {
		return
	}
	v.waiting = v.newToken(past)
	v.r.e.keep(v.waiting, past.token)
}

// never stands for no limit.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// expiry is when the attempt's time is up.
func (w *token) expiry() time.Time {
	out := never
	for _, t := range []time.Time{w.deadline, w.beat} {
		if !t.IsZero() && t.Before(out) {
			out = t
		}
	}
	return out
}

// alarm gives a channel that fires when the attempt's time is up, and what stops
// its timer. An attempt without a limit has no timer: in virtual time one that
// lies centuries ahead would be waited for.
func (e *Engine) alarm(w *token) (<-chan time.Time, func()) {
	e.mu.Lock()
	at := w.expiry()
	e.mu.Unlock()
	if at.Equal(never) {
		return nil, func() {}
	}
	t := time.NewTimer(time.Until(at))
	return t.C, func() { t.Stop() }
}

// expired gives the error of an attempt whose time is up at t, or nil. When both
// clocks run out together it is the state's.
func (w *token) expired(t time.Time) *asl.Error {
	switch {
	case !w.deadline.IsZero() && !t.Before(w.deadline):
		return &asl.Error{Name: asl.ErrTimeout}
	case !w.beat.IsZero() && !t.Before(w.beat):
		return &asl.Error{Name: asl.ErrHeartbeatTimeout}
	}
	return nil
}

// close marks the token as used. Who waits is told.
func (w *token) close() {
	if w.closed {
		return
	}
	w.closed, w.err = true, errStopped
	w.signal()
}

func (w *token) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// release gives an attempt up.
func (e *Engine) release(w *token) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w.close()
}

// openToken finds the waiting attempt of a token. The lock is held.
func (e *Engine) openToken(id string) (*token, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	if !wellFormed(id) {
		return nil, apiErr(CodeInvalidToken, "Invalid Token: 'Invalid token'")
	}
	w := e.tokens[id]
	if w == nil {
		return nil, apiErr(CodeTaskDoesNotExist, "Task Does Not Exist: 'no task was given this token'")
	}
	t := now()
	if w.closed || w.expired(t) != nil || w.x.status != Running || w.sc.drive != w.x.drives.count || w.x.late(t) {
		return nil, apiErr(CodeTaskTimedOut, "Task Timed Out: 'Provided task does not exist anymore'")
	}
	return w, nil
}

// SendTaskSuccessInput is the input of SendTaskSuccess.
type SendTaskSuccessInput struct {
	TaskToken string  `json:"taskToken"`
	Output    *string `json:"output"`
}

// SendTaskFailureInput is the input of SendTaskFailure.
type SendTaskFailureInput struct {
	TaskToken string `json:"taskToken"`
	Error     string `json:"error"`
	Cause     string `json:"cause"`
}

// SendTaskHeartbeatInput is the input of SendTaskHeartbeat.
type SendTaskHeartbeatInput struct {
	TaskToken string `json:"taskToken"`
}

// Empty is an output without fields.
type Empty struct{}

// SendTaskSuccess ends the task that waits for the token. The event is written
// before the call returns: an accepted answer is not lost in a crash. Errors:
// InvalidOutput, InvalidToken, TaskDoesNotExist, TaskTimedOut.
func (e *Engine) SendTaskSuccess(in SendTaskSuccessInput) (Empty, error) {
	if in.Output == nil {
		return Empty{}, apiErr(CodeMissingRequiredParameter, "output is missing")
	}
	out, err := asl.Decode([]byte(*in.Output))
	if err != nil {
		return Empty{}, apiErr(CodeInvalidOutput, "Invalid Output: '%v'", err)
	}
	if len(*in.Output) > MaxBytes {
		return Empty{}, apiErr(CodeInvalidOutput, "Invalid Output: '%d bytes, the limit is %d'", len(*in.Output), MaxBytes)
	}
	return Empty{}, e.answer(in.TaskToken, func(w *token) (Event, any, error) {
		return taskEvent(evTaskSucceeded, w.task, in.Output, nil), out, nil
	})
}

// Limits of SendTaskFailure, in characters.
const (
	maxErrorRunes = 256
	maxCauseRunes = 32768
)

// SendTaskFailure fails the task that waits for the token. Errors: InvalidToken,
// TaskDoesNotExist, TaskTimedOut, ValidationException.
func (e *Engine) SendTaskFailure(in SendTaskFailureInput) (Empty, error) {
	if err := errorFields(in.Error, in.Cause); err != nil {
		return Empty{}, err
	}
	return Empty{}, e.answer(in.TaskToken, func(w *token) (Event, any, error) {
		fail := &asl.Error{Name: in.Error, Cause: in.Cause}
		return taskEvent(evTaskFailed, w.task, nil, fail), nil, fail
	})
}

func errorFields(name, cause string) error {
	if len([]rune(name)) > maxErrorRunes {
		return apiErr(CodeValidation, "error has more than %d characters", maxErrorRunes)
	}
	if len([]rune(cause)) > maxCauseRunes {
		return apiErr(CodeValidation, "cause has more than %d characters", maxCauseRunes)
	}
	return nil
}

func (e *Engine) answer(id string, outcome func(*token) (Event, any, error)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	w, err := e.openToken(id)
	if err != nil {
		return err
	}
	ev, result, fail := outcome(w)
	addErr := e.add(w.x, w.sc, record{Event: ev})
	w.close()
	w.result, w.err = result, fail
	if addErr != nil {
		w.result, w.err = nil, addErr
	}
	return e.usable() // a journal that just broke has not kept the answer
}

// SendTaskHeartbeat puts off the heartbeat timeout of the task that waits for
// the token. Errors: InvalidToken, TaskDoesNotExist, TaskTimedOut.
func (e *Engine) SendTaskHeartbeat(in SendTaskHeartbeatInput) (Empty, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w, err := e.openToken(in.TaskToken)
	if err != nil {
		return Empty{}, err
	}
	if w.heartbeat > 0 {
		w.beat = now().Add(w.heartbeat)
		w.signal()
	}
	return Empty{}, nil
}
