// Package stamp writes times into DynamoDB. A time that is compared in a
// condition or sorted in an index is a string of fixed width (UTC,
// milliseconds), so that the order of strings is the order of times.
package stamp

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Layout is the fixed-width form of a time.
const Layout = "2006-01-02T15:04:05.000Z"

// Format gives t in Layout.
func Format(t time.Time) string { return t.UTC().Format(Layout) }

// Value is t as a DynamoDB string.
func Value(t time.Time) ddb.AttributeValue {
	return &ddb.AttributeValueMemberS{Value: Format(t)}
}

// MarshalMap turns a struct into an item. Unlike attributevalue.MarshalMap it
// writes times in Layout and leaves out a zero time tagged omitempty.
func MarshalMap(v any) (map[string]ddb.AttributeValue, error) {
	return attributevalue.MarshalMapWithOptions(v, func(o *attributevalue.EncoderOptions) {
		o.OmitEmptyTime = true
		o.EncodeTime = func(t time.Time) (ddb.AttributeValue, error) { return Value(t), nil }
	})
}
