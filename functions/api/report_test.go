package api_test

import (
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
