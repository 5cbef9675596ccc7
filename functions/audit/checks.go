package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/outbox"
)

// How long a notice may be owed, or claimed past its claim's end, before that is
// damage: the sweep comes every five minutes.
const maxOwed = 2 * time.Hour

// analysis checks one row: I1 in itself, I2 against the ledger, I4 against the
// outbox.
func (a *audit) analysis(ctx context.Context, item map[string]ddb.AttributeValue) error {
	a.rep.Analyses++
	r, err := analysis.Decode(item)
	if err != nil {
		a.found("I1", "?", "a row that cannot be read: %v", err)
		return nil
	}
	wrong, err := a.judge(ctx, r)
	if err != nil || len(wrong) == 0 {
		return err
	}
	// It may have changed under our reads: what still holds after a second look does.
	again, err := analysis.Get(ctx, a.DB, a.Analyses, r.AnalysisID)
	if errors.Is(err, analysis.ErrNotFound) {
		return nil // erased meanwhile
	}
	if err != nil {
		return err
	}
	if wrong, err = a.judge(ctx, again); err != nil {
		return err
	}
	for _, f := range wrong {
		a.found(f.Invariant, r.AnalysisID, "%s", f.What)
	}
	return nil
}

// judge lists what is wrong with a row.
func (a *audit) judge(ctx context.Context, r analysis.Row) ([]Finding, error) {
	var out []Finding
	wrong := func(invariant, format string, args ...any) {
		out = append(out, Finding{Invariant: invariant, What: fmt.Sprintf(format, args...)})
	}
	ended := r.Status.Ended()
	switch {
	case ended && (r.Open != "" || r.EndedAt.IsZero() || r.EndedBy == ""):
		wrong("I1", "is %s and open, or without when and by whom it was ended", r.Status)
	case ended && !r.Deadline.IsZero():
		wrong("I1", "is %s and was written to after its end", r.Status)
	case r.Status == analysis.Ready && r.ReportPDF == "":
		wrong("I1", "is ready without a report")
	case !ended && r.Open == "":
		wrong("I1", "is %s and not among the open ones", r.Status)
	}
	refunded, err := a.entry(ctx, r.AthleteID, credit.KindRefund, r.AnalysisID)
	if err != nil {
		return nil, err
	}
	reserved, err := a.entry(ctx, r.AthleteID, credit.KindReserve, r.AnalysisID)
	if err != nil {
		return nil, err
	}
	switch wants := ended && r.Status != analysis.Ready; {
	case reserved == 0 && refunded == 0: // an athlete's data was erased, or all of it is gone
		wrong("I3", "no reservation")
	case reserved != -credit.PerAnalysis:
		wrong("I3", "its reservation is of %d credits", reserved)
	case wants && refunded != credit.PerAnalysis:
		wrong("I2", "is %s and %d credits were refunded", r.Status, refunded)
	case !wants && refunded != 0:
		wrong("I2", "is %s and was refunded", r.Status)
	}
	if !ended {
		return out, nil
	}
	told, err := a.query(ctx, a.Notices, "analysis_id", r.AnalysisID, 10)
	if err != nil {
		return nil, err
	}
	if len(told) == 0 {
		wrong("I4", "is %s and nobody is told", r.Status)
	}
	return out, nil
}

// entry is the amount of the entry with this cause, 0 if there is none.
func (a *audit) entry(ctx context.Context, athlete string, kind credit.Kind, cause string) (int64, error) {
	item, err := a.get(ctx, a.Credits, credit.Key(athlete, kind, cause))
	if err != nil || item == nil {
		return 0, err
	}
	var e credit.Entry
	if err := attributevalue.UnmarshalMap(item, &e); err != nil {
		return 0, fmt.Errorf("decode an entry: %w", err)
	}
	return e.Credits, nil
}

// credits checks an athlete's ledger when it comes to the balance, and a refund
// against its analysis: I3, I2.
func (a *audit) credits(ctx context.Context, item map[string]ddb.AttributeValue) error {
	var e credit.Entry
	if err := attributevalue.UnmarshalMap(item, &e); err != nil {
		a.found("I3", "?", "an entry that cannot be read: %v", err)
		return nil
	}
	switch {
	case e.Entry == "balance":
		return a.balance(ctx, e.AthleteID)
	case e.Kind == credit.KindRefund && e.AnalysisID != "":
		return a.refund(ctx, e)
	}
	return nil
}

// balance adds an athlete's entries up, twice if they do not.
func (a *audit) balance(ctx context.Context, athlete string) error {
	a.rep.Athletes++
	s := credit.Store{DB: ledgerDB{a.DB}, Credits: a.Credits, Retry: a.Retry}
	for look := range 2 {
		l, err := s.Read(ctx, athlete)
		if err != nil {
			return err
		}
		sound := l.Balance >= 0 && (l.More || l.Sum() == l.Balance)
		if sound {
			return nil
		}
		if look == 1 {
			a.found("I3", athlete, "balance %d, entries add up to %d", l.Balance, l.Sum())
		}
	}
	return nil
}

// ledgerDB lets package credit read; the audit writes nothing.
type ledgerDB struct{ DB }

func (ledgerDB) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return nil, errors.New("the audit writes nothing")
}

// refund checks that what was refunded had an end without a report.
func (a *audit) refund(ctx context.Context, e credit.Entry) error {
	if e.Entry != string(credit.KindRefund)+"#"+e.AnalysisID {
		a.found("I3", e.AnalysisID, "a refund under the key %s: nothing keeps it from being there twice", e.Entry)
	}
	r, err := analysis.Get(ctx, a.DB, a.Analyses, e.AnalysisID)
	if errors.Is(err, analysis.ErrNotFound) {
		return nil // erased
	}
	if err == nil && (!r.Status.Ended() || r.Status == analysis.Ready) && e.AthleteID != r.AthleteID {
		a.found("I2", e.AnalysisID, "is %s and somebody else was refunded", r.Status)
	}
	return err
}

// notice checks one row of the outbox: I4.
func (a *audit) notice(ctx context.Context, item map[string]ddb.AttributeValue) error {
	a.rep.Notices++
	n, err := outbox.Decode(item)
	if err != nil {
		a.found("I4", "?", "a notice that cannot be read: %v", err)
		return nil
	}
	switch n.State {
	case outbox.Sent, outbox.Refused, outbox.NotDue:
	case outbox.Unknown:
		a.rep.Unknown++
	case outbox.Owed, outbox.Claimed:
		if a.now().Sub(n.CreatedAt) > maxOwed {
			return a.late(ctx, n)
		}
	default:
		a.found("I4", n.AnalysisID, "notice %s is %q", n.ID, n.State)
	}
	r, err := analysis.Get(ctx, a.DB, a.Analyses, n.AnalysisID)
	if errors.Is(err, analysis.ErrNotFound) {
		return nil
	}
	if number, ok := outbox.RevisionOf(n.Kind); err == nil && ok {
		if r.Status != analysis.Ready || number > len(r.Revisions) {
			a.found("I4", n.AnalysisID, "is %s with %d revisions, and a notice says %s", r.Status, len(r.Revisions), n.Kind)
		}
		return nil
	}
	if err == nil && string(r.Status) != n.Kind {
		a.found("I4", n.AnalysisID, "is %s, and a notice says %s", r.Status, n.Kind)
	}
	return err
}

// late reports a notice that nobody sends, if it is still so.
func (a *audit) late(ctx context.Context, n outbox.Notice) error {
	item, err := a.get(ctx, a.Notices, outbox.Key(n.AnalysisID, n.ID))
	if err != nil || item == nil {
		return err
	}
	if now, err := outbox.Decode(item); err != nil || now.State != n.State {
		return err
	}
	a.found("I4", n.AnalysisID, "notice %s is %s since %s", n.ID, n.State, n.CreatedAt.Format(time.RFC3339))
	return nil
}

// effect checks one paid call: at most one takeover, and no more calls than
// claims that may have sent one. I5.
func (a *audit) effect(ctx context.Context, item map[string]ddb.AttributeValue) error {
	var e struct {
		Effect    string `dynamodbav:"effect"`
		State     string `dynamodbav:"state"`
		Takeovers int    `dynamodbav:"takeovers"`
	}
	if err := attributevalue.UnmarshalMap(item, &e); err != nil {
		return nil // another kind of row with attributes of its own
	}
	p := strings.Split(e.Effect, "#")
	if len(p) != 3 || p[0] != "model" {
		return nil
	}
	a.rep.Calls++
	if e.State == "unknown" {
		a.rep.Unknown++
	}
	if e.Takeovers > 1 {
		a.found("I5", p[1], "%s was taken over %d times", p[2], e.Takeovers)
	}
	rows, err := a.query(ctx, a.Usage, "analysis_id", p[1], 100)
	if err != nil {
		return err
	}
	sent := 0
	for _, it := range rows {
		var c struct {
			Task    string `dynamodbav:"task"`
			Outcome string `dynamodbav:"outcome"`
		}
		if attributevalue.UnmarshalMap(it, &c) == nil && c.Task == p[2] && mayHaveBeenPaid(c.Outcome) {
			sent++
		}
	}
	if sent > 1+e.Takeovers {
		a.found("I5", p[1], "%d calls of %s after %d takeovers", sent, p[2], e.Takeovers)
	}
	return nil
}

// mayHaveBeenPaid reports whether a call with this outcome was, or may have been,
// carried out by the provider. A refused one gives its claim back.
func mayHaveBeenPaid(outcome string) bool {
	switch outcome {
	case "throttled", "not sent", "unavailable", "ModelUnavailable", "Transient":
		return false
	}
	return true
}

func (a *audit) get(ctx context.Context, table string, key map[string]ddb.AttributeValue) (map[string]ddb.AttributeValue, error) {
	yes := true
	var out *dynamodb.GetItemOutput
	err := a.Retry.Do(ctx, func() (err error) {
		out, err = a.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: &yes})
		return err
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// query reads the first items of a partition.
func (a *audit) query(ctx context.Context, table, attr, value string, most int32) ([]map[string]ddb.AttributeValue, error) {
	yes, cond := true, attr+" = :v"
	var out *dynamodb.QueryOutput
	err := a.Retry.Do(ctx, func() (err error) {
		out, err = a.DB.Query(ctx, &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: &cond, ConsistentRead: &yes, Limit: &most,
			ExpressionAttributeValues: map[string]ddb.AttributeValue{":v": &ddb.AttributeValueMemberS{Value: value}}})
		return err
	})
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}
