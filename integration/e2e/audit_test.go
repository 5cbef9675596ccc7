package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"fastbowlinglab/functions/audit"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
)

type item = map[string]ddb.AttributeValue

func text(s string) ddb.AttributeValue   { return &ddb.AttributeValueMemberS{Value: s} }
func number(s string) ddb.AttributeValue { return &ddb.AttributeValueMemberN{Value: s} }

// audited starts the audit as its schedule does, and reads its answer, its report
// and the count that the alarm looks at.
func (w *world) audited() (audit.Report, float64) {
	w.t.Helper()
	ctx := context.Background()
	b, err := w.Tick(ctx, names.FnAudit)
	if err != nil {
		w.t.Fatal(err)
	}
	var out audit.Out
	if err := json.Unmarshal(b, &out); err != nil {
		w.t.Fatal(err)
	}
	obj, err := s3.NewFromConfig(w.AWS(), func(o *s3.Options) { o.UsePathStyle = true }).GetObject(ctx,
		&s3.GetObjectInput{Bucket: aws.String(names.Bucket), Key: &out.Key})
	if err != nil {
		w.t.Fatalf("the report %s: %v", out.Key, err)
	}
	defer obj.Body.Close()
	var rep audit.Report
	if err := json.NewDecoder(obj.Body).Decode(&rep); err != nil {
		w.t.Fatal(err)
	}
	if rep.Total != out.Total || rep.Partial {
		w.t.Errorf("the answer says %d, the report %d (partial %t)", out.Total, rep.Total, rep.Partial)
	}
	return rep, w.counted(out.Key)
}

// counted is the metric that the audit wrote with this report into its log, in
// CloudWatch's embedded format.
func (w *world) counted(report string) float64 {
	w.t.Helper()
	log, err := os.ReadFile(filepath.Join(w.Logs, names.FnAudit+".log"))
	if err != nil {
		w.t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(log)); lines.Scan(); {
		var line map[string]any
		if json.Unmarshal(lines.Bytes(), &line) != nil || line["report"] != report {
			continue
		}
		n, ok := line[metric.AuditViolations].(float64)
		if _, embedded := line["_aws"]; ok && embedded {
			return n
		}
	}
	w.t.Errorf("no count %s for the report %s", metric.AuditViolations, report)
	return -1
}

// oneOfEach makes one analysis for each end and one that is open, past the API.
func (w *world) oneOfEach() map[string]string {
	w.t.Helper()
	ctx := context.Background()
	life := analysis.Store{DB: w.db, Analyses: names.Analyses.Name, Credits: names.Credits.Name}
	ends := outcome.Store{DB: w.db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Notices: names.Notices.Name}
	_, err := credit.Store{DB: w.db, Credits: names.Credits.Name, Effects: names.Effects.Name}.Enter(ctx,
		credit.Grant{AthleteID: athlete, Credits: 5, Operator: "op", Key: "k", Reason: "r"})
	if err != nil {
		w.t.Fatal(err)
	}
	ids := map[string]string{}
	for _, key := range []string{"ready", "rejected", "failed", "open"} {
		r, _, err := life.Create(ctx, athlete, key, analysis.Submission{AthleteName: "A", TimeZone: "UTC", Consent: true,
			Clips: []analysis.Clip{{Name: "c", Type: "video/mp4", SizeBytes: 1}}})
		id := r.AnalysisID
		if err == nil {
			_, err = life.Queue(ctx, id, r.Clips)
		}
		if err == nil {
			_, err = life.Begin(ctx, id, 1, analysis.ExecutionName(id, 1), nil)
		}
		switch {
		case err != nil:
		case key == "ready":
			_, err = ends.Deliver(ctx, id, 1, "t", outcome.Report{PDFKey: "p", JSONKey: "j", ResultKey: "r"})
		case key == "rejected":
			_, err = ends.Reject(ctx, id, 1, "t", reason.NotBowling)
		case key == "failed":
			_, err = ends.Fail(ctx, id, 1, "", "t", reason.StageFailed)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		ids[key] = id
	}
	return ids
}

// The audit as deployed, on the tables as deployed: nothing in sound tables, and
// each kind of damage, one on top of the other, with its report and its count.
func TestAuditFindsDamage(t *testing.T) {
	w := start(t)
	ids := w.oneOfEach()
	rep, n := w.audited()
	if rep.Total != 0 || n != 0 || rep.Analyses != 4 || rep.Athletes != 1 {
		t.Fatalf("sound tables: %+v, counted %v", rep, n)
	}
	set := func(table names.Table, key item, attr string, v ddb.AttributeValue) {
		_, err := w.db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &table.Name, Key: key, UpdateExpression: aws.String("SET #a = :v"),
			ExpressionAttributeNames: map[string]string{"#a": attr}, ExpressionAttributeValues: item{":v": v}})
		if err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for _, tc := range []struct {
		invariant, damage string
		plant             func()
	}{
		{"I1", "a delivered one is open again", func() { set(names.Analyses, analysis.Key(ids["ready"]), "open", text("1")) }},
		{"I2", "a refund is missing", func() {
			_, err := w.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &names.Credits.Name, Key: credit.Key(athlete, credit.KindRefund, ids["failed"])})
			if err != nil {
				t.Fatal(err)
			}
			set(names.Credits, item{"athlete_id": text(athlete), "entry": text("balance")}, "balance", number("2"))
		}},
		{"I3", "the balance does not add up", func() {
			set(names.Credits, item{"athlete_id": text(athlete), "entry": text("balance")}, "balance", number("9"))
		}},
		{"I4", "an athlete is told of another end", func() {
			set(names.Notices, item{"analysis_id": text(ids["rejected"]), "notice": text("ready#email")}, "kind", text("ready"))
		}},
		{"I5", "a call was taken over twice", func() {
			set(names.Effects, item{"effect": text("model#" + ids["ready"] + "#findings")}, "takeovers", number("2"))
		}},
	} {
		tc.plant()
		rep, n := w.audited()
		if rep.Violations[tc.invariant] == 0 || rep.Total <= total || n != float64(rep.Total) || len(rep.Findings) != rep.Total {
			t.Errorf("%s, %s: found %+v, counted %v, %d before", tc.invariant, tc.damage, rep, n, total)
		}
		total = rep.Total
	}
}
