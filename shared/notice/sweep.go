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

// ByAnalysis lists the notices of an analysis.
func (s Sender) ByAnalysis(ctx context.Context, analysisID string) ([]Notice, error) {
	return List(ctx, s.DB, s.Notices, analysisID)
}

// Lister is what List needs of DynamoDB.
type Lister interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// List gives the notices of an analysis.
func List(ctx context.Context, db Lister, table, analysisID string) ([]Notice, error) {
	cond, yes := "analysis_id = :id", true
	out, err := db.Query(ctx, &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: &cond, ConsistentRead: &yes,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":id": text(analysisID)}})
	if err != nil {
		return nil, fmt.Errorf("list notices of %s: %w", analysisID, err)
	}
	var all []Notice
	for _, it := range out.Items {
		n, err := Decode(it)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}
