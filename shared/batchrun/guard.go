package batchrun

import (
	"context"
	"errors"
	"fmt"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/stamp"
)

// Guards are the conditions of a transaction that the run is open and holds its
// lease; with them its progress moves, so they belong to what is progress.
// Refused tells whether they failed.
func (s Store) Guards(r Run) []ddb.TransactWriteItem {
	set, cond := "SET progress_at = :now", "#s = :open AND fence = :fence"
	return []ddb.TransactWriteItem{
		{Update: &ddb.Update{TableName: &s.Table, Key: Key(r.ID, partRun), UpdateExpression: &set, ConditionExpression: &cond,
			ExpressionAttributeNames: used(cond),
			ExpressionAttributeValues: map[string]ddb.AttributeValue{":now": stamp.Value(s.now()), ":open": text(Open),
				":fence": number(r.Fence)}}},
		s.Leases.Guard(r.Lease()),
	}
}

// Moved says that the run got somewhere, outside of a transaction with Guards.
// fault.Conceded if it is no longer open under its fence.
func (s Store) Moved(ctx context.Context, r Run) error {
	_, err := s.update(ctx, r.ID, "SET progress_at = :now", "#s = :open AND fence = :fence",
		map[string]ddb.AttributeValue{":now": stamp.Value(s.now()), ":open": text(Open), ":fence": number(r.Fence)})
	if errors.Is(err, errRefused) {
		return fault.New(fault.Conceded, "run %s is no longer open", r.ID)
	}
	if err != nil {
		return fmt.Errorf("move run %s: %w", r.ID, err)
	}
	return nil
}

// Checks are the same conditions for what is no progress.
func (s Store) Checks(r Run) []ddb.TransactWriteItem {
	cond := "#s = :open AND fence = :fence"
	return []ddb.TransactWriteItem{
		{ConditionCheck: &ddb.ConditionCheck{TableName: &s.Table, Key: Key(r.ID, partRun), ConditionExpression: &cond,
			ExpressionAttributeNames:  used(cond),
			ExpressionAttributeValues: map[string]ddb.AttributeValue{":open": text(Open), ":fence": number(r.Fence)}}},
		s.Leases.Guard(r.Lease()),
	}
}

// Refused reads the error of a transaction whose items from the given place on
// are Guards or Checks: fault.Conceded if one of them failed, nil if not.
func Refused(err error, r Run, at int) error {
	for i, what := range []string{"is no longer open", "no longer holds its lease"} {
		if rs := awserr.Reasons(err); at+i < len(rs) && rs[at+i].Kind == awserr.Condition {
			return fault.New(fault.Conceded, "run %s %s", r.ID, what)
		}
	}
	return nil
}
