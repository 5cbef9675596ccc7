package batchrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/txn"
)

// Counts are what the rows of a batch, or of a day, say.
type Counts struct {
	Expected int `dynamodbav:"expected" json:"expected"`
	New      int `dynamodbav:"new" json:"new"`         // made by this run
	Already  int `dynamodbav:"already" json:"already"` // there already, by an earlier one
	Failed   int `dynamodbav:"failed" json:"failed"`   // cannot be made; the rows say why
	Unknown  int `dynamodbav:"unknown" json:"unknown"` // outside calls whose outcome nobody knows
	Missing  int `dynamodbav:"missing" json:"missing"` // not done yet
}

// Add sums up.
func (c Counts) Add(o Counts) Counts {
	return Counts{c.Expected + o.Expected, c.New + o.New, c.Already + o.Already, c.Failed + o.Failed, c.Unknown + o.Unknown, c.Missing + o.Missing}
}

// Batch is the row of a batch: who is at work on it, and how it ended. A worker
// has a batch alone, whatever its caller believes of it.
type Batch struct {
	Run     string    `dynamodbav:"run"`
	Part    string    `dynamodbav:"part"`
	State   string    `dynamodbav:"state"`           // Open or Ended
	Owner   string    `dynamodbav:"owner,omitempty"` // the worker; missing when nobody is at work
	Until   time.Time `dynamodbav:"until,omitempty"` // its deadline
	BegunAt time.Time `dynamodbav:"begun_at"`
	Counts
}

const partBatch = "batch#"

// ErrBusy says that another worker is at work on the batch until Batch.Until.
var ErrBusy = errors.New("another worker has the batch")

// TakeAgain is how often a worker takes its batch again.
const TakeAgain = 20 * time.Second

// WorkerLease is for how long a worker has a batch of an effect without taking it
// again: an item that begins TakeAgain after the last time ends before it has run
// out.
func WorkerLease(effect string) time.Duration { return names.ItemTimeOf(effect) + 30*time.Second }

// Take gives the batch of a run to a worker until a time; asked again by the same
// worker, until later. It is no progress. Errors: ErrBusy, with the row;
// fault.Conceded. A batch that has ended is returned as it is.
func (s Store) Take(ctx context.Context, r Run, key, owner string, until time.Time) (Batch, error) {
	expr := "SET #s = :open, #w = :owner, #u = :until, begun_at = if_not_exists(begun_at, :now)"
	cond := "attribute_not_exists(#s) OR (#s = :open AND (attribute_not_exists(#w) OR (#w = :owner AND #u <= :until) OR #u < :free))"
	now := s.now()
	b := Batch{Run: r.ID, Part: partBatch + key, State: Open, Owner: owner, Until: until.UTC().Truncate(time.Millisecond), BegunAt: now}
	items := append([]ddb.TransactWriteItem{{Update: &ddb.Update{TableName: &s.Table, Key: Key(r.ID, b.Part), UpdateExpression: &expr,
		ConditionExpression: &cond, ExpressionAttributeNames: used(expr + cond),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":open": text(Open), ":owner": text(owner), ":until": stamp.Value(until),
			":now": stamp.Value(now), ":free": stamp.Value(now.Add(-names.ClockSkew))},
		ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld}}}, s.Checks(r)...)
	err := txn.Write(ctx, s.DB, s.Retry, items)
	if err == nil {
		return b, nil
	}
	if gone := Refused(err, r, 1); gone != nil {
		return b, gone
	}
	old, stood := txn.Guard(err)
	if !stood {
		return b, fmt.Errorf("take batch %s: %w", key, err)
	}
	var was Batch
	if err := attributevalue.UnmarshalMap(old, &was); err != nil {
		return b, fmt.Errorf("decode batch %s: %w", key, err)
	}
	if was.State == Ended || was.Owner == owner { // by a later request of ours it is ours for longer
		return was, nil
	}
	return was, fmt.Errorf("batch %s: %w until %s", key, ErrBusy, was.Until.Format(time.RFC3339))
}

// Leave records what a batch's rows say and gives the batch back, ended if
// nothing is missing. A worker whose batch another has by now changes nothing.
func (s Store) Leave(ctx context.Context, b Batch, c Counts) error {
	state := Open
	if c.Missing == 0 {
		state = Ended
	}
	expr := "SET #s = :state, expected = :expected, #n = :new, already = :already, failed = :failed, #k = :unknown, #m = :missing REMOVE #w, #u"
	cond := "#w = :owner"
	var row Batch
	err := updateItem(ctx, s.DB, s.Retry, &dynamodb.UpdateItemInput{TableName: &s.Table, Key: Key(b.Run, b.Part), UpdateExpression: &expr,
		ConditionExpression: &cond, ExpressionAttributeNames: used(expr + cond),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":state": text(state), ":owner": text(b.Owner),
			":expected": number(int64(c.Expected)), ":new": number(int64(c.New)), ":already": number(int64(c.Already)),
			":failed": number(int64(c.Failed)), ":unknown": number(int64(c.Unknown)), ":missing": number(int64(c.Missing))}}, &row)
	if err != nil && !errors.Is(err, errRefused) {
		return fmt.Errorf("leave batch %s of run %s: %w", b.Part, b.Run, err)
	}
	return nil
}

// Batches lists the batches of a run that were begun, in the order of their keys.
func (s Store) Batches(ctx context.Context, run string) ([]Batch, error) {
	cond, yes := "run = :run AND begins_with(part, :batch)", true
	in := &dynamodb.QueryInput{TableName: &s.Table, KeyConditionExpression: &cond, ConsistentRead: &yes,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":run": text(run), ":batch": text(partBatch)}}
	var bs []Batch
	for item, err := range paging.Query(ctx, s.DB, s.Retry, in) {
		var b Batch
		if err == nil {
			err = attributevalue.UnmarshalMap(item, &b)
		}
		if err != nil {
			return nil, fmt.Errorf("list the batches of run %s: %w", run, err)
		}
		bs = append(bs, b)
	}
	return bs, nil
}

// Name is the batch's key in storage.
func (b Batch) Name() string { return b.Part[len(partBatch):] }

// Working reports whether a worker may be at work on the batch.
func (b Batch) Working(now time.Time) bool {
	return b.Owner != "" && !b.Until.Add(names.ClockSkew).Before(now)
}
