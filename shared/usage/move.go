package usage

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/txn"
)

// Mover is what Move needs of DynamoDB.
type Mover interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	txn.DB
}

// rows reads every stored call of an analysis.
func rows(ctx context.Context, db Mover, table, analysisID string) (all []map[string]ddb.AttributeValue, err error) {
	cond, yes := "analysis_id = :id", true
	in := &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: &cond, ConsistentRead: &yes,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":id": &ddb.AttributeValueMemberS{Value: analysisID}}}
	for item, err := range paging.Query(ctx, db, retry.Policy{}, in) {
		if err != nil {
			return nil, fmt.Errorf("read the model calls of %s: %w", analysisID, err)
		}
		all = append(all, item)
	}
	return all, nil
}

// Labels are the tasks, with their revisions, of which an analysis has calls.
func Labels(ctx context.Context, db Mover, table, analysisID string) (map[string]bool, error) {
	items, err := rows(ctx, db, table, analysisID)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, it := range items {
		var c Call
		if err := attributevalue.UnmarshalMap(it, &c); err != nil {
			return nil, fmt.Errorf("decode a model call of %s: %w", analysisID, err)
		}
		out[c.Task] = true
	}
	return out, nil
}

// Move gives the calls of an analysis another id, each in one transaction, so
// that what a day cost stays what it was. Moved again, what is left moves. It
// returns how many it moved.
func Move(ctx context.Context, db Mover, table, analysisID, to string) (moved int64, err error) {
	items, err := rows(ctx, db, table, analysisID)
	if err != nil {
		return 0, err
	}
	there := "attribute_exists(#c)"
	for _, it := range items {
		key := map[string]ddb.AttributeValue{"analysis_id": it["analysis_id"], "call": it["call"]}
		it["analysis_id"] = &ddb.AttributeValueMemberS{Value: to}
		err := txn.Write(ctx, db, retry.Policy{}, []ddb.TransactWriteItem{
			{Delete: &ddb.Delete{TableName: &table, Key: key, ConditionExpression: &there, ExpressionAttributeNames: map[string]string{"#c": "call"}}},
			{Put: &ddb.Put{TableName: &table, Item: it}}})
		if txn.Failed(err, 0) { // another one moved it
			continue
		}
		if err != nil {
			return moved, fmt.Errorf("move a model call of %s: %w", analysisID, err)
		}
		moved++
	}
	return moved, nil
}
