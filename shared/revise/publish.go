package revise

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/txn"
)

// Publisher adds revisions to the rows of analyses.
type Publisher struct {
	DB       txn.DB
	Analyses string // tables
	Notices  string
	Runs     batchrun.Store
	Now      func() time.Time
	Retry    retry.Policy
}

// Add makes a revision the newest report of its analysis, with the notice that
// the order asks for: both or neither, once, and only while the order's run is
// open and holds its lease. row is the analysis as it was read. A revision of this
// name that is there already is returned. Errors: fault.Conceded, when the run may
// write no more; fault.Permanent, when the analysis is gone; NotSent, when another
// revision took the number.
func (p Publisher) Add(ctx context.Context, row analysis.Row, v analysis.Revision, o backfill.Order) (analysis.Revision, error) {
	now := time.Now()
	if p.Now != nil {
		now = p.Now()
	}
	v.At = now.UTC().Truncate(time.Millisecond)
	items, err := p.items(row, v)
	if err != nil {
		return v, err
	}
	items = append(items, p.Runs.Guards(o.Run)...)
	if o.Notice {
		for _, n := range outbox.OfRevision(row, v.Number, v.At) {
			items = append(items, outbox.Put(p.Notices, n))
		}
	}
	err = txn.Write(ctx, p.DB, p.Retry, items)
	if err == nil {
		slog.InfoContext(ctx, "revision added", "analysis_id", row.AnalysisID, "run", o.Run.ID, "revision", v.Name, "number", v.Number, "notice", o.Notice)
		return v, nil
	}
	if old, stood := txn.Guard(err); stood {
		return p.stands(row.AnalysisID, old, v)
	}
	if gone := batchrun.Refused(err, o.Run, 1); gone != nil {
		return v, gone
	}
	return v, fmt.Errorf("add revision %s of %s: %w", v.Name, row.AnalysisID, err)
}

// items is the change of the analysis's row: only what was delivered and is still
// kept has revisions, and each takes the next number.
func (p Publisher) items(row analysis.Row, v analysis.Revision) ([]ddb.TransactWriteItem, error) {
	m, err := stamp.MarshalMap(v)
	if err != nil {
		return nil, fault.Wrap(fault.Permanent, err, "encode a revision of %s", row.AnalysisID)
	}
	set := "SET revisions = list_append(if_not_exists(revisions, :none), :v)"
	cond := "#s = :ready AND attempt = :attempt AND attribute_not_exists(swept_at) AND "
	values := map[string]ddb.AttributeValue{
		":none": &ddb.AttributeValueMemberL{Value: []ddb.AttributeValue{}}, ":v": &ddb.AttributeValueMemberL{Value: []ddb.AttributeValue{&ddb.AttributeValueMemberM{Value: m}}},
		":ready":   &ddb.AttributeValueMemberS{Value: string(analysis.Ready)},
		":attempt": &ddb.AttributeValueMemberN{Value: strconv.Itoa(row.Attempt)},
	}
	if len(row.Revisions) == 0 {
		cond += "attribute_not_exists(revisions)"
	} else {
		cond += "size(revisions) = :n"
		values[":n"] = &ddb.AttributeValueMemberN{Value: strconv.Itoa(len(row.Revisions))}
	}
	return []ddb.TransactWriteItem{{Update: &ddb.Update{TableName: &p.Analyses, Key: analysis.Key(row.AnalysisID),
		UpdateExpression: &set, ConditionExpression: &cond, ExpressionAttributeNames: map[string]string{"#s": "status"},
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld}}}, nil
}

// stands reads what stood in the way of a revision.
func (p Publisher) stands(id string, old map[string]ddb.AttributeValue, v analysis.Revision) (analysis.Revision, error) {
	if old == nil {
		return v, fault.New(fault.Permanent, "add revision %s: there is no analysis %s any more", v.Name, id)
	}
	row, err := analysis.Decode(old)
	if err != nil {
		return v, fault.Wrap(fault.Permanent, err, "add revision %s of %s", v.Name, id)
	}
	if was, ok := row.Revised(v.Name); ok { // ours, its answer lost, or a twin's
		return was, nil
	}
	if row.Status != analysis.Ready {
		return v, fault.New(fault.Permanent, "add revision %s: analysis %s is %s", v.Name, id, row.Status)
	}
	if !row.Kept() {
		return v, fault.New(fault.Permanent, "add revision %s: analysis %s is no longer kept", v.Name, id)
	}
	return v, backfill.NotSent(fault.New(fault.Transient, "add revision %s of %s: another took number %d", v.Name, id, v.Number))
}
