package wake_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	ecstypes "github.com/aws/aws-sdk-go-v2/service/ecs/types"
	"github.com/aws/smithy-go"

	"fastbowlinglab/functions/wake"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/fleet"
	"fastbowlinglab/shared/names"
)

type service struct {
	desired int32
	err     error
}

func (s *service) DescribeServices(context.Context, *ecs.DescribeServicesInput, ...func(*ecs.Options)) (*ecs.DescribeServicesOutput, error) {
	return &ecs.DescribeServicesOutput{Services: []ecstypes.Service{{DesiredCount: s.desired}}}, s.err
}

func (s *service) UpdateService(_ context.Context, in *ecs.UpdateServiceInput, _ ...func(*ecs.Options)) (*ecs.UpdateServiceOutput, error) {
	s.desired = *in.DesiredCount
	return &ecs.UpdateServiceOutput{}, nil
}

func TestWake(t *testing.T) {
	s := &service{}
	fn := wake.New(fleet.Fleet{DB: dynamotest.New(t), ECS: s, Effects: names.Effects.Name, Cluster: "c", Service: "s"}, nil)
	payload := []byte(`{"analysis_id":"an-1","attempt":1}`)
	for _, want := range []string{`{"seq":1}`, `{"seq":2}`} {
		if out, err := fn.Invoke(t.Context(), payload); err != nil || string(out) != want || s.desired != 1 {
			t.Errorf("wake: %s, %v, desired %d; want %s and 1", out, err, s.desired, want)
		}
	}
	s.err = &smithy.OperationError{Err: &smithy.GenericAPIError{Code: "ServerException"}}
	var e messages.InvokeResponse_Error
	if _, err := fn.Invoke(t.Context(), payload); !errors.As(err, &e) || e.Type != string(fault.Transient) {
		t.Errorf("ECS out of order: %v, want Transient", err)
	}
}
