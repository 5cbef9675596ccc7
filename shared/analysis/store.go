package analysis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/stamp"
)

// ErrNotFound says that there is no such analysis.
var ErrNotFound = errors.New("analysis not found")

// Getter is what reading a row needs of DynamoDB.
type Getter interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Get reads an analysis with a strongly consistent read. It returns ErrNotFound
// when there is none.
func Get(ctx context.Context, db Getter, table, id string) (Row, error) {
	yes := true
	out, err := db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: Key(id), ConsistentRead: &yes})
	if err != nil {
		return Row{}, fmt.Errorf("read analysis %s: %w", id, err)
	}
	if out.Item == nil {
		return Row{}, fmt.Errorf("read analysis %s: %w", id, ErrNotFound)
	}
	var r Row
	if err := attributevalue.UnmarshalMap(out.Item, &r); err != nil {
		return Row{}, fmt.Errorf("decode analysis %s: %w", id, err)
	}
	return r, nil
}

// Key is the primary key of an analysis.
func Key(id string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"analysis_id": &ddb.AttributeValueMemberS{Value: id}}
}

// CheckOpen is a transaction's condition that the analysis is being analysed at
// this attempt: not ended, not restarted.
func CheckOpen(table, id string, attempt int) ddb.TransactWriteItem {
	cond := "#s = :analysing AND attempt = :attempt"
	return ddb.TransactWriteItem{ConditionCheck: &ddb.ConditionCheck{
		TableName: &table, Key: Key(id), ConditionExpression: &cond,
		ExpressionAttributeNames: map[string]string{"#s": "status"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{
			":analysing": &ddb.AttributeValueMemberS{Value: string(Analysing)},
			":attempt":   &ddb.AttributeValueMemberN{Value: strconv.Itoa(attempt)},
		},
		ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// MarkClaimed is the part that a worker's claim of a pose job has in its
// transaction: CheckOpen, and from firstClaim, the first claim of this attempt,
// the deadline of analysing runs.
func MarkClaimed(table, id string, attempt int, firstClaim time.Time) ddb.TransactWriteItem {
	check := CheckOpen(table, id, attempt).ConditionCheck
	set := "SET claimed_at = :claimed, deadline = :deadline"
	check.ExpressionAttributeValues[":claimed"] = stamp.Value(firstClaim)
	check.ExpressionAttributeValues[":deadline"] = stamp.Value(firstClaim.Add(names.AnalysingDeadline))
	return ddb.TransactWriteItem{Update: &ddb.Update{
		TableName: check.TableName, Key: check.Key, UpdateExpression: &set,
		ConditionExpression:                 check.ConditionExpression,
		ExpressionAttributeNames:            check.ExpressionAttributeNames,
		ExpressionAttributeValues:           check.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: check.ReturnValuesOnConditionCheckFailure,
	}}
}
