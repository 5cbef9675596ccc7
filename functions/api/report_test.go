package api_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/stamp"
)

// TestPicturesOfWhatWasMeasuredAgain: a revision has the pictures of the pose pass
// that its own result still names, and no others.
func TestPicturesOfWhatWasMeasuredAgain(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	id := w.confirmed("k")
	w.begin(id)
	if _, err := w.deps.Ends.Deliver(t.Context(), id, 1, "x", outcome.Report{PDFKey: "reports/p.pdf", JSONKey: "reports/p.json", ResultKey: names.PoseResultKey(id, 1, 3)}); err != nil {
		t.Fatal(err)
	}
	stays, moved := names.FrameKey(id, 1, 3, 0, "release"), names.FrameKey(id, 1, 3, 0, "run_up")
	w.bucket.put(stays, "jpeg")
	w.bucket.put(moved, "jpeg")
	pictures := func() (urls []string) {
		t.Helper()
		for _, p := range w.do(call{route: report, id: id}).want(t, 200, "").body["pictures"].([]any) {
			urls = append(urls, p.(map[string]any)["url"].(string))
		}
		return urls
	}
	if got := pictures(); len(got) != 2 {
		t.Errorf("as delivered: %q", got)
	}
	again := names.RevisedResultKey(id, 1, "measure-v2")
	w.bucket.put(again, `{"clips":[{"phases":[{"name":"run_up"},{"name":"release","frame_key":"`+stays+`"}]}]}`)
	v, err := stamp.MarshalMap(analysis.Revision{Number: 1, Name: "measure-v2", ReportPDF: "reports/r.pdf", ReportJSON: "reports/r.json", ResultKey: again, At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	set := "SET revisions = :v"
	if _, err := w.db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &names.Analyses.Name, Key: analysis.Key(id), UpdateExpression: &set,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":v": &ddb.AttributeValueMemberL{Value: []ddb.AttributeValue{&ddb.AttributeValueMemberM{Value: v}}}}}); err != nil {
		t.Fatal(err)
	}
	if got := pictures(); len(got) != 1 || !strings.Contains(got[0], stays) {
		t.Errorf("measured again: %q, want %s alone", got, stays)
	}
	delete(w.bucket.objects, again) // results are kept for a while only
	if got := pictures(); len(got) != 0 {
		t.Errorf("its result is gone: %q", got)
	}
}

func TestReport(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.confirmed("k")
	w.do(call{route: report, id: id}).want(t, 409, "report_not_ready")
	w.begin(id)
	if _, err := w.deps.Ends.Deliver(t.Context(), id, 1, "x", outcome.Report{PDFKey: "reports/p.pdf", JSONKey: "reports/p.json"}); err != nil {
		t.Fatal(err)
	}
	got := w.do(call{route: report, id: id}).want(t, 200, "")
	for member, key := range map[string]string{"report_pdf": "reports/p.pdf", "report_json": "reports/p.json"} {
		l := got.body[member].(map[string]any)
		u, err := url.Parse(l["url"].(string))
		if err != nil || !strings.HasSuffix(u.Path, key) || u.Query().Get("X-Amz-Expires") != "900" || u.Query().Get("X-Amz-Signature") == "" {
			t.Errorf("%s = %v, %v", member, l, err)
		}
	}
	failed := w.reserve("k2")
	w.do(call{route: cancel, id: failed}).want(t, 200, "")
	if p := w.do(call{route: report, id: failed}).want(t, 409, "no_report"); p.str("reason") != "cancelled" {
		t.Errorf("problem %s", p.Body)
	}
}

// TestReportRevisions: the newest report is served with its number; those before
// it stay.
func TestReportRevisions(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	id := w.confirmed("k")
	w.begin(id)
	if _, err := w.deps.Ends.Deliver(t.Context(), id, 1, "x", outcome.Report{PDFKey: "reports/p.pdf", JSONKey: "reports/p.json"}); err != nil {
		t.Fatal(err)
	}
	if got := w.do(call{route: report, id: id}).want(t, 200, ""); got.body["revision"] != 0.0 || got.body["changed"] != "" || len(got.body["revisions"].([]any)) != 1 {
		t.Errorf("as delivered: %s", got.Body)
	}
	v, err := stamp.MarshalMap(analysis.Revision{Number: 1, Name: "report-v2", Changed: "New words.", ReportPDF: "reports/r.pdf", ReportJSON: "reports/r.json", At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	set := "SET revisions = :v"
	if _, err := w.db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &names.Analyses.Name, Key: analysis.Key(id), UpdateExpression: &set,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":v": &ddb.AttributeValueMemberL{Value: []ddb.AttributeValue{&ddb.AttributeValueMemberM{Value: v}}}}}); err != nil {
		t.Fatal(err)
	}
	got := w.do(call{route: report, id: id}).want(t, 200, "")
	all := got.body["revisions"].([]any)
	if got.body["revision"] != 1.0 || got.body["changed"] != "New words." || len(all) != 2 {
		t.Fatalf("revised: %s", got.Body)
	}
	for i, want := range []string{"reports/p.pdf", "reports/r.pdf"} {
		u, err := url.Parse(all[i].(map[string]any)["report_pdf"].(map[string]any)["url"].(string))
		if err != nil || !strings.HasSuffix(u.Path, want) {
			t.Errorf("revision %d is at %v, %v; want %s", i, u, err, want)
		}
	}
	if u, err := url.Parse(got.body["report_pdf"].(map[string]any)["url"].(string)); err != nil || !strings.HasSuffix(u.Path, "reports/r.pdf") {
		t.Errorf("the newest is at %v, %v", u, err)
	}
}
