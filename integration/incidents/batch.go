package incidents

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/txn"
)

// source is the outside API: it counts, and allows ten calls a second.
type source struct {
	mu    sync.Mutex
	calls []time.Time
}

func (s *source) fetch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, time.Now())
}

// peak is the most calls in any second.
func (s *source) peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.SortedFunc(slices.Values(s.calls), time.Time.Compare)
	most, first := 0, 0
	for i, t := range at {
		for t.Sub(at[first]) >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// store keeps a batch's rows and its checkpoint, as items of a table.
type store struct {
	db     *dynamodb.Client
	leases lease.Store
	budget budget.Store
}

func newStore(c *virtual.Cloud) store {
	t := names.Effects.Name
	return store{c.DB, lease.Store{DB: c.DB, Table: t, Retry: c.Retry}, budget.Store{DB: c.DB, Table: t, Retry: c.Retry}}
}

// Times of a batch.
const (
	leaseTime = time.Minute
	pace      = time.Second / 8 // what a worker that thinks it is alone does
)

// limit leaves the source's own limit some room for the skew of clocks.
var limit = budget.Limit{Rate: 9, Burst: 1}

// work is one run of a worker over a batch.
type work struct {
	batch   string
	items   int
	guards  bool
	pace    time.Duration
	look    bool   // it asks whether a row is there before it fetches
	killAt  int    // the worker dies before this item; 0: never
	worker  string // its name
	fetched int    // what it counted
	already int
}

// run does a batch's items from its checkpoint on. With the guards on it does so
// under the batch's lease and the source's budget, and a row and its checkpoint
// are one transaction; without, it paces itself.
func (w *work) run(ctx context.Context, s store, src *source, row func(context.Context, *work, store, int, *lease.Lease) (bool, error)) error {
	each := func(ctx context.Context, l *lease.Lease) error {
		from, err := s.checkpoint(ctx, w.batch)
		if err != nil {
			return err
		}
		for n := from; n < w.items; n++ {
			if w.killAt > 0 && n == w.killAt {
				virtual.ProcOf(ctx).Kill()
			}
			if w.look {
				there, err := s.there(ctx, w.batch, n)
				if err != nil {
					return err
				}
				if there {
					w.already++
					continue
				}
			}
			if w.guards {
				if err := s.budget.Wait(ctx, "budget#source", limit, 1); err != nil {
					return err
				}
			} else if retry.Sleep(ctx, w.pace) != nil {
				return ctx.Err()
			}
			if virtual.ProcOf(ctx).Dead() {
				return virtual.ErrDead
			}
			src.fetch()
			fresh, err := row(ctx, w, s, n, l)
			if err != nil {
				return err
			}
			if fresh {
				w.fetched++
			} else {
				w.already++
			}
		}
		return nil
	}
	if !w.guards {
		return each(ctx, nil)
	}
	l, err := s.leases.Acquire(ctx, "lease#"+w.batch, w.worker, leaseTime)
	if err != nil {
		return err
	}
	return s.leases.Keep(ctx, l, leaseTime, func(ctx context.Context, l lease.Lease) error { return each(ctx, &l) })
}

// guarded writes row n under its own key together with the checkpoint, if the
// lease is still held. fresh is false if the row was there.
func guarded(ctx context.Context, w *work, s store, n int, l *lease.Lease) (fresh bool, err error) {
	absent, set := "attribute_not_exists(effect)", "SET #next = :n"
	table := names.Effects.Name
	put := ddb.TransactWriteItem{Put: &ddb.Put{TableName: &table, ConditionExpression: &absent,
		Item: map[string]ddb.AttributeValue{"effect": text(rowKey(w.batch, n))}}}
	mark := ddb.TransactWriteItem{Update: &ddb.Update{TableName: &table, Key: key("checkpoint#" + w.batch), UpdateExpression: &set,
		ExpressionAttributeNames:  map[string]string{"#next": "next"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":n": &ddb.AttributeValueMemberN{Value: strconv.Itoa(n + 1)}}}}
	items := []ddb.TransactWriteItem{put, mark}
	if l != nil {
		items = append(items, s.leases.Guard(*l))
	}
	err = txn.Write(ctx, s.db, s.leases.Retry, items)
	if _, there := txn.Guard(err); there {
		if txn.Failed(err, 2) {
			return false, lease.ErrLost
		}
		return false, nil
	}
	return err == nil, err
}

// idempotent writes row n under its own key, and nothing else: incident B's
// storage was so.
func idempotent(ctx context.Context, w *work, s store, n int, _ *lease.Lease) (bool, error) {
	_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(names.Effects.Name),
		ConditionExpression: aws.String("attribute_not_exists(effect)"), Item: map[string]ddb.AttributeValue{"effect": text(rowKey(w.batch, n))}})
	var there *ddb.ConditionalCheckFailedException
	if errors.As(err, &there) {
		return false, nil
	}
	return err == nil, err
}

// appended writes row n under a key made up on the spot: incident C's storage was
// so, and its checkpoint lay on the disk that went with the instance.
func appended(ctx context.Context, w *work, s store, n int, _ *lease.Lease) (bool, error) {
	_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(names.Effects.Name),
		Item: map[string]ddb.AttributeValue{"effect": text(rowKey(w.batch, n) + "#" + rand.Text())}})
	return err == nil, err
}

func (s store) checkpoint(ctx context.Context, batch string) (int, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(names.Effects.Name), Key: key("checkpoint#" + batch), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return 0, err
	}
	if v, ok := out.Item["next"].(*ddb.AttributeValueMemberN); ok {
		return strconv.Atoi(v.Value)
	}
	return 0, nil
}

func (s store) forget(ctx context.Context, batch string) error {
	_, err := s.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(names.Effects.Name), Key: key("checkpoint#" + batch)})
	return err
}

// there tells whether row n is there.
func (s store) there(ctx context.Context, batch string, n int) (bool, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(names.Effects.Name), Key: key(rowKey(batch, n)), ConsistentRead: aws.Bool(true)})
	return err == nil && out.Item != nil, err
}

// rows counts a batch's rows: what its status is derived from.
func (s store) rows(ctx context.Context, batch string) (int, error) {
	n := 0
	var from map[string]ddb.AttributeValue
	for {
		out, err := s.db.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(names.Effects.Name), ConsistentRead: aws.Bool(true), ExclusiveStartKey: from})
		if err != nil {
			return 0, err
		}
		for _, it := range out.Items {
			if k, ok := it["effect"].(*ddb.AttributeValueMemberS); ok && strings.HasPrefix(k.Value, "row#"+batch+"#") {
				n++
			}
		}
		if from = out.LastEvaluatedKey; from == nil {
			return n, nil
		}
	}
}

func rowKey(batch string, n int) string { return fmt.Sprintf("row#%s#%04d", batch, n) }

func key(k string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"effect": text(k)}
}

func text(s string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: s} }
