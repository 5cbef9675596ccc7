package batchrun

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/retry"
)

// Scanner is what EachItem needs of DynamoDB.
type Scanner interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// EachItem visits the key of every item of every effect, until visit returns an
// error. It reads the whole table: it is for a sweep that nobody waits for.
func EachItem(ctx context.Context, db Scanner, table string, r retry.Policy, visit func(set, id string) error) error {
	filter, keys, yes := "begins_with(#r, :items)", "#r, part", true
	in := &dynamodb.ScanInput{TableName: &table, FilterExpression: &filter, ProjectionExpression: &keys, ConsistentRead: &yes,
		ExpressionAttributeNames:  map[string]string{"#r": "run"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":items": &ddb.AttributeValueMemberS{Value: itemPrefix}}}
	for item, err := range paging.Scan(ctx, db, r, in) {
		if err != nil {
			return fmt.Errorf("look through the items of backfills: %w", err)
		}
		set, _ := item["run"].(*ddb.AttributeValueMemberS)
		id, _ := item["part"].(*ddb.AttributeValueMemberS)
		if set == nil || id == nil {
			continue
		}
		if err := visit(set.Value, id.Value); err != nil {
			return err
		}
	}
	return nil
}
