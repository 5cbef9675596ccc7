package budget

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/retry"
)

// DB is what a Store needs of DynamoDB.
type DB interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// Store keeps budgets in a table whose only key is the string attribute
// "effect".
type Store struct {
	DB    DB
	Table string
	Now   func() time.Time
	Retry retry.Policy
}

// Limit is what the service allows.
type Limit struct {
	Rate  float64 // calls a second, over time
	Burst int     // calls at once
}

// each is the time between two calls, in whole microseconds, never too short.
func (l Limit) each() time.Duration {
	return time.Duration(math.Ceil(1e6/l.Rate)) * time.Microsecond
}

// MaxSkew is the bound on clocks that l needs so that the service never counts
// more than n calls in any window: two callers' clocks, and their ways to the
// service, must differ by less. 9 a second, one at once, under a limit of 10 in
// any second bears 111 ms. At 0 or below, l is too much for that limit.
func (l Limit) MaxSkew(n int, window time.Duration) time.Duration {
	return time.Duration(n+1-l.Burst)*l.each() - window
}

// MaxWait bounds how far ahead a place is reserved for a caller whose context
// has no deadline.
const MaxWait = time.Minute

// Exhausted says that there is no room in time.
type Exhausted struct {
	Key string
	At  time.Time // when there would be, as things stand
}

func (e *Exhausted) Error() string {
	return fmt.Sprintf("budget %s is used up until %s", e.Key, e.At.UTC().Format(time.RFC3339Nano))
}

// Wait reserves room for n calls and returns when they are due. Errors:
// *Exhausted, at once, if that would be after ctx ends; ctx's own. A ctx without
// time left takes no place.
func (s Store) Wait(ctx context.Context, key string, l Limit, n int) error {
	most := MaxWait
	if d, ok := ctx.Deadline(); ok {
		if most = time.Until(d); most <= 0 { // no time left is a value: it takes no place
			return fmt.Errorf("budget %s: %w", key, context.DeadlineExceeded)
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("budget %s: %w", key, err)
	}
	at, err := s.Reserve(ctx, key, l, n, most)
	if err != nil {
		return err
	}
	if err := retry.Sleep(ctx, at.Sub(s.now())); err != nil {
		return fmt.Errorf("budget %s: %w", key, err)
	}
	return nil
}

// Reserve reserves room for n calls that are due within most from now, and
// tells when. An answer of the database that is lost may cost a place twice,
// never give one twice.
func (s Store) Reserve(ctx context.Context, key string, l Limit, n int, most time.Duration) (time.Time, error) {
	if key == "" || l.Rate <= 0 || n < 1 || n > l.Burst {
		return time.Time{}, fmt.Errorf("budget %q: %d calls at %g a second, %d at once: cannot be", key, n, l.Rate, l.Burst)
	}
	now := s.now().Truncate(time.Microsecond) // as it is stored
	cost, depth := time.Duration(n)*l.each(), time.Duration(l.Burst)*l.each()
	// The latest arrival time from which the calls are due in time.
	last := now.Add(most + depth - cost)
	for range 8 { // each turn somebody was faster
		// A busy budget: the arrival time lies ahead.
		tat, seen, err := s.advance(ctx, key, "SET tat = tat + :cost", "tat BETWEEN :now AND :last",
			map[string]ddb.AttributeValue{":cost": micros(int64(cost / time.Microsecond)), ":now": at(now), ":last": at(last)})
		if err == nil && seen && tat.Before(now) { // an idle one: it begins anew
			tat, seen, err = s.advance(ctx, key, "SET tat = :next", "attribute_not_exists(tat) OR tat < :now",
				map[string]ddb.AttributeValue{":next": at(now.Add(cost)), ":now": at(now)})
			if err == nil && seen {
				continue
			}
		}
		switch {
		case err != nil:
			return time.Time{}, fmt.Errorf("budget %s: %w", key, err)
		case seen:
			return time.Time{}, &Exhausted{key, tat.Add(cost - depth)}
		}
		if due := tat.Add(-depth); due.After(now) {
			return due, nil
		}
		return now, nil
	}
	return time.Time{}, fmt.Errorf("budget %s: lost eight races in a row", key)
}

// advance moves the arrival time under a condition and returns it; seen is true
// if the condition failed, and the time is the one that stands (zero: none).
func (s Store) advance(ctx context.Context, key, set, cond string, values map[string]ddb.AttributeValue) (tat time.Time, seen bool, err error) {
	var attrs map[string]ddb.AttributeValue
	err = s.Retry.Do(ctx, func() error {
		out, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Table, Key: map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: key}},
			UpdateExpression: &set, ConditionExpression: &cond, ExpressionAttributeValues: values,
			ReturnValues:                        ddb.ReturnValueUpdatedNew,
			ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld,
		})
		if err == nil {
			attrs = out.Attributes
		}
		return err
	})
	if awserr.KindOf(err) == awserr.Condition {
		seen, err, attrs = true, nil, awserr.Winner(err)
	}
	if err != nil {
		return time.Time{}, false, err
	}
	v, ok := attrs["tat"].(*ddb.AttributeValueMemberN)
	if !ok {
		return time.Time{}, seen, nil
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("arrival time %q: %w", v.Value, err)
	}
	return time.UnixMicro(n), seen, nil
}

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func at(t time.Time) ddb.AttributeValue { return micros(t.UnixMicro()) }

func micros(n int64) ddb.AttributeValue {
	return &ddb.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
