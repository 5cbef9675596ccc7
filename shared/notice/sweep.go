package notice

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/paging"
)

// Sweep sends what the stream left behind and finds claims that ran out, oldest
// first, until ctx ends or limit notices were looked at. One that fails does
// not stop the others. It returns how many it handled and the failures.
func (s Sender) Sweep(ctx context.Context, limit int) (handled int, err error) {
	cond, index := "#u = :mark", names.IndexUnsent
	in := &dynamodb.QueryInput{TableName: &s.Notices, IndexName: &index, KeyConditionExpression: &cond,
		ExpressionAttributeNames:  map[string]string{"#u": "unsent"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":mark": text(outbox.UnsentMark)}}
	var failed []error
	for item, err := range paging.Query(ctx, s.DB, s.Retry, in) {
		if err != nil {
			return handled, errors.Join(append(failed, fmt.Errorf("list unsent notices: %w", err))...)
		}
		n, err := outbox.Decode(item)
		if err == nil {
			err = s.Send(ctx, n.AnalysisID, n.ID)
		}
		if err != nil {
			failed = append(failed, err)
		}
		if handled++; handled >= limit || ctx.Err() != nil {
			break
		}
	}
	return handled, errors.Join(failed...)
}
