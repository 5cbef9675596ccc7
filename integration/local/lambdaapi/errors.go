package lambdaapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Unhandled is the value of X-Amz-Function-Error, and of Result.FunctionError,
// when the function ran and failed.
const Unhandled = "Unhandled"

// Error types that the service itself gives to a failed invocation.
const (
	ErrTimedOut         = "Sandbox.Timedout"
	ErrExit             = "Runtime.ExitError"
	ErrEntrypoint       = "Runtime.InvalidEntrypoint"
	ErrResponseTooLarge = "Function.ResponseSizeTooLarge"
)

// Error is an invocation that the service refused: no function ran.
type Error struct {
	Status  int    // HTTP status
	Code    string // AWS's exception name
	Message string
	Reason  string // of a throttle
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// ErrorCode is the name under which a state machine and an SDK see the error.
func (e *Error) ErrorCode() string { return e.Code }

func notFound(arn string) error {
	return &Error{Status: http.StatusNotFound, Code: "ResourceNotFoundException", Message: "Function not found: " + arn}
}

func badContent(err error) error {
	return &Error{Status: http.StatusBadRequest, Code: "InvalidRequestContentException",
		Message: "Could not parse request body into json: " + err.Error()}
}

func badParameter(format string, a ...any) error {
	return &Error{Status: http.StatusBadRequest, Code: "InvalidParameterValueException", Message: fmt.Sprintf(format, a...)}
}

func tooLarge(limit int) error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Code: "RequestTooLargeException",
		Message: fmt.Sprintf("Request must be smaller than %d bytes for the InvokeFunction operation", limit)}
}

func throttled() error {
	return &Error{Status: http.StatusTooManyRequests, Code: "TooManyRequestsException", Message: "Rate Exceeded.",
		Reason: "ReservedFunctionConcurrentInvocationLimitExceeded"}
}

func serviceError(format string, a ...any) error {
	return &Error{Status: http.StatusInternalServerError, Code: "ServiceException", Message: fmt.Sprintf(format, a...)}
}

// failure is the payload of an invocation that failed outside the function's
// own code, in the words that AWS uses.
func failure(errorType, requestID, format string, a ...any) []byte {
	b, err := json.Marshal(struct {
		Type    string `json:"errorType"`
		Message string `json:"errorMessage"`
	}{errorType, "RequestId: " + requestID + " Error: " + fmt.Sprintf(format, a...)})
	if err != nil { // two strings always encode
		panic(err)
	}
	return b
}

func timedOut(requestID string, timeout time.Duration) []byte {
	return failure(ErrTimedOut, requestID, "Task timed out after %.2f seconds", timeout.Seconds())
}

func responseTooLarge() []byte {
	return fmt.Appendf(nil, `{"errorType":%q,"errorMessage":"Response payload size exceeded maximum allowed payload size (%d bytes)."}`,
		ErrResponseTooLarge, MaxResponse)
}

// errorType reads the name out of a failed invocation's payload.
func errorType(payload []byte) string {
	var e struct {
		Type string `json:"errorType"`
	}
	if json.Unmarshal(payload, &e) != nil || e.Type == "" {
		return "Unknown"
	}
	return e.Type
}
