package stepfn

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"fastbowlinglab/integration/stepfn/asl"
)

const (
	targetPrefix = "AWSStepFunctions."
	contentType  = "application/x-amz-json-1.0"
	maxBody      = 4 << 20 // a definition of 1 MiB, escaped
)

// operation reads a request's body and carries it out.
type operation func(e *Engine, body []byte) (any, error)

func op[In, Out any](call func(*Engine, In) (Out, error)) operation {
	return func(e *Engine, body []byte) (any, error) {
		var in In
		if len(bytes.TrimSpace(body)) > 0 {
			if err := json.Unmarshal(body, &in); err != nil {
				return nil, apiErr(CodeSerialization, "the request is not readable: %v", err)
			}
		}
		return call(e, in)
	}
}

var operations = map[string]operation{
	"CreateStateMachine":               op((*Engine).CreateStateMachine),
	"UpdateStateMachine":               op((*Engine).UpdateStateMachine),
	"DescribeStateMachine":             op((*Engine).DescribeStateMachine),
	"DescribeStateMachineForExecution": op((*Engine).DescribeStateMachineForExecution),
	"ListStateMachines":                op((*Engine).ListStateMachines),
	"PublishStateMachineVersion":       op((*Engine).PublishStateMachineVersion),
	"ListStateMachineVersions":         op((*Engine).ListStateMachineVersions),
	"CreateStateMachineAlias":          op((*Engine).CreateStateMachineAlias),
	"UpdateStateMachineAlias":          op((*Engine).UpdateStateMachineAlias),
	"DescribeStateMachineAlias":        op((*Engine).DescribeStateMachineAlias),
	"StartExecution":                   op((*Engine).StartExecution),
	"StopExecution":                    op((*Engine).StopExecution),
	"RedriveExecution":                 op((*Engine).RedriveExecution),
	"DescribeExecution":                op((*Engine).DescribeExecution),
	"ListExecutions":                   op((*Engine).ListExecutions),
	"GetExecutionHistory":              op((*Engine).GetExecutionHistory),
	"SendTaskSuccess":                  op((*Engine).SendTaskSuccess),
	"SendTaskFailure":                  op((*Engine).SendTaskFailure),
	"SendTaskHeartbeat":                op((*Engine).SendTaskHeartbeat),
}

// ServeHTTP serves the API as AWS does: AWS JSON 1.0, the operation in the header
// X-Amz-Target. Signatures are not looked at.
func (e *Engine) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	out, err := e.serve(req)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("x-amzn-RequestId", requestID())
	status := http.StatusOK
	if err != nil {
		var api *APIError
		if !errors.As(err, &api) {
			api = apiErr(CodeUnavailable, "%v", err)
		}
		status = http.StatusBadRequest
		if api.Code == CodeUnavailable {
			status = http.StatusServiceUnavailable
		}
		out = map[string]string{"__type": api.Code, "message": api.Message}
	}
	w.WriteHeader(status)
	_, _ = w.Write(asl.Encode(out)) // the client has gone: nobody to tell
}

func (e *Engine) serve(req *http.Request) (any, error) {
	name, ok := strings.CutPrefix(req.Header.Get("X-Amz-Target"), targetPrefix)
	call := operations[name]
	if !ok || call == nil || req.Method != http.MethodPost {
		return nil, apiErr(CodeUnknownOperation, "operation %q is not supported", req.Header.Get("X-Amz-Target"))
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxBody+1))
	if err != nil {
		return nil, apiErr(CodeSerialization, "the request's body was cut: %v", err)
	}
	if len(body) > maxBody {
		return nil, apiErr(CodeSerialization, "the request has more than %d bytes", maxBody)
	}
	return call(e, body)
}
