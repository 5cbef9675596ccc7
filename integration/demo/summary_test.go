package demo

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/usage"
)

func delivered(t *testing.T) Summary {
	t.Helper()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	tl := timeline(recorded(t, "delivered"))
	tl.Stages = append([]Stage{{Name: StageUpload, Took: 500 * time.Millisecond, Done: true}}, tl.Stages...)
	zero := "0.000000"
	return Summary{
		Clip: "bowler.mp4", AnalysisID: "an-1", Status: "ready", ReportPDF: ".local/out/an-1/report.pdf", ReportJSON: ".local/out/an-1/report.json",
		Entries: []credit.Entry{{Entry: "grant#1", Kind: credit.KindGrant, Credits: 1, At: at}, {Entry: "reserve#an-1", Kind: credit.KindReserve, Credits: -1, AnalysisID: "an-1", At: at}},
		Notices: []outbox.Notice{{Kind: "ready", Channel: outbox.Email, State: outbox.Sent}},
		Bill: usage.Bill{TotalUSD: "0.001230", Lines: []usage.Line{
			{Task: "precheck", Model: "rules", CostUSD: &zero, Tokens: usage.Tokens{Input: usage.Count(0), Output: usage.Count(0)}},
			{Task: "findings", Model: "rules", CostUSD: &zero, Tokens: usage.Tokens{Input: usage.Count(1200)}}}},
		Seconds: 26.4567, Total: 26500 * time.Millisecond, Timeline: tl,
	}
}

func TestSummaryForPeople(t *testing.T) {
	var out bytes.Buffer
	delivered(t).Print(&out, false)
	want := `
  Ready in 26.5 s   an-1
  .local/out/an-1/report.pdf
  .local/out/an-1/report.json

  Ledger  balance 0
    grant      +1   2026-03-01 09:00:00 UTC
    reserve    -1   2026-03-01 09:00:00 UTC

  Notices
    ready      by email   sent

  Model calls  $0.001230
    precheck   rules                          0 in       0 out   $0.000000
    findings   rules                       1200 in unknown out   $0.000000

  Where the time went  26.5 s
    upload                0.5 s  ▋
    start                 0.3 s  ▍
    precheck              2.0 s  ██▎
    wait for a worker     1.5 s  █▊
    pose pass            20.0 s  ██████████████████████▋
    findings              0.1 s  ▏
    coaching              0.1 s  ▏
    report                1.0 s  █▏
    end                   0.1 s  ▏
    between stages        0.9 s  █
    outside the stages' own work: 9.1 %

`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestSummaryOfARefund(t *testing.T) {
	for _, c := range []struct{ status, reason, message, want string }{
		{"rejected", "not_bowling", "We could not find a bowling action in this footage.", "Rejected in 3.0 s"},
		{"failed", "stage_failed", "", "Something went wrong on our side."},
	} {
		var out bytes.Buffer
		Summary{AnalysisID: "an-1", Status: c.status, Reason: c.reason, Message: c.message, Seconds: 3}.Print(&out, false)
		if !strings.Contains(out.String(), c.want) || !strings.Contains(out.String(), c.reason) || strings.Contains(out.String(), "report.pdf") {
			t.Errorf("got\n%s\nwant %q and %q", out.String(), c.want, c.reason)
		}
	}
}

func TestSummaryOfWhatHasNoEndYet(t *testing.T) {
	var out bytes.Buffer
	Summary{AnalysisID: "an-1", Status: "analysing"}.Print(&out, false)
	if !strings.Contains(out.String(), "Analysing") || strings.Contains(out.String(), "could not be finished") {
		t.Errorf("got\n%s", out.String())
	}
}

func TestSummaryForScripts(t *testing.T) {
	b, err := json.Marshal(delivered(t))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(b, '\n') {
		t.Error("more than one line")
	}
	var o map[string]json.RawMessage
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	keys := "analysis_id cost_usd entries model_calls notices reason report_json report_pdf seconds stages status"
	if got := strings.Join(slices.Sorted(maps.Keys(o)), " "); got != keys {
		t.Errorf("keys %s\nwant %s", got, keys)
	}
	for k, want := range map[string]string{
		"status": `"ready"`, "reason": `""`, "notices": "1", "model_calls": "2", "cost_usd": "0.001230", "seconds": "26.457",
		"stages": `{"upload":0.500,"start":0.300,"precheck":2.000,"queue":1.500,"pose":20.000,"findings":0.100,"coaching":0.100,"report":1.000,"end":0.100,"between":0.900}`,
	} {
		if string(o[k]) != want {
			t.Errorf("%s is %s, want %s", k, o[k], want)
		}
	}
	var entries []struct{ Kind string }
	if err := json.Unmarshal(o["entries"], &entries); err != nil || len(entries) != 2 || entries[0].Kind != "grant" || entries[1].Kind != "reserve" {
		t.Errorf("entries %s (%v)", o["entries"], err)
	}
}

func TestCostThatIsNotKnownIsNull(t *testing.T) {
	for _, b := range []usage.Bill{{}, {TotalUSD: "0.10", Unpriced: 1}} {
		out, err := json.Marshal(Summary{Bill: b})
		if err != nil || !strings.Contains(string(out), `"cost_usd":null`) || !strings.Contains(string(out), `"entries":[]`) {
			t.Errorf("%s (%v)", out, err)
		}
	}
}

// TestFault: a report and a refusal of the clip are ends that whoever runs the demo
// wants; an end by a fault of ours is one to look into.
func TestFault(t *testing.T) {
	for end, fault := range map[[2]string]bool{
		{"ready", ""}: false, {"rejected", "no_person"}: false, {"failed", "cancelled"}: false, {"expired", "not_uploaded"}: false, {"queued", ""}: false,
		{"failed", "stage_failed"}: true, {"failed", "pose_failed"}: true, {"failed", "outcome_unknown"}: true,
	} {
		if err := (Summary{AnalysisID: "an-1", Status: end[0], Reason: end[1]}).Fault(); (err != nil) != fault {
			t.Errorf("%v: %v, want a fault: %v", end, err, fault)
		}
	}
}
