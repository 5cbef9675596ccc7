package outcome

import (
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/reason"
)

// ReasonOf gives the reason for which an analysis fails when its execution ends
// with this error name: one of package fault, of Step Functions or of Lambda.
// Any other name is a stage that failed.
func ReasonOf(errorName string) reason.Code {
	switch errorName {
	case string(fault.OutcomeUnknown):
		return reason.OutcomeUnknown
	case string(fault.ModelUnavailable):
		return reason.ModelUnavailable
	case string(fault.ModelNoAnswer):
		return reason.ModelNoAnswer
	case string(fault.PoseFailed), string(fault.Released), "States.HeartbeatTimeout":
		return reason.PoseFailed
	case "States.Timeout", "Sandbox.Timedout":
		return reason.DeadlinePassed
	}
	return reason.StageFailed
}

// ReasonOfStatus is ReasonOf for an execution that ended without its catch-all:
// by the status that Step Functions gives it and its error, if any.
func ReasonOfStatus(status, errorName string) reason.Code {
	switch status {
	case "ABORTED":
		return reason.Stopped
	case "TIMED_OUT":
		return reason.DeadlinePassed
	}
	return ReasonOf(errorName)
}
