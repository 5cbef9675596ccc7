package stepfn

import (
	"fmt"

	"github.com/aws/smithy-go"
)

// APIError is an error of the API, with the code that AWS gives it.
type APIError struct {
	Code    string
	Message string
}

func (e *APIError) Error() string { return e.Code + ": " + e.Message }

// ErrorCode, ErrorMessage and ErrorFault make APIError a smithy.APIError, so that
// what reads the SDK's errors reads those of a direct call too.
func (e *APIError) ErrorCode() string { return e.Code }

// ErrorMessage gives the message.
func (e *APIError) ErrorMessage() string { return e.Message }

// ErrorFault gives the side that AWS blames.
func (e *APIError) ErrorFault() smithy.ErrorFault {
	if e.Code == CodeUnavailable {
		return smithy.FaultServer
	}
	return smithy.FaultClient
}

// The codes.
const (
	CodeExecutionAlreadyExists    = "ExecutionAlreadyExists"
	CodeExecutionDoesNotExist     = "ExecutionDoesNotExist"
	CodeExecutionLimitExceeded    = "ExecutionLimitExceeded"
	CodeExecutionNotRedrivable    = "ExecutionNotRedrivable"
	CodeInvalidArn                = "InvalidArn"
	CodeInvalidDefinition         = "InvalidDefinition"
	CodeInvalidExecutionInput     = "InvalidExecutionInput"
	CodeInvalidName               = "InvalidName"
	CodeInvalidOutput             = "InvalidOutput"
	CodeInvalidToken              = "InvalidToken"
	CodeMissingRequiredParameter  = "MissingRequiredParameter"
	CodeStateMachineAlreadyExists = "StateMachineAlreadyExists"
	CodeStateMachineDoesNotExist  = "StateMachineDoesNotExist"
	CodeTypeNotSupported          = "StateMachineTypeNotSupported"
	CodeTaskDoesNotExist          = "TaskDoesNotExist"
	CodeTaskTimedOut              = "TaskTimedOut"
	CodeUnknownOperation          = "UnknownOperationException"
	CodeSerialization             = "SerializationException"
	CodeUnavailable               = "ServiceUnavailable"
	CodeValidation                = "ValidationException"
)

func apiErr(code, format string, a ...any) *APIError {
	return &APIError{code, fmt.Sprintf(format, a...)}
}
