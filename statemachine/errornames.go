package statemachine

import (
	"slices"

	"fastbowlinglab/shared/fault"
)

// lambdaErrors lists the names under which Lambda's own errors reach a state
// machine: failed calls as "Lambda." and the exception's name, and deaths of a
// function's process; those of refusals are beside their retrier. Sources: "Handle
// transient Lambda service exceptions" in the Step Functions guide and the runtime
// errors of the Lambda guide.
var lambdaErrors = []string{
	"Lambda.AWSLambdaException",
	"Lambda.ClientExecutionTimeoutException",
	"Lambda.ResourceNotFoundException",
	"Lambda.SdkClientException",
	"Lambda.ServiceException",
	"Lambda.Unknown",
	"Runtime.ExitError",
	"Runtime.OutOfMemory",
	"Sandbox.Timedout",
}

// statesErrors lists the reserved names that a definition may match.
var statesErrors = []string{
	"States.ALL",
	"States.HeartbeatTimeout",
	"States.TaskFailed",
	"States.Timeout",
}

// KnownError reports whether a definition may match an error name: one of
// shared/fault, of Lambda's, or of Step Functions' own.
func KnownError(name string) bool {
	return slices.Contains(fault.Names(), fault.Name(name)) ||
		slices.Contains(lambdaErrors, name) || slices.Contains(refusals, name) || slices.Contains(statesErrors, name)
}
