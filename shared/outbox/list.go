package outbox

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/retry"
)

// Lister is what List needs of DynamoDB.
type Lister interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// List gives the notices of an analysis.
func List(ctx context.Context, db Lister, table, analysisID string) ([]Notice, error) {
	cond, yes := "analysis_id = :id", true
	in := &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: &cond, ConsistentRead: &yes,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":id": text(analysisID)}}
	var all []Notice
	for item, err := range paging.Query(ctx, db, retry.Policy{}, in) {
		if err != nil {
			return nil, fmt.Errorf("list notices of %s: %w", analysisID, err)
		}
		n, err := Decode(item)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}
