package awserr_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	s3 "github.com/aws/aws-sdk-go-v2/service/s3/types"
	sfn "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
)

// answered is an error as the SDK gives it: an operation, an HTTP status, a code.
func answered(status int, code string) error {
	return &smithy.OperationError{ServiceID: "X", OperationName: "Y", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: &smithy.GenericAPIError{Code: code}}}
}

func TestKindOf(t *testing.T) {
	for _, tc := range []struct {
		err  error
		kind awserr.Kind
	}{
		{nil, awserr.None},
		{&ddb.ConditionalCheckFailedException{}, awserr.Condition},
		{fmt.Errorf("wrapped: %w", &ddb.ConditionalCheckFailedException{}), awserr.Condition},
		{&ddb.TransactionConflictException{}, awserr.Conflict},
		{&ddb.ProvisionedThroughputExceededException{}, awserr.Throttle},
		{answered(429, "TooManyRequestsException"), awserr.Throttle},
		{answered(400, "throttlingException"), awserr.Throttle}, // one service, two spellings
		{answered(503, "SlowDown"), awserr.Throttle},
		{&s3.NoSuchKey{}, awserr.NotFound},
		{&sfn.ExecutionDoesNotExist{}, awserr.NotFound},
		{&sfn.ExecutionAlreadyExists{}, awserr.Condition},
		{answered(412, "PreconditionFailed"), awserr.Condition},
		{answered(400, "ValidationException"), awserr.Invalid},
		{answered(403, "SomethingNobodyListed"), awserr.Invalid},
		{answered(500, "InternalFailure"), awserr.Other},
		{errors.New("connection reset"), awserr.Other},
	} {
		if got := awserr.KindOf(tc.err); got != tc.kind {
			t.Errorf("%v is %s, want %s", tc.err, got, tc.kind)
		}
	}
}

func TestSentOrNot(t *testing.T) {
	dial := &smithy.OperationError{Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}
	read := &smithy.OperationError{Err: &net.OpError{Op: "read", Err: errors.New("reset")}}
	for _, tc := range []struct {
		err              error
		refused, notSent bool
	}{
		{nil, false, false},
		{answered(400, "MessageRejected"), true, true},
		{answered(429, "TooManyRequests"), true, true},
		{answered(408, "RequestTimeout"), false, false}, // the service gave up waiting; on what, it does not say
		{answered(500, "InternalFailure"), false, false},
		{dial, false, true},
		{read, false, false},
		{context.DeadlineExceeded, false, false},
	} {
		if awserr.Refused(tc.err) != tc.refused || awserr.NotSent(tc.err) != tc.notSent {
			t.Errorf("%v: refused %t, not sent %t; want %t, %t", tc.err, awserr.Refused(tc.err), awserr.NotSent(tc.err), tc.refused, tc.notSent)
		}
	}
}

func TestFault(t *testing.T) {
	for _, tc := range []struct {
		err  error
		name fault.Name
	}{
		{answered(500, "InternalFailure"), fault.Transient},
		{answered(429, "TooManyRequests"), fault.Transient},
		{answered(400, "ValidationException"), fault.Permanent},
		{context.DeadlineExceeded, fault.Transient},
		{errors.New("cannot be decoded"), fault.Permanent}, // not a request: trying again cannot help
		{fault.New(fault.PoseFailed, "x"), fault.PoseFailed},
		{fmt.Errorf("wrapped: %w", fault.New(fault.Conceded, "x")), fault.Conceded},
	} {
		got := awserr.Fault(tc.err, "do it")
		if fault.NameOf(got) != tc.name || !errors.Is(got, tc.err) {
			t.Errorf("%v became %s %v, want %s", tc.err, fault.NameOf(got), got, tc.name)
		}
	}
	if awserr.Fault(nil, "x") != nil {
		t.Error("no error became one")
	}
}

func TestReasons(t *testing.T) {
	code := func(s string) *string { return &s }
	err := fmt.Errorf("wrapped: %w", &ddb.TransactionCanceledException{CancellationReasons: []ddb.CancellationReason{
		{Code: code("None")}, {Code: code("ConditionalCheckFailed"), Item: map[string]ddb.AttributeValue{"k": nil}}, {}}})
	rs := awserr.Reasons(err)
	if len(rs) != 3 || rs[0].Kind != awserr.None || rs[1].Kind != awserr.Condition || rs[1].Item == nil || rs[2].Kind != awserr.None {
		t.Errorf("reasons = %+v", rs)
	}
	if awserr.Reasons(errors.New("x")) != nil {
		t.Error("reasons of another error")
	}
}
