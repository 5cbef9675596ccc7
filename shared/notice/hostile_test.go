package notice_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/notice"
)

// Whoever has a credit may have a mail sent to any address, with any name in it.
// A name that would become a link looks the same and is none; other names stay as
// they are.
func TestNamesThatAreLinks(t *testing.T) {
	render := func(name string) notice.Message {
		t.Helper()
		m, err := notice.Render(analysis.Row{AnalysisID: "an-1", AthleteName: name, Status: analysis.Failed, Reason: "cancelled"}, "https://api.example")
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, bad := range []string{"You won! evil.example", "http://evil", "www.evil", "a@evil.example", "evil.example/x", "EVIL.COM", "ftp://e",
		"बुरा.भारत", "evil。example"} {
		m := render(bad)
		if strings.Contains(m.Text, bad) || strings.Contains(m.HTML, bad) {
			t.Errorf("%q gets into the mail as it is: %q", bad, m.Text)
		}
		if !strings.Contains(strings.ReplaceAll(m.Text, "\u2060", ""), bad) {
			t.Errorf("%q is not shown: %q", bad, m.Text)
		}
		if n := strings.Count(m.HTML, "<a "); n != 1 {
			t.Errorf("%d links", n)
		}
	}
	good := []string{"A. Bowler", "A.B. de Villiers", "Zoë", "O'Neill-Smith Jr.", "محمد", "பந்துவீச்சாளர்", "李 小龙", "J.P."}
	if b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "cases", "payloads", "n_names.json")); err == nil {
		var all []string
		_ = json.Unmarshal(b, &all) // another form is no fault of ours
		for _, n := range all {
			if n != "" && !strings.ContainsAny(n, "\r\n<&\"@") {
				good = append(good, n)
			}
		}
	}
	for _, name := range good {
		if m := render(name); !strings.Contains(m.Text, name) && !strings.ContainsAny(name, "\r\n") {
			t.Errorf("%q is left out: %q", name, m.Text)
		}
	}
}
