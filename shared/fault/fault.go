// Package fault is the one list of error names that cross a process border:
// a handler's error reaches a state machine's Retry and Catch by its name, and
// a name that nobody listed would miss them in silence.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Name is an error name as a state machine sees it (a Lambda's errorType, or
// the error of SendTaskFailure).
type Name string

// The names. A definition's ErrorEquals may hold these, the States.* names and
// the Lambda.* names of AWS, and nothing else; a test reads every definition.
const (
	// Transient: nothing was decided and trying again may work (throttle,
	// conflict, connection, an answer that was lost before a guarded write).
	Transient Name = "Transient"
	// Permanent: trying again cannot work (bad input, a missing row, a bug).
	Permanent Name = "Permanent"
	// Conceded: the analysis has an end already, or another attempt owns it.
	Conceded Name = "Conceded"
	// Released: a worker gave its job back on purpose (SIGTERM).
	Released Name = "Released"
	// OutcomeUnknown: a paid call was sent and nobody knows its outcome.
	OutcomeUnknown Name = "OutcomeUnknown"
	// ModelUnavailable: the configured model is retired, missing or refused.
	ModelUnavailable Name = "ModelUnavailable"
	// ModelNoAnswer: the model answered with nothing that can be used.
	ModelNoAnswer Name = "ModelNoAnswer"
	// PoseFailed: the pose pass failed for good (poison job, no progress).
	PoseFailed Name = "PoseFailed"
)

// Names lists every name above.
func Names() []Name {
	return []Name{Transient, Permanent, Conceded, Released, OutcomeUnknown, ModelUnavailable, ModelNoAnswer, PoseFailed}
}

// Error is an error with a name. Detail says what was being done to what.
type Error struct {
	Name   Name
	Detail string
	Err    error // cause, may be nil
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Detail
	}
	return e.Detail + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// New makes a named error without a cause.
func New(n Name, format string, a ...any) error {
	return &Error{Name: n, Detail: fmt.Sprintf(format, a...)}
}

// Wrap names err and says what was being done; nil stays nil.
func Wrap(n Name, err error, format string, a ...any) error {
	if err == nil {
		return nil
	}
	return &Error{Name: n, Detail: fmt.Sprintf(format, a...), Err: err}
}

// NameOf gives the name under which err leaves the process: the outermost
// named error's; a deadline or cancellation is Transient; anything else is
// Permanent, since an unknown error retried blindly hides a bug.
func NameOf(err error) Name {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Name
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Transient
	}
	return Permanent
}
