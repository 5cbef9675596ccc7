// Package lambdacall calls a Lambda function and waits for its answer.
package lambdacall

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"fastbowlinglab/shared/awspost"
)

// MaxAnswer is Lambda's limit on an answer, in bytes.
const MaxAnswer = 6 << 20

// InvokeInput names a function, by its name or ARN, and what it is given.
type InvokeInput struct {
	Function string
	Payload  []byte
}

// Output is a function's answer. Failed is true for the error of a function; the
// payload says which.
type Output struct {
	Payload []byte
	Failed  bool
}

// Client calls functions of one region.
type Client struct{ post awspost.Client }

// New makes a client from the configuration of AWS clients.
func New(cfg aws.Config) Client { return Client{awspost.New(cfg, "lambda", "lambda")} }

// Invoke calls the function, once. An error of the service has awserr's usual
// shapes.
func (c Client) Invoke(ctx context.Context, in *InvokeInput) (Output, error) {
	if in.Function == "" {
		return Output{}, errors.New("invoke: no function is named")
	}
	const before, after = "/2015-03-31/functions/", "/invocations"
	h, b, err := c.post.Post(ctx, before+in.Function+after, before+httpbinding.EscapePath(in.Function, true)+after, in.Payload, MaxAnswer)
	if err != nil {
		return Output{}, &smithy.OperationError{ServiceID: "Lambda", OperationName: "Invoke", Err: err}
	}
	return Output{Payload: b, Failed: h.Get("X-Amz-Function-Error") != ""}, nil
}
