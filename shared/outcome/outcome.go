// Package outcome writes the end of an analysis. Nothing else does.
//
// An end is one transaction: the row's compare-and-set on its status and
// attempt, the refund unless there is a report, and the notices. So an end is
// final, its money moves once, and whoever comes second changes nothing: it is
// shown the end that stands by the failed condition itself, without a read.
package outcome

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/txn"
)

// DB is what a Store needs of DynamoDB.
type DB interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Store writes ends.
type Store struct {
	DB       DB
	Analyses string // tables
	Credits  string
	Notices  string
	Now      func() time.Time
	Retry    retry.Policy
}

// Result is the end that stands, or the state of an analysis that the caller
// may not end. Won tells whether the caller's own end stands: it is true again
// for a repeat of the same call, so that a lost answer is repaired by asking.
type Result struct {
	Won     bool
	Status  analysis.Status
	Reason  reason.Code
	Attempt int
}

// end is a request to end an analysis.
type end struct {
	id     string
	by     string // who asks: stored, and what tells a repeat from a rival
	status analysis.Status
	reason reason.Code
	set    map[string]string // further attributes of the row
	cond   string            // what must hold of an open row
	values map[string]ddb.AttributeValue
}

// Report names what was delivered.
type Report struct{ PDFKey, JSONKey, ResultKey string }

// Deliver ends an analysis as ready, if it is being analysed at this attempt.
func (s Store) Deliver(ctx context.Context, id string, attempt int, by string, rep Report) (Result, error) {
	if rep.PDFKey == "" || rep.JSONKey == "" {
		return Result{}, fmt.Errorf("deliver %s: a report needs both its keys", id)
	}
	return s.write(ctx, atAttempt(end{id: id, by: by, status: analysis.Ready, set: map[string]string{
		"report_pdf": rep.PDFKey, "report_json": rep.JSONKey, "result_key": rep.ResultKey}}, attempt, analysis.Analysing))
}

// Reject ends an analysis as rejected, with a refund: its footage cannot be
// analysed. It holds for the attempt that looked at the footage, no other.
func (s Store) Reject(ctx context.Context, id string, attempt int, by string, why reason.Code) (Result, error) {
	if why == "" {
		return Result{}, fmt.Errorf("reject %s: a rejection needs a reason", id)
	}
	return s.write(ctx, atAttempt(end{id: id, by: by, status: analysis.Rejected, reason: why}, attempt, analysis.Analysing))
}

// Fail ends a queued or running analysis as failed, with a refund, if it is at
// this attempt: an execution of an earlier one no longer speaks for it. A
// non-empty execution must hold the attempt, or nobody may.
func (s Store) Fail(ctx context.Context, id string, attempt int, execution, by string, why reason.Code) (Result, error) {
	e := atAttempt(end{id: id, by: by, status: analysis.Failed, reason: why}, attempt, analysis.Queued, analysis.Analysing)
	if execution != "" {
		e.cond += " AND (attribute_not_exists(execution) OR execution = :execution)"
		e.values[":execution"] = text(execution)
	}
	return s.write(ctx, e)
}

// Overdue ends a queued or running analysis as failed, with a refund, if it is at
// this attempt and past its deadline: a claim that came meanwhile has moved it.
func (s Store) Overdue(ctx context.Context, id string, attempt int, by string) (Result, error) {
	e := atAttempt(end{id: id, by: by, status: analysis.Failed, reason: reason.DeadlinePassed}, attempt, analysis.Queued, analysis.Analysing)
	e.cond += " AND deadline < :now"
	e.values[":now"] = stamp.Value(s.now())
	return s.write(ctx, e)
}

// Cancel ends an analysis as failed with reason cancelled and a refund, as long
// as no worker has claimed it.
func (s Store) Cancel(ctx context.Context, id, by string) (Result, error) {
	return s.write(ctx, end{id: id, by: by, status: analysis.Failed, reason: reason.Cancelled,
		cond: "#s IN (:reserved, :queued) OR (#s = :analysing AND attribute_not_exists(claimed_at))",
		values: map[string]ddb.AttributeValue{":reserved": text(string(analysis.Reserved)),
			":queued": text(string(analysis.Queued)), ":analysing": text(string(analysis.Analysing))}})
}

// Expire ends an analysis that was reserved and never confirmed by its
// deadline, with a refund.
func (s Store) Expire(ctx context.Context, id, by string) (Result, error) {
	return s.write(ctx, end{id: id, by: by, status: analysis.Expired, reason: reason.NotUploaded,
		cond: "#s = :reserved AND deadline < :now",
		values: map[string]ddb.AttributeValue{":reserved": text(string(analysis.Reserved)),
			":now": stamp.Value(s.now())}})
}

// atAttempt demands that the row is in one of the states, at this attempt.
func atAttempt(e end, attempt int, in ...analysis.Status) end {
	e.values = map[string]ddb.AttributeValue{":attempt": &ddb.AttributeValueMemberN{Value: strconv.Itoa(attempt)}}
	list := ""
	for i, st := range in {
		k := ":in" + strconv.Itoa(i)
		e.values[k] = text(string(st))
		list += ", " + k
	}
	e.cond = "attempt = :attempt AND #s IN (" + list[2:] + ")"
	return e
}

// write carries e out. The row is read first for whom to refund and to tell;
// neither ever changes. One write request follows, or none if the end is there.
func (s Store) write(ctx context.Context, e end) (Result, error) {
	r, err := s.get(ctx, e.id)
	if err != nil {
		return Result{}, fmt.Errorf("end analysis: %w", err)
	}
	if r.Status.Ended() {
		return s.concede(ctx, e, r), nil
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	items := []ddb.TransactWriteItem{s.row(e, now)}
	if e.status != analysis.Ready {
		items = append(items, credit.Refund(s.Credits, r.AthleteID, e.id, string(e.reason), e.by, now)...)
	}
	for _, n := range outbox.All(r, e.status, now) {
		items = append(items, outbox.Put(s.Notices, n))
	}
	err = txn.Write(ctx, s.DB, s.Retry, items)
	if err == nil {
		metric.Count(ctx, metric.Ended, 1, "analysis_id", e.id, "attempt", r.Attempt, "status", e.status, "reason", e.reason, "by", e.by)
		return Result{Won: true, Status: e.status, Reason: e.reason, Attempt: r.Attempt}, nil
	}
	if old, stood := txn.Guard(err); stood {
		if old == nil {
			return Result{}, fmt.Errorf("end analysis %s: %w", e.id, analysis.ErrNotFound)
		}
		winner, err := analysis.Decode(old)
		if err != nil {
			return Result{}, fmt.Errorf("end analysis %s: %w", e.id, err)
		}
		return s.concede(ctx, e, winner), nil
	}
	return Result{}, fmt.Errorf("end analysis %s as %s: %w", e.id, e.status, err)
}

// row is the compare-and-set that is the end.
func (s Store) row(e end, now time.Time) ddb.TransactWriteItem {
	set := "SET #s = :status, ended_at = :ended, ended_day = :day, ended_by = :by"
	values := map[string]ddb.AttributeValue{":status": text(string(e.status)), ":ended": stamp.Value(now), ":by": text(e.by),
		":day": text(now.Format(time.DateOnly))}
	for k, v := range e.values {
		values[k] = v
	}
	if e.reason != "" {
		set += ", reason = :reason"
		values[":reason"] = text(string(e.reason))
	}
	for _, k := range slices.Sorted(maps.Keys(e.set)) { // the same request for the same end
		set += ", " + k + " = :" + k
		values[":"+k] = text(e.set[k])
	}
	set += " REMOVE #open, deadline"
	cond := "attribute_exists(#open) AND (" + e.cond + ")"
	return ddb.TransactWriteItem{Update: &ddb.Update{
		TableName: &s.Analyses, Key: analysis.Key(e.id), UpdateExpression: &set, ConditionExpression: &cond,
		ExpressionAttributeNames:            map[string]string{"#s": "status", "#open": "open"},
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// concede shows what stands.
func (s Store) concede(ctx context.Context, e end, r analysis.Row) Result {
	res := Result{Status: r.Status, Reason: reason.Code(r.Reason), Attempt: r.Attempt,
		Won: r.Status == e.status && r.Reason == string(e.reason) && r.EndedBy == e.by}
	if !res.Won {
		metric.Count(ctx, metric.ConcededEnd, 1, "analysis_id", e.id, "status", r.Status, "wanted", e.status, "by", e.by)
	}
	return res
}

func (s Store) get(ctx context.Context, id string) (analysis.Row, error) {
	var r analysis.Row
	var missing error
	err := s.Retry.Do(ctx, func() (err error) {
		r, err = analysis.Get(ctx, s.DB, s.Analyses, id)
		if errors.Is(err, analysis.ErrNotFound) {
			missing, err = err, nil
		}
		return err
	})
	return r, errors.Join(err, missing)
}

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func text(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }
