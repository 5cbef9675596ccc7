package fleet

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
)

// state is the fleet's row. IdleSeq is the number at which the last round found
// more workers than work; -1 or absent if it did not. Shrunk says that no wake has
// asked for workers since the last scale-in.
type state struct {
	Seq     int64  `dynamodbav:"seq"`
	IdleSeq *int64 `dynamodbav:"idle_seq"`
	Shrunk  bool   `dynamodbav:"shrunk"`
}

// idled reports whether the round before found too many workers as well. Before
// the last one is stopped, no wake may have come since.
func (s state) idled(want int32) bool {
	if s.IdleSeq == nil || *s.IdleSeq < 0 {
		return false
	}
	return want > 0 || *s.IdleSeq == s.Seq
}

func (f Fleet) read(ctx context.Context) (state, error) {
	var st state
	yes := true
	err := f.Retry.Do(ctx, func() error {
		out, err := f.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &f.Effects, Key: key(), ConsistentRead: &yes})
		if err != nil {
			return err
		}
		return attributevalue.UnmarshalMap(out.Item, &st)
	})
	if err != nil {
		return state{}, fmt.Errorf("read the fleet's sequence number: %w", err)
	}
	return st, nil
}

func (f Fleet) markIdle(ctx context.Context, seq int64) error {
	return f.update(ctx, "mark the fleet as idle", "SET idle_seq = :seq", map[string]ddb.AttributeValue{":seq": number(seq)})
}

// markShrunk comes before the workers are asked for: whoever wakes the fleet from then
// on must know. What stays, or is started next, is counted anew.
func (f Fleet) markShrunk(ctx context.Context) error {
	return f.update(ctx, "mark the fleet as shrunk", "SET idle_seq = :none, shrunk = :yes",
		map[string]ddb.AttributeValue{":none": number(-1), ":yes": &ddb.AttributeValueMemberBOOL{Value: true}})
}

// update changes the fleet's row; every change is safe to repeat.
func (f Fleet) update(ctx context.Context, doing, expr string, values map[string]ddb.AttributeValue) error {
	err := f.Retry.Do(ctx, func() error {
		_, err := f.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &f.Effects, Key: key(), UpdateExpression: &expr,
			ExpressionAttributeValues: values})
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func key() map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: names.FleetSeq}}
}

func number(n int64) ddb.AttributeValue {
	return &ddb.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
