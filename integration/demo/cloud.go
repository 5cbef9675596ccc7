package demo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
)

// Cloud is the account's side door, for what the API does not show an athlete.
type Cloud struct {
	AWS             aws.Config
	StateMachineARN string
}

// history gives the events of one attempt; none when it has not started yet.
func (c Cloud) history(ctx context.Context, id string, attempt int) ([]event, error) {
	arn, err := analysis.ExecutionARN(c.StateMachineARN, analysis.ExecutionName(id, attempt))
	if err != nil {
		return nil, err
	}
	client := sfn.NewFromConfig(c.AWS)
	var all []event
	in := &sfn.GetExecutionHistoryInput{ExecutionArn: &arn, MaxResults: 1000, IncludeExecutionData: aws.Bool(false)}
	for {
		out, err := client.GetExecutionHistory(ctx, in)
		if awserr.KindOf(err) == awserr.NotFound {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", arn, err)
		}
		for _, e := range out.Events {
			all = append(all, fromHistory(e))
		}
		if out.NextToken == nil {
			return all, nil
		}
		in.NextToken = out.NextToken
	}
}

func fromHistory(e types.HistoryEvent) event {
	out := event{at: aws.ToTime(e.Timestamp), kind: string(e.Type)}
	switch {
	case e.StateEnteredEventDetails != nil:
		out.state = aws.ToString(e.StateEnteredEventDetails.Name)
	case e.StateExitedEventDetails != nil:
		out.state = aws.ToString(e.StateExitedEventDetails.Name)
	}
	return out
}

// timeline reads where the time of all attempts went.
func (c Cloud) timeline(ctx context.Context, id string, attempts int) (Timeline, error) {
	var hs [][]event
	for n := 1; n <= max(attempts, 1); n++ {
		h, err := c.history(ctx, id, n)
		if err != nil {
			return Timeline{}, err
		}
		hs = append(hs, h)
	}
	return timeline(hs...), nil
}

// notices reads the analysis's rows of the outbox.
func (c Cloud) notices(ctx context.Context, id string) ([]outbox.Notice, error) {
	return outbox.List(ctx, dynamodb.NewFromConfig(c.AWS), names.Notices.Name, id)
}
