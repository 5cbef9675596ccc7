package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/tags"
)

// tables is the whole database as text, by table.
func (w *world) tables() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, tb := range names.Tables() {
		in := &dynamodb.ScanInput{TableName: &tb.Name}
		for {
			page, err := w.db.Scan(context.Background(), in)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, it := range page.Items {
				b, _ := json.Marshal(it)
				out[tb.Name] += string(b) + "\n"
			}
			if in.ExclusiveStartKey = page.LastEvaluatedKey; in.ExclusiveStartKey == nil {
				break
			}
		}
	}
	return out
}

// versions are the keys of all versions and delete markers in the bucket.
func (w *world) versions() (keys []string) {
	w.t.Helper()
	in := &s3.ListObjectVersionsInput{Bucket: aws.String(names.Bucket)}
	for {
		page, err := s3.NewFromConfig(w.AWS()).ListObjectVersions(context.Background(), in)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, v := range page.Versions {
			keys = append(keys, *v.Key)
		}
		for _, v := range page.DeleteMarkers {
			keys = append(keys, *v.Key)
		}
		if page.IsTruncated == nil || !*page.IsTruncated {
			return keys
		}
		in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker, page.NextVersionIdMarker
	}
}

// ledgerSum adds up every balance and every entry.
func (w *world) ledgerSum(rows string) (balances, entries int64) {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(rows), "\n") {
		var it struct {
			Who struct{ Value string } `json:"athlete_id"`
		}
		if json.Unmarshal([]byte(line), &it) != nil || seen[it.Who.Value] {
			continue
		}
		seen[it.Who.Value] = true
		l, err := credit.Store{DB: w.db, Credits: names.Credits.Name}.Read(context.Background(), it.Who.Value)
		if err != nil {
			w.t.Fatal(err)
		}
		balances, entries = balances+l.Balance, entries+l.Sum()
	}
	return balances, entries
}

// A deletion through the API, by the real programs: one analysis delivered, one
// being worked on, one reserved. The open ones end and are refunded, everything
// goes from the tables and the bucket in all versions, the ledger stays under a
// pseudonym and the audit finds nothing wrong.
func TestErasureEndToEnd(t *testing.T) {
	w := start(t, func(c *local.Config) { c.Schedules[names.FnErase], c.Schedules[names.FnAudit] = -1, -1 })
	ctx := context.Background()
	token, op := w.tokens()
	w.grant(op, 5)
	delivered := w.begin(token)
	eventually(t, 4*time.Minute, "the report", func() bool { return w.row(delivered).Status.Ended() })
	day := w.row(delivered).Day()
	tag, err := stamp.MarshalMap(tags.Row{Day: day, Item: tags.PartRow + delivered + "#" + names.TagsVersion, AnalysisID: delivered, Version: names.TagsVersion})
	if err == nil {
		_, err = w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &names.Tags.Name, Item: tag})
	}
	if err != nil {
		t.Fatal(err)
	}
	clip := sample(t, "bowler.mp4")
	var running, reserved created
	for key, c := range map[string]*created{"running": &running, "reserved": &reserved} {
		if err := json.Unmarshal(w.call("POST", "/v1/analyses", token, key, submission(1)).body, c); err != nil {
			t.Fatal(err)
		}
	}
	w.upload(running, clip)
	w.upload(running, clip) // another version
	w.upload(reserved, clip)
	w.call("POST", "/v1/analyses/"+running.AnalysisID+"/confirm", token, "", nil)
	eventually(t, time.Minute, "a claim by a worker", func() bool { return w.job(running.AnalysisID).Fence > 0 })
	ids := []string{delivered, running.AnalysisID, reserved.AnalysisID}

	var ex struct {
		Analyses []struct {
			ID    string           `json:"analysis_id"`
			Files []map[string]any `json:"files"`
			Calls []map[string]any `json:"model_calls"`
			Tags  []map[string]any `json:"tags"`
		} `json:"analyses"`
		Ledger []map[string]any `json:"ledger"`
	}
	a := w.call("GET", "/v1/me/export", token, "", nil)
	if err := json.Unmarshal(a.body, &ex); err != nil || len(ex.Analyses) != 3 || len(ex.Ledger) != 4 {
		t.Fatalf("export: %d %s, %v", a.status, a.body, err)
	}
	for _, x := range ex.Analyses {
		if x.ID == delivered && (len(x.Files) < 8 || len(x.Calls) != 3 || len(x.Tags) != 1) {
			t.Errorf("export of the delivered one: %d files, %d calls, %d tags", len(x.Files), len(x.Calls), len(x.Tags))
		}
	}
	if len(w.versions()) < 10 {
		t.Fatalf("versions %v", w.versions())
	}

	// The deletion. Its answer is the same however often it is asked for.
	first := w.call("DELETE", "/v1/me", token, "", nil)
	if first.status != http.StatusAccepted || !strings.Contains(string(first.body), `"state":"open"`) {
		t.Fatalf("delete: %d %s", first.status, first.body)
	}
	e, err := erasure.Store{DB: w.db, Table: names.Erasures.Name}.Look(ctx, athlete)
	if err != nil {
		t.Fatal(err)
	}
	if a := w.call("POST", "/v1/analyses", token, "late", submission(1)); a.status != http.StatusConflict {
		t.Errorf("a submission after it: %d %s", a.status, a.body)
	}
	// The stream starts the function at once.
	eventually(t, time.Minute, "the first pass", func() bool {
		e, err := erasure.Store{DB: w.db, Table: names.Erasures.Name}.Get(ctx, e.ID)
		return err == nil && e.Removed.Analyses == 3
	})
	arn, err := analysis.ExecutionARN(local.StateMachineARN, analysis.ExecutionName(running.AnalysisID, 1))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the execution to stop", func() bool {
		x, err := sfn.NewFromConfig(w.AWS()).DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
		return err == nil && x.Status == sfntypes.ExecutionStatusAborted
	})
	// A form that was given before is good for an hour: what comes by it goes too.
	w.upload(reserved, clip)
	// Nobody waits for hours in a test: the request is made to be as old.
	old := stamp.Value(time.Now().Add(-names.ErasureSettle - time.Minute))
	if _, err := w.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &names.Erasures.Name, UpdateExpression: aws.String("SET requested_at = :old REMOVE last_end"),
		Key:                       map[string]ddb.AttributeValue{"erasure": &ddb.AttributeValueMemberS{Value: e.ID}},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":old": old}}); err != nil {
		t.Fatal(err)
	}
	// The worker notices within a keeper's period that its analysis has ended, and
	// may write until then; each pass looks again.
	var me struct {
		Erasure struct {
			State   string          `json:"state"`
			Removed erasure.Removed `json:"removed"`
		} `json:"erasure"`
	}
	eventually(t, 2*time.Minute, "the proof", func() bool {
		if _, err := w.Tick(ctx, names.FnErase); err != nil {
			t.Log(err)
		}
		a := w.call("GET", "/v1/me", token, "", nil)
		return json.Unmarshal(a.body, &me) == nil && me.Erasure.State == "done"
	})
	if r := me.Erasure.Removed; r.Analyses != 3 || r.Objects < 10 || r.Entries != 6 || r.Rows < 8 {
		t.Errorf("proof %+v", r)
	}
	if left := w.versions(); len(left) != 0 {
		t.Errorf("versions are left: %v", left)
	}
	dump := w.tables()
	for name, rows := range dump {
		for _, trace := range append([]string{athlete, "E. Athlete", "e@example.com", e.Pseudonym + "@"}, ids...) {
			if i := strings.Index(rows, trace); i >= 0 {
				t.Errorf("table %s still holds %q: %.200s", name, trace, rows[max(0, i-100):])
			}
		}
	}
	if strings.Contains(dump[names.Erasures.Name], e.Pseudonym) {
		t.Error("the proof leads to the pseudonym")
	}
	if b, s := w.ledgerSum(dump[names.Credits.Name]); b != 4 || s != 4 || strings.Count(dump[names.Credits.Name], `"refund#`) != 2 {
		t.Errorf("balances %d, entries %d: %s", b, s, dump[names.Credits.Name])
	}
	out, err := w.Tick(ctx, names.FnAudit)
	var audit struct {
		Total   int  `json:"total"`
		Partial bool `json:"partial"`
	}
	if err != nil || json.Unmarshal(out, &audit) != nil || audit.Total != 0 || audit.Partial {
		t.Errorf("the audit says %s, %v", out, err)
	}
	mails, err := w.Mails(ctx)
	if err != nil || len(mails) != 1 { // of the delivered one, before
		t.Errorf("%d mails, %v", len(mails), err)
	}
}
