// Package txn writes DynamoDB transactions: with a client token, and again
// while nothing was decided against them.
package txn

import (
	"context"
	"crypto/rand"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/retry"
)

// DB is what Write needs of DynamoDB.
type DB interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Write carries out all items or none.
//
// The first item is the guard: when its condition fails that decides, whatever
// the other items complained of, and Guard gives the item that stood in the
// way. A condition of another item decides only if nothing else was the matter:
// beside a conflict or a throttle it is read from a state that may be passing.
//
// All tries carry one client token, so that a try whose answer was lost is not
// carried out again. DynamoDB forgets tokens after ten minutes; what protects a
// later repeat is the guard.
func Write(ctx context.Context, db DB, p retry.Policy, items []ddb.TransactWriteItem) error {
	token := rand.Text()
	var decided error
	err := p.Do(ctx, func() error {
		_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: items, ClientRequestToken: &token})
		if _, failed := Guard(err); failed {
			decided = err
			return nil
		}
		return err
	})
	if decided != nil {
		return decided
	}
	return err
}

// Guard tells whether err is a transaction whose guard's condition failed, and
// the item as it stood, if ALL_OLD was asked for and there was one.
func Guard(err error) (map[string]ddb.AttributeValue, bool) {
	rs := awserr.Reasons(err)
	if len(rs) == 0 || rs[0].Kind != awserr.Condition {
		return nil, false
	}
	return rs[0].Item, true
}

// Failed reports whether the condition of item i failed and nothing but
// conditions failed.
func Failed(err error, i int) bool {
	rs := awserr.Reasons(err)
	return awserr.KindOf(err) == awserr.Condition && i < len(rs) && rs[i].Kind == awserr.Condition
}
