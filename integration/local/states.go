package local

import (
	"context"
	"net/http"
	"time"
)

// States is Step Functions: the AWS JSON 1.0 API, and what stands behind it.
type States interface {
	http.Handler
	// Close stops the engine; executions go on with the next start on the same Dir.
	Close() error
}

// StatesDeps is what Step Functions gets from the cloud.
type StatesDeps struct {
	// Functions gives the ARN of the published version for each placeholder of a
	// definition, for example BeginArn.
	Functions map[string]string
	// Invoke calls a Lambda function and waits for its answer.
	Invoke func(ctx context.Context, arn string, payload []byte) (out []byte, functionError string, err error)
	// Changed is to be called when an execution changes its status; it does not block.
	Changed func(StatusChange)
	Dir     string // keeps executions; "" for memory only
	Root    string // the project's folder
}

// StatusChange says that an execution has a new status.
type StatusChange struct {
	At           time.Time
	ExecutionARN string
	Status       string // RUNNING, SUCCEEDED, FAILED, TIMED_OUT, ABORTED
	Detail       any    // of EventBridge's "Step Functions Execution Status Change", as JSON
}
