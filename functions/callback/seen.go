package callback

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/retry"
)

// DB is what Seen needs of DynamoDB.
type DB interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Seen remembers the ids of messages whose effect stands, until they would be
// refused as too old anyway.
type Seen struct {
	DB    DB
	Table string // names.Effects
	Retry retry.Policy
}

func seenKey(id string) types.AttributeValue {
	return &types.AttributeValueMemberS{Value: "callback#pose#" + id}
}

// Has tells whether a message's effect stands already.
func (s Seen) Has(ctx context.Context, id string) (bool, error) {
	yes := true
	var out *dynamodb.GetItemOutput
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.Table, ConsistentRead: &yes,
			Key: map[string]types.AttributeValue{"effect": seenKey(id)}})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for message %s: %w", id, err)
	}
	return out.Item != nil, nil
}

// Put remembers a message until a time.
func (s Seen) Put(ctx context.Context, id string, until time.Time) error {
	err := s.Retry.Do(ctx, func() error {
		_, err := s.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.Table, Item: map[string]types.AttributeValue{
			"effect": seenKey(id), "expires_at": &types.AttributeValueMemberN{Value: strconv.FormatInt(until.Unix(), 10)}}})
		return err
	})
	if err != nil {
		return fmt.Errorf("note message %s: %w", id, err)
	}
	return nil
}
