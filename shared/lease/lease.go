package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

// DefaultSkew is how far apart two processes' clocks may be, unless Store.Skew
// says.
const DefaultSkew = 15 * time.Second

// DB is what a Store needs of DynamoDB.
type DB interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Store keeps leases in a table whose only key is the string attribute
// "effect". The rows stay, so that fences go on rising.
type Store struct {
	DB    DB
	Table string
	Skew  time.Duration // 0 for DefaultSkew
	Now   func() time.Time
	Retry retry.Policy
}

// Lease is a lease held.
type Lease struct {
	Key   string
	Owner string // as given to Acquire
	Fence int64
	Until time.Time // by the holder's clock
	token string    // of this acquisition: two processes may go by one name
}

// Held says that somebody else has the lease.
type Held struct {
	Key   string
	Owner string
	Fence int64
	Until time.Time // when it may be taken over, unless it is renewed
}

func (e *Held) Error() string {
	return fmt.Sprintf("lease %s is held by %s until %s (fence %d)", e.Key, e.Owner, e.Until.UTC().Format(time.RFC3339), e.Fence)
}

// ErrLost says that the lease is no longer held.
var ErrLost = errors.New("lease lost")

type row struct {
	Owner string    `dynamodbav:"owner"`
	Token string    `dynamodbav:"token"`
	Fence int64     `dynamodbav:"fence"`
	Until time.Time `dynamodbav:"until"`
}

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func (s Store) skew() time.Duration {
	if s.Skew != 0 {
		return s.Skew
	}
	return DefaultSkew
}

// Acquire takes the lease of key for d, if it is free or ran out longer than the
// skew ago. owner is for people. A ctx without time left takes nothing. Errors:
// *Held; ctx's own.
func (s Store) Acquire(ctx context.Context, key, owner string, d time.Duration) (Lease, error) {
	return s.AcquireAs(ctx, key, owner, rand.Text(), d)
}

// left says why ctx leaves no time to act. No time left is a value: a deadline that
// has come, though the context's own timer may not have fired yet.
func left(ctx context.Context) error {
	if d, ok := ctx.Deadline(); ok && time.Until(d) <= 0 {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// Renew extends the lease to d from now. A lease that ran out and that nobody
// has taken is still ours. Its end is never put back: of two renewals the later
// end stays, however late the other arrives. Errors: ErrLost.
func (s Store) Renew(ctx context.Context, l Lease, d time.Duration) (Lease, error) {
	l.Until = s.now().Add(d).UTC().Truncate(time.Millisecond)
	got, err := s.update(ctx, l.Key, "SET #u = :until", ours+" AND #u <= :until", l.ours(map[string]ddb.AttributeValue{":until": stamp.Value(l.Until)}))
	if errors.Is(err, ErrLost) && got.Token == l.token && got.Fence == l.Fence {
		l.Until, err = got.Until, nil
	}
	if err != nil {
		return l, fmt.Errorf("renew lease %s (fence %d): %w", l.Key, l.Fence, err)
	}
	return l, nil
}

// EndIn sets the lease's end to d from now, be it sooner than it was: for a holder
// that is done but for work already begun. Errors: ErrLost.
func (s Store) EndIn(ctx context.Context, l Lease, d time.Duration) (Lease, error) {
	l.Until = s.now().Add(d).UTC().Truncate(time.Millisecond)
	if _, err := s.update(ctx, l.Key, "SET #u = :until", ours, l.ours(map[string]ddb.AttributeValue{":until": stamp.Value(l.Until)})); err != nil {
		return l, fmt.Errorf("set the end of lease %s (fence %d): %w", l.Key, l.Fence, err)
	}
	return l, nil
}

// Release gives the lease back. It is no error if it was lost already.
func (s Store) Release(ctx context.Context, l Lease) error {
	_, err := s.update(ctx, l.Key, "REMOVE #o, #t, #u", ours, l.ours(nil))
	if err != nil && !errors.Is(err, ErrLost) {
		return fmt.Errorf("release lease %s: %w", l.Key, err)
	}
	return nil
}

// Who tells who holds the lease, for a preflight; nil if it is free. A lease
// whose end is past, skew included, is free whether or not its row says so.
func (s Store) Who(ctx context.Context, key string) (*Held, error) {
	var r row
	yes := true
	err := s.Retry.Do(ctx, func() error {
		out, err := s.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.Table, Key: item(key), ConsistentRead: &yes})
		if err != nil {
			return err
		}
		return attributevalue.UnmarshalMap(out.Item, &r)
	})
	if err != nil {
		return nil, fmt.Errorf("look at lease %s: %w", key, err)
	}
	if until := r.Until.Add(s.skew()); r.Token != "" && !until.Before(s.now()) {
		return &Held{key, r.Owner, r.Fence, until}, nil
	}
	return nil, nil
}

// ours is the condition of every write by a holder.
const ours = "#t = :token AND fence = :fence"

func (l Lease) ours(more map[string]ddb.AttributeValue) map[string]ddb.AttributeValue {
	v := map[string]ddb.AttributeValue{":token": text(l.token), ":fence": number(l.Fence)}
	for k, m := range more {
		v[k] = m
	}
	return v
}

// Guard is a transaction's condition that the lease is still l's: nobody has
// taken it over.
func (s Store) Guard(l Lease) ddb.TransactWriteItem {
	cond := ours
	return ddb.TransactWriteItem{ConditionCheck: &ddb.ConditionCheck{TableName: &s.Table, Key: item(l.Key),
		ConditionExpression: &cond, ExpressionAttributeNames: map[string]string{"#t": "token"}, ExpressionAttributeValues: l.ours(nil)}}
}

// update changes the row under a condition. ErrLost, with the row as it stands,
// when that fails.
func (s Store) update(ctx context.Context, key, expr, cond string, values map[string]ddb.AttributeValue) (row, error) {
	names := map[string]string{"#t": "token"}
	for name, attr := range map[string]string{"#o": "owner", "#u": "until"} {
		if strings.Contains(expr+cond, name) {
			names[name] = attr
		}
	}
	var r row
	err := s.Retry.Do(ctx, func() error {
		out, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Table, Key: item(key), UpdateExpression: &expr, ConditionExpression: &cond,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValues: ddb.ReturnValueAllNew,
			ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld,
		})
		if err != nil {
			return err
		}
		return attributevalue.UnmarshalMap(out.Attributes, &r)
	})
	if awserr.KindOf(err) == awserr.Condition {
		if uerr := attributevalue.UnmarshalMap(awserr.Winner(err), &r); uerr != nil {
			return row{}, uerr
		}
		return r, ErrLost
	}
	return r, err
}

func item(key string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"effect": text(key)}
}

func text(s string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: s} }

func number(n int64) ddb.AttributeValue {
	return &ddb.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
