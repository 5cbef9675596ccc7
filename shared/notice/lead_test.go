package notice_test

import (
	"strings"
	"testing"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/reason"
)

// Field case 20: a mail is read any time, in a browser that has no token. It leads
// to the app, or nowhere: never to the API, and never to what is signed.
func TestWhereAMailLeads(t *testing.T) {
	for _, end := range []analysis.Status{analysis.Ready, analysis.Rejected, analysis.Failed, analysis.Expired} {
		for app, want := range map[string]string{"https://app.example.com/x": "https://app.example.com/x?analysis=an-1", "": ""} {
			m, err := notice.Render(analysis.Row{AnalysisID: "an-1", AthleteName: "Zoë", Status: end, Reason: string(reason.NotBowling)}, app)
			if err != nil {
				t.Fatal(err)
			}
			for form, body := range map[string]string{"text": m.Text, "HTML": m.HTML} {
				if strings.Contains(body, "/v1/") || strings.Contains(body, "X-Amz") || strings.Contains(body, "token") {
					t.Errorf("%s of %s: %s", form, end, body)
				}
				if n := strings.Count(body, "://"); (n > 0) != (want != "") || !strings.Contains(body, want) {
					t.Errorf("%s of %s leads %d times to %q: %s", form, end, n, want, body)
				}
				if app == "" && !strings.Contains(body, "Open the FastBowlingLab app") {
					t.Errorf("%s of %s without an app's address does not say where to look: %s", form, end, body)
				}
				if !strings.Contains(body, "Reference: an-1") || !strings.Contains(body, "FastBowlingLab") || !strings.Contains(body, "because your address was given") {
					t.Errorf("%s of %s does not say what it is about, who writes, or why: %s", form, end, body)
				}
			}
		}
	}
}
