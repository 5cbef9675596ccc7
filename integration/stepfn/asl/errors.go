package asl

import "slices"

// Error names that the language reserves; everything that starts with "States."
// is one of these.
const (
	ErrAll                    = "States.ALL"
	ErrBranchFailed           = "States.BranchFailed"
	ErrDataLimitExceeded      = "States.DataLimitExceeded"
	ErrHeartbeatTimeout       = "States.HeartbeatTimeout"
	ErrIntrinsicFailure       = "States.IntrinsicFailure"
	ErrNoChoiceMatched        = "States.NoChoiceMatched"
	ErrParameterPathFailure   = "States.ParameterPathFailure"
	ErrPermissions            = "States.Permissions"
	ErrResultPathMatchFailure = "States.ResultPathMatchFailure"
	ErrRuntime                = "States.Runtime"
	ErrTaskFailed             = "States.TaskFailed"
	ErrTimeout                = "States.Timeout"
)

var reserved = []string{ErrAll, ErrBranchFailed, ErrDataLimitExceeded, ErrHeartbeatTimeout,
	ErrIntrinsicFailure, ErrNoChoiceMatched, ErrParameterPathFailure, ErrPermissions,
	ErrResultPathMatchFailure, ErrRuntime, ErrTaskFailed, ErrTimeout}

// Error is what a state reports when it fails.
type Error struct {
	Name  string
	Cause string
}

func (e *Error) Error() string { return e.Name + ": " + e.Cause }

// Output is the JSON value that a Catcher puts into the state's input.
func (e *Error) Output() any {
	return map[string]any{"Error": e.Name, "Cause": e.Cause}
}

// Matches reports whether one of the names of an ErrorEquals covers an error.
//
// States.Runtime is covered by nothing: it always ends the execution.
// States.DataLimitExceeded is covered by its own name alone. States.Timeout
// covers a lost heartbeat too. States.TaskFailed covers everything but those
// and the timeouts.
func Matches(errorEquals []string, name string) bool {
	if name == ErrRuntime {
		return false
	}
	timeout := name == ErrTimeout || name == ErrHeartbeatTimeout
	return slices.ContainsFunc(errorEquals, func(want string) bool {
		switch want {
		case name:
			return true
		case ErrAll:
			return name != ErrDataLimitExceeded
		case ErrTaskFailed:
			return name != ErrDataLimitExceeded && !timeout
		case ErrTimeout:
			return timeout
		}
		return false
	})
}
