package credit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/txn"
)

// maxRounds bounds how often a payment event is tried against others that write
// the same ledger; each round one of them gets through.
const maxRounds = 60

// Pay applies a payment event: the payment's totals, the event's id and the
// ledger move in one transaction. Applied again, in another order, or beside
// others, the outcome is the same. It returns the payment as it stands, and
// ErrPaymentInvalid, ErrPaymentConflict, or ErrKeyReused when the event's id came
// before with other bytes.
func (s Store) Pay(ctx context.Context, e PaymentEvent) (Payment, error) {
	if err := e.check(); err != nil {
		return Payment{}, err
	}
	for round := range maxRounds {
		p, done, err := s.payOnce(ctx, e)
		if err != nil {
			return Payment{}, fmt.Errorf("payment event: %w", err)
		}
		if done {
			return p, nil
		}
		select {
		case <-ctx.Done():
			return Payment{}, fmt.Errorf("payment event: %w", ctx.Err())
		case <-time.After(time.Duration(retry.DefaultRand()*float64(5+5*min(round, 10))) * time.Millisecond):
		}
	}
	return Payment{}, fault.New(fault.Transient, "payment event: others wrote first, %d times", maxRounds)
}

// payOnce reads what is known and writes what follows; done is false when
// somebody else wrote in between.
func (s Store) payOnce(ctx context.Context, e PaymentEvent) (p Payment, done bool, err error) {
	// The mark first: a payment read after it is at least as new.
	var mark eventMark
	if err := s.effect(ctx, e.markKey(), &mark); err != nil {
		return p, false, err
	}
	p = Payment{Effect: PaymentKey(paymentCause(e.PaymentID))}
	if err := s.effect(ctx, p.Effect, &p); err != nil {
		return p, false, err
	}
	if mark.Effect != "" {
		if mark.Hash != e.BodyHash {
			return p, false, ErrKeyReused
		}
		return p, true, nil
	}
	who := e.AthleteID
	if p.Erased {
		who = p.AthleteID
	}
	balance, err := s.balance(ctx, who)
	if err != nil {
		return p, false, err
	}
	next, m, err := p.apply(e, balance)
	if err != nil {
		return p, false, err
	}
	items, err := next.items(s, e, m, balance, s.now().UTC().Truncate(time.Millisecond))
	if err != nil {
		return p, false, err
	}
	err = txn.Write(ctx, s.DB, s.Retry, items)
	if _, stood := txn.Guard(err); stood || awserr.KindOf(err) == awserr.Condition {
		return p, false, nil
	}
	return next, err == nil, err
}

// effect reads a row of the effects table; into stays as it is when there is none.
// One whose time is over is none, whether or not the table has reaped it.
func (s Store) effect(ctx context.Context, key string, into any) error {
	items, err := s.read(ctx, s.Effects, "effect = :k", map[string]ddb.AttributeValue{":k": text(key)})
	if err != nil || len(items) == 0 {
		return err
	}
	var until struct {
		Expires int64 `dynamodbav:"expires_at"`
	}
	if err := attributevalue.UnmarshalMap(items[0], &until); err != nil {
		return fmt.Errorf("decode %s: %w", key, err)
	}
	if until.Expires != 0 && until.Expires <= s.now().Unix() {
		return nil
	}
	if err := attributevalue.UnmarshalMap(items[0], into); err != nil {
		return fmt.Errorf("decode %s: %w", key, err)
	}
	return nil
}

// Paid reports whether anything is known of a payment.
func (s Store) Paid(ctx context.Context, paymentID string) (bool, error) {
	return s.there(ctx, PaymentKey(paymentCause(paymentID)))
}

// Granted reports whether the key of a grant has been used.
func (s Store) Granted(ctx context.Context, g Grant) (bool, error) {
	return s.there(ctx, g.markKey())
}

func (s Store) there(ctx context.Context, effect string) (bool, error) {
	var row struct {
		Effect string `dynamodbav:"effect"`
	}
	err := s.effect(ctx, effect, &row)
	return row.Effect != "", err
}

// balance reads an athlete's balance alone.
func (s Store) balance(ctx context.Context, athleteID string) (int64, error) {
	items, err := s.read(ctx, s.Credits, "athlete_id = :a AND entry = :b",
		map[string]ddb.AttributeValue{":a": text(athleteID), ":b": text(balanceEntry)})
	if err != nil || len(items) == 0 {
		return 0, err
	}
	var b struct {
		Balance int64 `dynamodbav:"balance"`
	}
	if err := attributevalue.UnmarshalMap(items[0], &b); err != nil {
		return 0, fmt.Errorf("decode a balance: %w", err)
	}
	return b.Balance, nil
}

func (s Store) read(ctx context.Context, table, cond string, values map[string]ddb.AttributeValue) ([]map[string]ddb.AttributeValue, error) {
	yes := true
	var out *dynamodb.QueryOutput
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.Query(ctx, &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: &cond,
			ExpressionAttributeValues: values, ConsistentRead: &yes})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	return out.Items, nil
}

// digest names anything by a few bytes.
func digest(kind, v string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + v))
	return hex.EncodeToString(sum[:16])
}
