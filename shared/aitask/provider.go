package aitask

import (
	"context"
	"errors"
	"fmt"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/usage"
)

// Input is what a task is about. Notes are the athlete's words: data for a
// model, never instructions.
type Input struct {
	Result   motion.Result
	Notes    string
	Findings *FindingsText // of coaching
	Pictures []Picture     // of precheck
	Seen     any           // of precheck: what the caller's own rules judge by
}

// Picture is one frame of a clip.
type Picture struct {
	Clip int     // index in the analysis
	Time float64 // seconds
	JPEG []byte
}

// Request is one call.
type Request struct {
	Spec  Spec
	Model string // as the setting names it, without the provider
	Input Input
}

// Reply is what a provider got back. Text is the answer, JSON by the task's
// schema, perhaps fenced or wrapped in prose. Model is the model that answered.
type Reply struct {
	Text      string
	Model     string
	Tokens    usage.Tokens
	Throttled int // requests that were throttled before the one that was answered
}

// Provider makes calls of models.
type Provider interface {
	// Check says, without sending anything, whether the provider knows the model.
	Check(model string) error
	// Version names what stands in the place of a prompt, "" for the task's own.
	Version(Task) string
	// Call sends the request at most once. Errors: *CallError.
	Call(ctx context.Context, req Request) (Reply, error)
}

// Failure is how a call failed.
type Failure int

// The failures.
const (
	Throttled   Failure = iota // refused for now; nothing was done
	Unavailable                // the model is retired, missing or not allowed
	NoAnswer                   // refused, guarded, empty, cut or of another shape
	Unknown                    // sent, and nobody knows what came of it
	NotSent                    // did not leave: nothing was done
	Refused                    // refused as wrong: nothing was done, and never will be
)

// free reports whether a call that failed so is known to have cost nothing.
func (f Failure) free() bool {
	return f == Throttled || f == Unavailable || f == NotSent || f == Refused
}

func (f Failure) String() string {
	return [...]string{"throttled", "unavailable", "no answer", "unknown", "not sent", "refused"}[f]
}

// CallError is a call's failure. Tokens are those that it cost all the same.
type CallError struct {
	Failure Failure
	Detail  string
	Tokens  usage.Tokens
	Err     error // a Why if the failure is NoAnswer

	Throttled int // requests that were throttled, this one included
}

func (e *CallError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("model call: %s: %s", e.Failure, e.Detail)
	}
	return fmt.Sprintf("model call: %s: %s: %v", e.Failure, e.Detail, e.Err)
}

func (e *CallError) Unwrap() error { return e.Err }

// failureOf reads err; what is no *CallError is Unknown, since it may have been
// sent.
func failureOf(err error) *CallError {
	var ce *CallError
	if errors.As(err, &ce) {
		return ce
	}
	return &CallError{Failure: Unknown, Detail: "unexpected error", Err: err}
}
