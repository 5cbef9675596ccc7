package awserr_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"net/http"

	"fastbowlinglab/shared/awserr"
)

func TestModelCall(t *testing.T) {
	says := func(status int, code, message string) error {
		return &smithy.OperationError{ServiceID: "Bedrock Runtime", OperationName: "Converse", Err: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: &smithy.GenericAPIError{Code: code, Message: message}}}
	}
	for _, c := range []struct {
		err  error
		want awserr.ModelAnswer
	}{
		{says(429, "ThrottlingException", "Too many tokens, please wait before trying again."), awserr.ModelThrottled},
		{says(400, "throttlingException", "Rate exceeded"), awserr.ModelThrottled},
		{says(429, "ModelNotReadyException", ""), awserr.ModelThrottled},
		{says(429, "SomethingNew", ""), awserr.ModelThrottled},
		{says(503, "ServiceUnavailableException", ""), awserr.ModelThrottled},
		{says(400, "ValidationException", "The provided model identifier is invalid."), awserr.ModelGone},
		{says(400, "validationException", "Invocation of model ID x with on-demand throughput isn’t supported."), awserr.ModelGone},
		{says(404, "ResourceNotFoundException", "This model version has reached the end of its life."), awserr.ModelGone},
		{says(404, "HTTP404", ""), awserr.ModelGone},
		{says(403, "AccessDeniedException", "You don't have access to the model with the specified model ID."), awserr.ModelGone},
		{says(400, "ValidationException", "Input is too long for requested model."), awserr.ModelRefused},
		{says(403, "InvalidSignatureException", ""), awserr.ModelRefused},
		{says(408, "ModelTimeoutException", "Model timed out."), awserr.ModelUndecided},
		{says(424, "ModelErrorException", ""), awserr.ModelUndecided},
		{says(500, "InternalServerException", ""), awserr.ModelUndecided},
		{says(502, "HTTP502", ""), awserr.ModelUndecided},
		{errors.New("connection reset"), awserr.ModelUndecided},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, awserr.ModelUndecided}, // that it never left, NotSent says
		{context.DeadlineExceeded, awserr.ModelUndecided},
	} {
		if got := awserr.ModelCall(c.err); got != c.want {
			t.Errorf("%v is %d, want %d", c.err, got, c.want)
		}
	}
}
