package effect

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/stamp"
)

// States of a row. A free row is one whose claim was given back.
const (
	stateFree    = "free"
	stateClaimed = "claimed"
	stateDone    = "done"
	stateUnknown = "unknown"
)

// row is the item of one key. Until is compared in Go, after a read, and in
// conditions through fence, which changes with every claim.
type row struct {
	Effect    string    `dynamodbav:"effect"`
	State     string    `dynamodbav:"state"`
	Owner     string    `dynamodbav:"owner"`
	Fence     int64     `dynamodbav:"fence"`
	Until     time.Time `dynamodbav:"until"`
	Takeovers int       `dynamodbav:"takeovers"`
	Result    []byte    `dynamodbav:"result,omitempty"`
	ExpiresAt int64     `dynamodbav:"expires_at,omitempty"` // epoch seconds
}

func (r row) claim() Claim { return Claim{r.Effect, r.Owner, r.Fence, r.Until} }

// insert writes r where there is no row; it returns the row that is in the way.
func (s *Store) insert(ctx context.Context, r row) (*row, error) {
	return s.put(ctx, r, "attribute_not_exists(effect)", nil, nil)
}

// replace writes next over exactly the row that was seen.
func (s *Store) replace(ctx context.Context, seen, next row) (*row, error) {
	return s.put(ctx, next, "fence = :fence AND #s = :state", map[string]string{"#s": "state"},
		map[string]ddb.AttributeValue{":fence": number(seen.Fence), ":state": text(seen.State)})
}

func (s *Store) put(ctx context.Context, r row, cond string, names map[string]string, values map[string]ddb.AttributeValue) (*row, error) {
	item, err := stamp.MarshalMap(r)
	if err != nil {
		return nil, fmt.Errorf("encode effect %s: %w", r.Effect, err)
	}
	err = s.retry.Do(ctx, func() error {
		_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &s.table, Item: item, ConditionExpression: &cond,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
	return s.standing(ctx, r.Effect, "claim", err)
}

// finish records out under claim c. If c was lost meanwhile, what stands in its
// place is returned.
func (s *Store) finish(ctx context.Context, c Claim, out []byte) ([]byte, error) {
	if out == nil {
		out = []byte{}
	}
	seen, err := s.update(ctx, c, stateDone, out)
	if err != nil {
		return nil, fmt.Errorf("effect %s happened but its result is not recorded: %w", c.Key, err)
	}
	switch {
	case seen == nil:
		return out, nil
	case seen.State == stateDone: // ours, its answer lost; or a takeover's
		return seen.Result, nil
	case seen.State == stateUnknown:
		return nil, &Unknown{c.Key, seen.Until}
	case seen.State == stateClaimed:
		return nil, s.inProgress(*seen)
	default: // taken over, given back or reaped: our answer came too late to count
		return nil, &Unknown{c.Key, c.Until}
	}
}

// Look tells the state of a key without claiming it: absent (zero Status),
// "free", "claimed", "done" or "unknown".
func (s *Store) Look(ctx context.Context, key string) (Status, error) {
	yes := true
	var st Status
	err := s.retry.Do(ctx, func() error {
		out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &s.table, Key: map[string]ddb.AttributeValue{"effect": text(key)}, ConsistentRead: &yes})
		if err != nil || out.Item == nil {
			return err
		}
		var r row
		if err := attributevalue.UnmarshalMap(out.Item, &r); err != nil {
			return err
		}
		st = Status{r.State, r.Owner, r.Fence, r.Until}
		return nil
	})
	if err != nil {
		return Status{}, fmt.Errorf("look at effect %s: %w", key, err)
	}
	return st, nil
}

// Status is what Look sees.
type Status struct {
	State string
	Owner string
	Fence int64
	Until time.Time
}

// release gives claim c back.
func (s *Store) release(ctx context.Context, c Claim) error {
	_, err := s.update(ctx, c, stateFree, nil)
	return err
}

// markUnknown ends claim c as unknown; it returns the row when that has
// changed in the meantime.
func (s *Store) markUnknown(ctx context.Context, c Claim) (*row, error) {
	seen, err := s.update(ctx, c, stateUnknown, nil)
	if err == nil && seen == nil && s.onUnknown != nil {
		s.onUnknown(ctx, c.Key)
	}
	return seen, err
}

// update moves the row of claim c to a state; it returns the row as it stands
// when c no longer holds it. It finishes even when ctx has ended, since the
// effect has already happened.
func (s *Store) update(ctx context.Context, c Claim, state string, result []byte) (*row, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	set := "SET #s = :state"
	values := map[string]ddb.AttributeValue{
		":state": text(state), ":claimed": text(stateClaimed), ":owner": text(c.Owner), ":fence": number(c.Fence)}
	if result != nil {
		set += ", #r = :result"
		values[":result"] = &ddb.AttributeValueMemberB{Value: result}
	}
	cond := "#s = :claimed AND #o = :owner AND fence = :fence"
	attrs := map[string]string{"#s": "state", "#o": "owner"}
	if result != nil {
		attrs["#r"] = "result"
	}
	err := s.retry.Do(ctx, func() error {
		_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.table, Key: map[string]ddb.AttributeValue{"effect": text(c.Key)},
			UpdateExpression: &set, ConditionExpression: &cond,
			ExpressionAttributeNames: attrs, ExpressionAttributeValues: values,
			ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
	seen, err := s.standing(ctx, c.Key, state, err)
	if seen != nil && seen.Owner == c.Owner && seen.Fence == c.Fence && seen.State == state && state != stateDone {
		return nil, err // ours: the answer to our first try was lost
	}
	return seen, err
}

// standing reads, from a failed condition, the row that stands.
func (s *Store) standing(ctx context.Context, key, doing string, err error) (*row, error) {
	if err == nil {
		return nil, nil
	}
	if awserr.KindOf(err) != awserr.Condition {
		return nil, fmt.Errorf("effect %s: %s: %w", key, doing, err)
	}
	r := row{Effect: key} // as it stays when the row was reaped: no state
	if err := attributevalue.UnmarshalMap(awserr.Winner(err), &r); err != nil {
		return nil, fmt.Errorf("effect %s: decode: %w", key, err)
	}
	return &r, nil
}

func text(s string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: s} }

func number(n int64) ddb.AttributeValue {
	return &ddb.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
