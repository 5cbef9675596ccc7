package posejob

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

// DB is what this package needs of DynamoDB.
type DB interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Store reads and writes jobs. Lease and Skew are names.LeaseDuration and
// names.ClockSkew when 0; Now is time.Now when nil. Every write is safe to
// repeat, and is repeated by Retry.
type Store struct {
	DB       DB
	Table    string // names.PoseJobs
	Analyses string // names.Analyses
	Lease    time.Duration
	Skew     time.Duration
	Now      func() time.Time
	Retry    retry.Policy
}

func (s *Store) now() time.Time {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	return now().UTC().Truncate(time.Millisecond) // as the table holds it
}

// LeaseDuration is how long a claim or renewal holds.
func (s *Store) LeaseDuration() time.Duration {
	if s.Lease != 0 {
		return s.Lease
	}
	return names.LeaseDuration
}

// ClockSkew is the bound on the difference between two clocks: a lease is taken
// over only this long after it has expired on the taker's clock.
func (s *Store) ClockSkew() time.Duration {
	if s.Skew != 0 {
		return s.Skew
	}
	return names.ClockSkew
}

// Get reads a job with a strongly consistent read; ErrNoJob when there is none.
func (s *Store) Get(ctx context.Context, id string) (Job, error) {
	yes := true
	var out *dynamodb.GetItemOutput
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.Table, Key: key(id), ConsistentRead: &yes})
		return err
	})
	if err != nil {
		return Job{}, fmt.Errorf("read pose job %s: %w", id, err)
	}
	if out.Item == nil {
		return Job{}, fmt.Errorf("read pose job %s: %w", id, ErrNoJob)
	}
	return decode(id, out.Item)
}

func key(id string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"analysis_id": &ddb.AttributeValueMemberS{Value: id}}
}

func decode(id string, item map[string]ddb.AttributeValue) (Job, error) {
	var j Job
	if err := attributevalue.UnmarshalMap(item, &j); err != nil {
		return Job{}, fmt.Errorf("decode pose job %s: %w", id, err)
	}
	return j, nil
}

// change is one conditional update. Every attribute is written #name in the
// expressions, since most of ours are reserved words.
type change struct {
	expr, cond string
	values     map[string]any
	names      map[string]string // names that are not their own attribute
	fresh      bool              // the row starts anew: no earlier visit counts
}

// refused is the error of a change whose condition did not hold.
type refused struct {
	winner *Job // the row as it stands, nil when there is none
}

func (*refused) Error() string { return "condition not met" }

var nameRef = regexp.MustCompile(`#[a-z0-9_]+`)

// attributes gives the names and values of the expressions' placeholders.
func (c change) attributes() (map[string]string, map[string]ddb.AttributeValue, error) {
	ns := map[string]string{}
	for _, ref := range nameRef.FindAllString(c.expr+" "+c.cond, -1) {
		ns[ref] = ref[1:]
		if n, ok := c.names[ref]; ok {
			ns[ref] = n
		}
	}
	vs := map[string]ddb.AttributeValue{}
	for k, v := range c.values {
		av, err := attributevalue.MarshalWithOptions(v, stamps)
		if err != nil {
			return nil, nil, fmt.Errorf("encode %s: %w", k, err)
		}
		vs[k] = av
	}
	return ns, vs, nil
}

// stamps writes times in fixed width, so that they compare as strings.
func stamps(o *attributevalue.EncoderOptions) {
	o.OmitEmptyTime = true
	o.EncodeTime = func(t time.Time) (ddb.AttributeValue, error) { return stamp.Value(t), nil }
}

// update carries c out and gives the new row, or *refused with the row that
// stood in the way.
func (s *Store) update(ctx context.Context, id, doing string, c change) (Job, error) {
	ns, vs, err := c.attributes()
	if err != nil {
		return Job{}, fmt.Errorf("%s %s: %w", doing, id, err)
	}
	var out *dynamodb.UpdateItemOutput
	err = s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Table, Key: key(id),
			UpdateExpression: &c.expr, ConditionExpression: &c.cond,
			ExpressionAttributeNames: ns, ExpressionAttributeValues: vs,
			ReturnValues:                        ddb.ReturnValueAllNew,
			ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
	if awserr.KindOf(err) == awserr.Condition {
		item := awserr.Winner(err)
		if item == nil {
			return Job{}, &refused{}
		}
		j, err := decode(id, item)
		if err != nil {
			return Job{}, fmt.Errorf("%s %s: %w", doing, id, err)
		}
		return Job{}, &refused{winner: &j}
	}
	if err != nil {
		return Job{}, fmt.Errorf("%s %s: %w", doing, id, err)
	}
	return decode(id, out.Attributes)
}

// asRefused gives the refusal in err, nil when it is another error.
func asRefused(err error) *refused {
	var r *refused
	if errors.As(err, &r) {
		return r
	}
	return nil
}
