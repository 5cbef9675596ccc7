package deliver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"

	"fastbowlinglab/functions/deliver"
	"fastbowlinglab/functions/reject"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
)

func invoke(t *testing.T, fn lambda.Handler, payload string) (out names.EndOut, errType string) {
	t.Helper()
	b, err := fn.Invoke(t.Context(), []byte(payload))
	var e messages.InvokeResponse_Error
	if errors.As(err, &e) {
		return out, e.Type
	}
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, ""
}

// Incident A: a stale verdict must not demote a delivered report.
func TestDeliverAgainstReject(t *testing.T) {
	server := dynamotest.Start(t)
	db := server.Client()
	l := credit.Store{DB: db, Credits: names.Credits.Name, Effects: names.Effects.Name}
	if _, err := l.Enter(t.Context(), credit.Grant{AthleteID: "a", Credits: 1, Operator: "op", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	life := analysis.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name}
	r, _, err := life.Create(t.Context(), "a", "k", analysis.Submission{Clips: []analysis.Clip{{Name: "c"}}})
	if err == nil {
		_, err = life.Queue(t.Context(), r.AnalysisID, r.Clips)
	}
	if err == nil {
		_, err = life.Begin(t.Context(), r.AnalysisID, 1, analysis.ExecutionName(r.AnalysisID, 1), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	ends := outcome.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Notices: names.Notices.Name}
	good := fmt.Sprintf(`{"analysis_id":%q,"attempt":1,"pdf_key":"p","json_key":"j","result_key":"r"}`, r.AnalysisID)
	bad := fmt.Sprintf(`{"analysis_id":%q,"attempt":1,"reason":"not_bowling"}`, r.AnalysisID)

	if out, errType := invoke(t, reject.New(ends), fmt.Sprintf(`{"analysis_id":%q,"attempt":1,"reason":"ugly"}`, r.AnalysisID)); errType != string(fault.Permanent) {
		t.Errorf("reject without a known reason: %+v %q", out, errType)
	}
	for range 2 { // a repeat by the same execution is told that its end stands
		if out, errType := invoke(t, deliver.New(ends), good); errType != "" || !out.Won || out.Status != "ready" {
			t.Errorf("deliver: %+v %s", out, errType)
		}
	}
	if out, errType := invoke(t, reject.New(ends), bad); errType != "" || out.Won || out.Status != "ready" {
		t.Errorf("reject after the delivery: %+v %s", out, errType)
	}
	other := fmt.Sprintf(`{"analysis_id":%q,"attempt":1,"execution":"twin","pdf_key":"p2","json_key":"j2","result_key":"r2"}`, r.AnalysisID)
	if out, errType := invoke(t, deliver.New(ends), other); errType != "" || out.Won || out.Status != "ready" {
		t.Errorf("another execution's delivery: %+v %s", out, errType)
	}
	row, err := life.Get(t.Context(), r.AnalysisID)
	if err != nil || row.ReportPDF != "p" || row.ReportJSON != "j" || row.ResultKey != "r" {
		t.Errorf("row %+v, %v", row, err)
	}
	if led, err := l.Read(t.Context(), "a"); err != nil || led.Balance != 0 || len(led.Entries) != 2 {
		t.Errorf("ledger %+v, %v; want no refund", led, err)
	}

	lossy := ends
	lossy.DB = server.Faulty(&dynamotest.Faults{Next: dynamotest.First(99, "GetItem", dynamotest.NotDone)})
	if _, errType := invoke(t, deliver.New(lossy), good); errType != string(fault.Transient) {
		t.Errorf("database out of reach: %q, want Transient", errType)
	}
	for _, payload := range []string{`{}`, `{"analysis_id":"an-x","attempt":1}`, `{"analysis_id":"an-x","attempt":1,"pdf_key":"p","json_key":"j"}`} {
		if _, errType := invoke(t, deliver.New(ends), payload); errType != string(fault.Permanent) {
			t.Errorf("%s: %q, want Permanent", payload, errType)
		}
	}
}
