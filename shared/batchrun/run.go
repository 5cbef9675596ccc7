// Package batchrun keeps the runs of batch machines: who redoes an effect, since
// when, and how far it came. A run is an execution; its steps are functions that
// may die, be called again while the first call lives, and go on after the
// execution was stopped.
//
// One run at a time has an effect: the lease whose key is the effect, held by
// the run's name as its token. Whatever a step writes is conditional on the run
// being open and on the run's fence holding the lease (Guards), so that the
// steps of a run that was ended, or whose lease somebody else took, come to
// nothing. Each step renews the lease for longer than a step may take: after a
// run was killed, the lease frees when its last step must have ended.
//
// How far a run came is in its row, not in an instance: progress_at moves with
// the rows that the run commits, in their transaction.
package batchrun

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/paging"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/txn"
)

// DB is what a Store needs of DynamoDB.
type DB interface {
	txn.DB
	lease.DB
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Store keeps runs.
type Store struct {
	DB     DB
	Table  string // of runs
	Leases lease.Store
	Now    func() time.Time
	Retry  retry.Policy
}

// States of a run.
const (
	Open  = "open"
	Ended = "ended"
)

// Run is the row of a run.
type Run struct {
	ID         string    `dynamodbav:"run"` // name of the execution
	Part       string    `dynamodbav:"part"`
	Effect     string    `dynamodbav:"effect"`
	Spec       string    `dynamodbav:"spec"` // what it was asked to do; the machine's own form
	State      string    `dynamodbav:"state"`
	Open       string    `dynamodbav:"open,omitempty"` // the effect, while open: the sparse index
	Fence      int64     `dynamodbav:"fence"`
	OpenedAt   time.Time `dynamodbav:"opened_at"`
	ProgressAt time.Time `dynamodbav:"progress_at"`
	EndedAt    time.Time `dynamodbav:"ended_at,omitempty"`
	Outcome    string    `dynamodbav:"outcome,omitempty"` // how it ended
}

// partRun is the sort key of a run's own row; its batches' are longer.
const partRun = "run"

// ErrNotFound says that there is no such run.
var ErrNotFound = errors.New("no such run")

// Lease is the lease that the run holds, if it does.
func (r Run) Lease() lease.Lease {
	return lease.As(names.LeaseOf(r.Effect), r.ID, r.ID, r.Fence)
}

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Begin takes the effect's lease for the run and opens it. Asked again it gives
// the run as it stands. Runs of the effect that are still open without holding
// its lease are ended as abandoned. Errors: *lease.Held; fault.Conceded for a run that
// has ended.
func (s Store) Begin(ctx context.Context, id, effect, spec string) (Run, error) {
	l, err := s.Leases.AcquireAs(ctx, names.LeaseOf(effect), id, id, names.RunLease)
	if err != nil {
		return Run{}, err
	}
	now := s.now()
	r, err := s.update(ctx, id, `SET #e = :effect, #o = :effect, #s = :open, fence = :fence,
		spec = if_not_exists(spec, :spec), opened_at = if_not_exists(opened_at, :now), progress_at = if_not_exists(progress_at, :now)`,
		"attribute_not_exists(#s) OR (#s = :open AND fence < :fence AND #e = :effect)", // a name is one run, whatever machine it came from
		map[string]ddb.AttributeValue{":effect": text(effect), ":open": text(Open), ":spec": text(spec),
			":fence": number(l.Fence), ":now": stamp.Value(now)})
	if errors.Is(err, errRefused) {
		if r.State != Open || r.Effect != effect {
			return r, errors.Join(fault.New(fault.Conceded, "run %s has %s (%s %s)", id, r.State, r.Effect, r.Outcome), s.Leases.Release(ctx, l))
		}
		err = nil
	}
	if err != nil {
		return r, fmt.Errorf("open run %s: %w", id, err)
	}
	return r, s.abandonOthers(ctx, r)
}

func (s Store) abandonOthers(ctx context.Context, mine Run) error {
	rs, err := s.ByEffect(ctx, mine.Effect)
	if err != nil {
		return err
	}
	for _, r := range rs {
		if r.ID == mine.ID || r.Fence >= mine.Fence {
			continue
		}
		if _, err := s.end(ctx, r, "abandoned"); err != nil {
			return err
		}
	}
	return nil
}

// Get reads a run. ErrNotFound if there is none.
func (s Store) Get(ctx context.Context, id string) (Run, error) {
	var out *dynamodb.GetItemOutput
	yes := true
	err := s.Retry.Do(ctx, func() (err error) {
		out, err = s.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.Table, Key: Key(id, partRun), ConsistentRead: &yes})
		return err
	})
	if err != nil {
		return Run{}, fmt.Errorf("read run %s: %w", id, err)
	}
	if out.Item == nil {
		return Run{}, fmt.Errorf("read run %s: %w", id, ErrNotFound)
	}
	var r Run
	if err := attributevalue.UnmarshalMap(out.Item, &r); err != nil {
		return Run{}, fmt.Errorf("decode run %s: %w", id, err)
	}
	return r, nil
}

// Step is what every step of a run begins with: it reads the run and renews its
// lease. fault.Conceded if the run has ended or lost its lease.
func (s Store) Step(ctx context.Context, id string) (Run, error) {
	r, err := s.Get(ctx, id)
	if err != nil {
		return r, err
	}
	if r.State != Open {
		return r, fault.New(fault.Conceded, "run %s has ended: %s", id, r.Outcome)
	}
	return r, s.Renew(ctx, r)
}

// Renew renews the run's lease. fault.Conceded if somebody else has it.
func (s Store) Renew(ctx context.Context, r Run) error {
	_, err := s.Leases.Renew(ctx, r.Lease(), names.RunLease)
	if errors.Is(err, lease.ErrLost) {
		return fault.Wrap(fault.Conceded, err, "run %s", r.ID)
	}
	return err
}

// End ends the run: nothing that it still does is carried out. The lease is given
// back if no worker can be at work any more, else it runs out when the last one
// must have ended; busy is that time, zero if there is none.
func (s Store) End(ctx context.Context, r Run, outcome string, busy time.Time) (Run, error) {
	ended, err := s.end(ctx, r, outcome)
	if err != nil {
		return ended, err
	}
	if d := busy.Sub(s.now()); !busy.IsZero() && d > 0 {
		_, err := s.Leases.EndIn(ctx, r.Lease(), min(d, names.RunLease))
		if errors.Is(err, lease.ErrLost) { // somebody has it already
			return ended, nil
		}
		return ended, err
	}
	return ended, s.Leases.Release(ctx, r.Lease())
}

// Busy is when the last worker on these batches must have ended; zero if none can
// be at work.
func (s Store) Busy(bs []Batch) (until time.Time) {
	now := s.now()
	for _, b := range bs {
		if b.Working(now) && b.Until.After(until) {
			until = b.Until
		}
	}
	return until
}

func (s Store) end(ctx context.Context, r Run, outcome string) (Run, error) {
	ended, err := s.update(ctx, r.ID, "SET #s = :ended, outcome = :outcome, ended_at = :now REMOVE #o",
		"#s = :open AND fence = :fence AND #e = :effect", map[string]ddb.AttributeValue{":open": text(Open), ":ended": text(Ended), ":effect": text(r.Effect),
			":outcome": text(outcome), ":fence": number(r.Fence), ":now": stamp.Value(s.now())})
	if errors.Is(err, errRefused) {
		if ended.State == Ended { // by us, the answer lost, or by another: it is final
			return ended, nil
		}
		return ended, fault.New(fault.Conceded, "run %s has moved on to fence %d", r.ID, ended.Fence)
	}
	if err != nil {
		return r, fmt.Errorf("end run %s: %w", r.ID, err)
	}
	return ended, nil
}

// ByEffect lists the open runs of an effect, the oldest first. It reads an index,
// which lags behind.
func (s Store) ByEffect(ctx context.Context, effect string) ([]Run, error) {
	index, cond := names.IndexOpen, "#o = :effect"
	in := &dynamodb.QueryInput{TableName: &s.Table, IndexName: &index, KeyConditionExpression: &cond,
		ExpressionAttributeNames:  map[string]string{"#o": "open"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":effect": text(effect)}}
	var runs []Run
	for item, err := range paging.Query(ctx, s.DB, s.Retry, in) {
		var r Run
		if err == nil {
			err = attributevalue.UnmarshalMap(item, &r)
		}
		if err != nil {
			return nil, fmt.Errorf("list the open runs of %s: %w", effect, err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// errRefused says that a condition failed; the row comes with it.
var errRefused = errors.New("condition not met")

// update changes a run's row. errRefused, with the row as it stands, when the
// condition fails.
func (s Store) update(ctx context.Context, id, expr, cond string, values map[string]ddb.AttributeValue) (Run, error) {
	var r Run
	err := updateItem(ctx, s.DB, s.Retry, &dynamodb.UpdateItemInput{TableName: &s.Table, Key: Key(id, partRun),
		UpdateExpression: &expr, ConditionExpression: &cond,
		ExpressionAttributeNames: used(expr + cond), ExpressionAttributeValues: values}, &r)
	return r, err
}

// updateItem carries out an update and decodes the row that stands afterwards,
// or, with errRefused, the one that stood in the way.
func updateItem(ctx context.Context, db lease.DB, p retry.Policy, in *dynamodb.UpdateItemInput, row any) error {
	in.ReturnValues = ddb.ReturnValueAllNew
	in.ReturnValuesOnConditionCheckFailure = ddb.ReturnValuesOnConditionCheckFailureAllOld
	var attrs map[string]ddb.AttributeValue
	err := p.Do(ctx, func() error {
		out, err := db.UpdateItem(ctx, in)
		if err == nil {
			attrs = out.Attributes
		}
		return err
	})
	if awserr.KindOf(err) == awserr.Condition {
		if uerr := attributevalue.UnmarshalMap(awserr.Winner(err), row); uerr != nil {
			return uerr
		}
		return errRefused
	}
	if err != nil {
		return err
	}
	return attributevalue.UnmarshalMap(attrs, row)
}

// Key is the primary key of a part of a run.
func Key(run, part string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"run": text(run), "part": text(part)}
}

func text(s string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: s} }

func number(n int64) ddb.AttributeValue {
	return &ddb.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
