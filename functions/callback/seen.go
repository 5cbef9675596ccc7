package callback

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Sight is what Has finds.
type Sight int

// The sights: never, with the same bytes, with others.
const (
	SeenNever Sight = iota
	SeenSame
	SeenOther
)

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// Has tells whether a message's effect stands already. A note whose time is over
// is none, whether or not the table has reaped it.
func (s Seen) Has(ctx context.Context, id string, body []byte, now time.Time) (Sight, error) {
	yes := true
	var out *dynamodb.GetItemOutput
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.Table, ConsistentRead: &yes,
			Key: map[string]types.AttributeValue{"effect": seenKey(id)}})
		return err
	})
	if err != nil {
		return SeenNever, fmt.Errorf("look for message %s: %w", id, err)
	}
	until, _ := out.Item["expires_at"].(*types.AttributeValueMemberN)
	if until == nil { // no note: each has its end
		return SeenNever, nil
	}
	if end, err := strconv.ParseInt(until.Value, 10, 64); err != nil || end <= now.Unix() {
		return SeenNever, nil
	}
	was, ok := out.Item["hash"].(*types.AttributeValueMemberS)
	if ok && was.Value != digest(body) { // one noted by an earlier release has none
		return SeenOther, nil
	}
	return SeenSame, nil
}

// Put remembers a message until a time.
func (s Seen) Put(ctx context.Context, id string, body []byte, until time.Time) error {
	err := s.Retry.Do(ctx, func() error {
		_, err := s.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.Table, Item: map[string]types.AttributeValue{
			"effect": seenKey(id), "hash": &types.AttributeValueMemberS{Value: digest(body)},
			"expires_at": &types.AttributeValueMemberN{Value: strconv.FormatInt(until.Unix(), 10)}}})
		return err
	})
	if err != nil {
		return fmt.Errorf("note message %s: %w", id, err)
	}
	return nil
}
