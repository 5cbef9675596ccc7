package batchrun

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/txn"
)

// States of an item: absent or free -> claimed -> done | failed | unknown.
const (
	Free    = "free"
	Claimed = "claimed"
	Done    = "done"
	Failed  = "failed"
	Unknown = "unknown"
)

// Item is the row of one analysis in one version of an effect. It outlives runs:
// whoever comes later finds what is done.
type Item struct {
	Set       string    `dynamodbav:"run"`  // SetOf the effect and its version
	ID        string    `dynamodbav:"part"` // analysis
	State     string    `dynamodbav:"state"`
	By        string    `dynamodbav:"by_run"` // the run that claimed it last
	Owner     string    `dynamodbav:"owner,omitempty"`
	Until     time.Time `dynamodbav:"until,omitempty"` // of the claim; of a free item: nobody need try before
	Takeovers int       `dynamodbav:"takeovers"`       // claims that ran out with the outcome unknown
	Calls     int       `dynamodbav:"calls"`           // claims: at most so many outside calls were begun
	Key       string    `dynamodbav:"result_key,omitempty"`
	Hash      string    `dynamodbav:"result_hash,omitempty"`
	Detail    string    `dynamodbav:"detail,omitempty"`
	DoneAt    time.Time `dynamodbav:"done_at,omitempty"`
}

// Final reports whether the item's state can change no more.
func (i Item) Final() bool { return i.State == Done || i.State == Failed || i.State == Unknown }

// maxDetail bounds what a row says of a failure, in bytes.
const maxDetail = 300

// Detail is what a row says of an error.
func Detail(err error) string {
	s := err.Error()
	if len(s) > maxDetail {
		s = strings.ToValidUTF8(s[:maxDetail], "") + "..." // a character may have been cut
	}
	return s
}

// Ran reports whether the item's claim ran out without an answer.
func (i Item) Ran(now time.Time) bool {
	return i.State == Claimed && i.Until.Add(names.ClockSkew).Before(now)
}

// SetOf names the items of one version of an effect.
func SetOf(effect, version string) string { return itemPrefix + effect + "@" + version }

const itemPrefix = "item#"

// ItemTakeovers is how often an item whose outcome is unknown is done again.
const ItemTakeovers = 1

// ErrTaken says that another worker has the item, or has settled it; the row
// comes with it.
var ErrTaken = errors.New("item is taken")

// ItemDB is what Items needs of DynamoDB.
type ItemDB interface {
	DB
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// Items keeps items in the table of runs.
type Items struct {
	Store
	Bulk ItemDB
}

// loadAtOnce is DynamoDB's limit on keys in one BatchGetItem.
const loadAtOnce = 100

// Load reads the items of these ids that there are.
func (s Items) Load(ctx context.Context, set string, ids []string) (map[string]Item, error) {
	out := make(map[string]Item, len(ids))
	for len(ids) > 0 {
		n := min(len(ids), loadAtOnce)
		yes := true
		ask := map[string]ddb.KeysAndAttributes{s.Table: {ConsistentRead: &yes}}
		for _, id := range ids[:n] {
			k := ask[s.Table]
			k.Keys = append(k.Keys, Key(set, id))
			ask[s.Table] = k
		}
		for tries := 0; len(ask) > 0; tries++ {
			if tries == 10 {
				return nil, fmt.Errorf("load the items of %s: the database leaves keys unread", set)
			}
			var got *dynamodb.BatchGetItemOutput
			err := s.Retry.Do(ctx, func() (err error) {
				got, err = s.Bulk.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: ask})
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("load the items of %s: %w", set, err)
			}
			for _, attrs := range got.Responses[s.Table] {
				var it Item
				if err := attributevalue.UnmarshalMap(attrs, &it); err != nil {
					return nil, fmt.Errorf("decode an item of %s: %w", set, err)
				}
				out[it.ID] = it
			}
			ask = got.UnprocessedKeys
		}
		ids = ids[n:]
	}
	return out, nil
}

// Claim gives an item to a worker until a time, if the run is open, holds its
// lease, and the item is as it was seen: absent (zero), free, or a claim that ran
// out. It is no progress: a worker that claims and gives back, over and over, gets
// nowhere. Errors: ErrTaken with the row; fault.Conceded.
func (s Items) Claim(ctx context.Context, r Run, seen Item, owner string, until time.Time) (Item, error) {
	next := Item{Set: seen.Set, ID: seen.ID, State: Claimed, By: r.ID, Owner: owner, Until: until.UTC().Truncate(time.Millisecond),
		Takeovers: seen.Takeovers, Calls: seen.Calls + 1}
	cond := "attribute_not_exists(#s)"
	values := map[string]ddb.AttributeValue{}
	switch seen.State {
	case "":
	case Claimed:
		next.Takeovers++
		fallthrough
	default:
		cond = "#s = :state AND calls = :calls"
		values[":state"], values[":calls"] = text(seen.State), number(int64(seen.Calls))
	}
	if seen.State == Claimed {
		cond += " AND #w = :seen"
		values[":seen"] = text(seen.Owner)
	}
	if len(values) == 0 {
		values = nil
	}
	item, err := stamp.MarshalMap(next)
	if err != nil {
		return next, fmt.Errorf("encode item %s: %w", seen.ID, err)
	}
	items := append([]ddb.TransactWriteItem{{Put: &ddb.Put{TableName: &s.Table, Item: item, ConditionExpression: &cond,
		ExpressionAttributeNames: used(cond), ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld}}}, s.Checks(r)...)
	err = txn.Write(ctx, s.DB, s.Retry, items)
	if err == nil {
		return next, nil
	}
	if gone := Refused(err, r, 1); gone != nil {
		return next, gone
	}
	old, stood := txn.Guard(err)
	if !stood {
		return next, fmt.Errorf("claim item %s: %w", seen.ID, err)
	}
	var was Item
	if err := attributevalue.UnmarshalMap(old, &was); err != nil {
		return next, fmt.Errorf("decode item %s: %w", seen.ID, err)
	}
	if was.Owner == owner && was.State == Claimed && was.Calls == next.Calls { // ours, its answer lost
		return was, nil
	}
	return was, ErrTaken
}

// Waits reports whether the item was given back until a time that is to come.
func (i Item) Waits(now time.Time) bool { return i.State == Free && now.Before(i.Until) }

// Settle records how an item ended, or gives its claim back (Free, from it.Until
// on), if the claim is still it.Owner's. It is not conditional on the run: what was
// done is true whoever has the effect by now. Errors: ErrTaken with the row.
func (s Items) Settle(ctx context.Context, it Item, state string) (Item, error) {
	if state != Free {
		it.DoneAt = s.now().UTC().Truncate(time.Millisecond)
	}
	calls := it.Calls
	if state == Free { // nothing was sent
		calls--
	}
	expr := "SET #s = :state, calls = :calls, result_key = :key, result_hash = :hash, detail = :detail, done_at = :done"
	values := map[string]ddb.AttributeValue{":state": text(state), ":claimed": text(Claimed), ":owner": text(it.Owner),
		":calls": number(int64(calls)), ":key": text(it.Key), ":hash": text(it.Hash), ":detail": text(it.Detail), ":done": stamp.Value(it.DoneAt)}
	if state == Free && !it.Until.IsZero() {
		expr += ", #u = :until"
		values[":until"] = stamp.Value(it.Until)
	} else {
		expr += " REMOVE #u"
	}
	cond := "#s = :claimed AND #w = :owner"
	var row Item
	err := updateItem(ctx, s.DB, s.Retry, &dynamodb.UpdateItemInput{TableName: &s.Table, Key: Key(it.Set, it.ID),
		UpdateExpression: &expr, ConditionExpression: &cond, ExpressionAttributeNames: used(expr + cond),
		ExpressionAttributeValues: values}, &row)
	if errors.Is(err, errRefused) {
		if row.Owner == it.Owner && row.State == state { // our own write, its answer lost
			return row, nil
		}
		return row, ErrTaken
	}
	if err != nil {
		return it, fmt.Errorf("settle item %s as %s: %w", it.ID, state, err)
	}
	return row, nil
}

// Tally counts what the items of these ids say. New are those that run made.
func Tally(ids []string, items map[string]Item, run string) Counts {
	c := Counts{Expected: len(ids)}
	for _, id := range ids {
		switch it := items[id]; {
		case it.State == Done && it.By == run:
			c.New++
		case it.State == Done:
			c.Already++
		case it.State == Failed:
			c.Failed++
		case it.State == Unknown:
			c.Unknown++
		default:
			c.Missing++
		}
	}
	return c
}
