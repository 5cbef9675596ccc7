package audit_test

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/functions/audit"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
)

// shelf keeps the last report.
type shelf struct{ rep audit.Report }

func (s *shelf) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	b, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	s.rep = audit.Report{}
	return &s3.PutObjectOutput{}, json.Unmarshal(b, &s.rep)
}

type world struct {
	t   *testing.T
	db  *dynamodb.Client
	ids map[string]string // by end
}

const athlete = "athlete-1"

// sound is a world with one analysis for each end, and one that goes on.
func sound(t *testing.T) *world {
	w := &world{t, dynamotest.New(t), map[string]string{}}
	ctx := t.Context()
	life := analysis.Store{DB: w.db, Analyses: names.Analyses.Name, Credits: names.Credits.Name}
	ends := outcome.Store{DB: w.db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Notices: names.Notices.Name}
	ledger := credit.Store{DB: w.db, Credits: names.Credits.Name, Effects: names.Effects.Name}
	if _, err := ledger.Enter(ctx, credit.Grant{AthleteID: athlete, Credits: 5, Operator: "op", Key: "k", Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	for _, st := range []string{"ready", "rejected", "failed", "open"} {
		sub := analysis.Submission{AthleteName: "A", Email: "a@example.com", TimeZone: "UTC", Consent: true, Clips: []analysis.Clip{{Name: "c", Type: "video/mp4", SizeBytes: 1}}}
		r, _, err := life.Create(ctx, athlete, st, sub)
		if err == nil {
			_, err = life.Queue(ctx, r.AnalysisID, r.Clips)
		}
		if err == nil {
			_, err = life.Begin(ctx, r.AnalysisID, 1, analysis.ExecutionName(r.AnalysisID, 1), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		w.ids[st] = r.AnalysisID
		switch st {
		case "ready":
			_, err = ends.Deliver(ctx, r.AnalysisID, 1, "t", outcome.Report{PDFKey: "p", JSONKey: "j", ResultKey: "r"})
		case "rejected":
			_, err = ends.Reject(ctx, r.AnalysisID, 1, "t", reason.NotBowling)
		case "failed":
			_, err = ends.Fail(ctx, r.AnalysisID, 1, "", "t", reason.StageFailed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.put(names.Effects, map[string]any{"effect": "model#" + w.ids["ready"] + "#findings", "state": "done", "takeovers": 0})
	w.put(names.Usage, map[string]any{"analysis_id": w.ids["ready"], "call": "findings#1#1", "task": "findings", "outcome": "ok"})
	return w
}

func value(v any) ddb.AttributeValue {
	switch v := v.(type) {
	case string:
		return &ddb.AttributeValueMemberS{Value: v}
	default:
		b, _ := json.Marshal(v)
		return &ddb.AttributeValueMemberN{Value: string(b)}
	}
}

func (w *world) put(t names.Table, attrs map[string]any) {
	w.t.Helper()
	item := map[string]ddb.AttributeValue{}
	for k, v := range attrs {
		item[k] = value(v)
	}
	if _, err := w.db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &t.Name, Item: item}); err != nil {
		w.t.Fatal(err)
	}
}

// set changes one attribute, past every guard; nil removes it.
func (w *world) set(t names.Table, key map[string]ddb.AttributeValue, attr string, v any) {
	w.t.Helper()
	in := &dynamodb.UpdateItemInput{TableName: &t.Name, Key: key, ExpressionAttributeNames: map[string]string{"#a": attr}}
	if v == nil {
		in.UpdateExpression = aws.String("REMOVE #a")
	} else {
		in.UpdateExpression = aws.String("SET #a = :v")
		in.ExpressionAttributeValues = map[string]ddb.AttributeValue{":v": value(v)}
	}
	if _, err := w.db.UpdateItem(w.t.Context(), in); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(t names.Table, key map[string]ddb.AttributeValue) {
	w.t.Helper()
	if _, err := w.db.DeleteItem(w.t.Context(), &dynamodb.DeleteItemInput{TableName: &t.Name, Key: key}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) audit(now time.Time) audit.Report {
	w.t.Helper()
	return w.auditIn(w.t.Context(), now)
}

func (w *world) auditIn(ctx context.Context, now time.Time) audit.Report {
	w.t.Helper()
	s := &shelf{}
	h := audit.New(audit.Deps{DB: w.db, Objects: s, Bucket: "b", Analyses: names.Analyses.Name, Credits: names.Credits.Name,
		Notices: names.Notices.Name, Effects: names.Effects.Name, Usage: names.Usage.Name, Prices: names.Prices.Name, Now: func() time.Time { return now }})
	if _, err := h.Invoke(ctx, []byte(`{}`)); err != nil {
		w.t.Fatal(err)
	}
	return s.rep
}

func TestSoundTablesHaveNoFindings(t *testing.T) {
	r := sound(t).audit(time.Now())
	if r.Total != 0 || r.Partial || r.Analyses != 4 || r.Athletes != 1 || r.Notices != 3 || r.Calls != 1 {
		t.Errorf("%+v", r)
	}
}

// An audit that has no time left but for its report says what it has not seen.
func TestOutOfTime(t *testing.T) {
	w := sound(t)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second) // less than it keeps for the report
	defer cancel()
	if r := w.auditIn(ctx, time.Now()); !r.Partial || r.Analyses != 0 || r.Total != 0 {
		t.Errorf("%+v", r)
	}
}

func TestFindsPlantedDamage(t *testing.T) {
	balance := credit.Key(athlete, "x", "x")
	balance["entry"] = value("balance")
	for _, tc := range []struct {
		name, invariant string
		later           time.Duration
		plant           func(w *world)
	}{
		{"an end that is open again", "I1", 0, func(w *world) { w.set(names.Analyses, analysis.Key(w.ids["ready"]), "open", "1") }},
		{"an end that was written to", "I1", 0, func(w *world) {
			w.set(names.Analyses, analysis.Key(w.ids["failed"]), "deadline", "2026-01-01T00:00:00.000Z")
		}},
		{"ready without a report", "I1", 0, func(w *world) { w.set(names.Analyses, analysis.Key(w.ids["ready"]), "report_pdf", nil) }},
		{"open and in no index", "I1", 0, func(w *world) { w.set(names.Analyses, analysis.Key(w.ids["open"]), "open", nil) }},
		{"a delivered report demoted", "I2", 0, func(w *world) { w.set(names.Analyses, analysis.Key(w.ids["ready"]), "status", "failed") }},
		{"a refund that is missing", "I2", 0, func(w *world) {
			w.remove(names.Credits, credit.Key(athlete, credit.KindRefund, w.ids["failed"]))
			w.set(names.Credits, balance, "balance", 2)
		}},
		{"a delivered report refunded", "I2", 0, func(w *world) {
			k := credit.Key(athlete, credit.KindRefund, w.ids["ready"])
			w.set(names.Credits, k, "credits", 1)
			w.set(names.Credits, k, "kind", "refund")
			w.set(names.Credits, balance, "balance", 4)
		}},
		{"a balance that does not add up", "I3", 0, func(w *world) { w.set(names.Credits, balance, "balance", 7) }},
		{"a negative balance", "I3", 0, func(w *world) { w.set(names.Credits, balance, "balance", -1) }},
		{"a reservation that is missing", "I3", 0, func(w *world) {
			w.remove(names.Credits, credit.Key(athlete, credit.KindReserve, w.ids["open"]))
		}},
		{"a second refund under another key", "I3", 0, func(w *world) {
			k := credit.Key(athlete, credit.KindRefund, w.ids["failed"]+"-again")
			for attr, v := range map[string]any{"credits": 1, "kind": "refund", "analysis_id": w.ids["failed"]} {
				w.set(names.Credits, k, attr, v)
			}
			w.set(names.Credits, balance, "balance", 4)
		}},
		{"an end without a notice", "I4", 0, func(w *world) {
			w.remove(names.Notices, map[string]ddb.AttributeValue{"analysis_id": value(w.ids["ready"]), "notice": value("ready#email")})
		}},
		{"a notice of another end", "I4", 0, func(w *world) {
			w.put(names.Notices, map[string]any{"analysis_id": w.ids["ready"], "notice": "failed#email", "kind": "failed", "state": "sent"})
		}},
		{"notices that nobody sends", "I4", 3 * time.Hour, func(*world) {}},
		{"a call taken over twice", "I5", 0, func(w *world) {
			w.set(names.Effects, map[string]ddb.AttributeValue{"effect": value("model#" + w.ids["ready"] + "#findings")}, "takeovers", 2)
		}},
		{"a call paid twice", "I5", 0, func(w *world) {
			w.put(names.Usage, map[string]any{"analysis_id": w.ids["ready"], "call": "findings#1#2", "task": "findings", "outcome": "sent"})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := sound(t)
			tc.plant(w)
			r := w.audit(time.Now().Add(tc.later))
			if r.Violations[tc.invariant] == 0 {
				t.Errorf("%s not found: %+v", tc.name, r)
			}
		})
	}
}

// Many rows are read page by page, and all of them.
func TestReadsEveryPage(t *testing.T) {
	w := sound(t)
	for i := range 450 {
		id := analysis.ID(athlete, string(rune('a'+i%26))+time.Duration(i).String())
		w.put(names.Analyses, map[string]any{"analysis_id": id, "athlete_id": athlete, "status": "reserved", "attempt": 1})
	}
	r := w.audit(time.Now())
	if r.Analyses != 454 || r.Violations["I1"] != 450 || r.Violations["I3"] != 450 || len(r.Findings) > 1000 {
		t.Errorf("%d analyses, %v, %d findings", r.Analyses, r.Violations, len(r.Findings))
	}
}
