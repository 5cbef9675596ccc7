package promises_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
)

func s(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }
func n(v int) ddb.AttributeValue    { return &ddb.AttributeValueMemberN{Value: fmt.Sprint(v)} }

func entry(kind string, credits int, id string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"entry": s(kind + "#" + id), "kind": s(kind), "credits": n(credits), "analysis_id": s(id)}
}

func balance(v int) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"entry": s("balance"), "balance": n(v)}
}

type items = []map[string]ddb.AttributeValue

func ledger(t *testing.T, it items) promises.Ledger {
	t.Helper()
	l, err := promises.ReadLedger(it)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// seen is everything that was found in this test run.
var seen []promises.Violation

// collect gives what a check found, as "I1 ... | I2 ...".
func collect(check func(promises.Found)) string {
	var out []string
	check(func(invariant, format string, args ...any) {
		seen = append(seen, promises.Violation{Invariant: invariant, Detail: fmt.Sprintf(format, args...)})
		out = append(out, invariant+" "+fmt.Sprintf(format, args...))
	})
	return strings.Join(out, " | ")
}

func TestLedger(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		items      items
	}{
		{"Sound", "", items{entry("grant", 2, ""), entry("reserve", -1, "a"), entry("refund", 1, "a"), balance(2)}},
		{"DoesNotAddUp", "I3 balance 5, entries add up to 1", items{entry("grant", 1, ""), balance(5)}},
		{"Negative", "I3 balance -1", items{entry("reserve", -1, "a"), balance(-1)}},
		{"TwoRefunds", "I3 2 refunds of a", items{entry("refund", 1, "a"), entry("refund", 1, "a"), balance(2)}},
		{"TwoReservations", "I3 2 reservations of a", items{entry("grant", 2, ""), entry("reserve", -1, "a"), entry("reserve", -1, "a"), balance(0)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := collect(ledger(t, tc.items).Check); got != tc.want {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

// but says that one of each notice left, but of one so many.
func but(notice string, n int) func(string) int {
	return func(id string) int {
		if id == notice {
			return n
		}
		return 1
	}
}

func TestLeft(t *testing.T) {
	end := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	sound := func(st analysis.Status) promises.Left {
		it := items{entry("grant", 1, ""), entry("reserve", -1, "a")}
		if st != analysis.Ready {
			it = append(it, entry("refund", 1, "a"))
		}
		row := analysis.Row{AnalysisID: "a", Status: st, EndedAt: end, Email: "a@example.com", Push: true}
		row.ReportPDF = "report.pdf"
		return promises.Left{Row: row, CloseBy: end.Add(time.Hour), Ledger: ledger(t, it), Left: func(string) int { return 1 },
			Notices: []outbox.Notice{{ID: string(st) + "#email", State: outbox.Sent}, {ID: string(st) + "#push", State: outbox.Sent}}, Wins: []names.EndOut{{Status: string(st), Won: true}}}
	}
	for _, tc := range []struct {
		name, want string
		status     analysis.Status
		spoil      func(*promises.Left)
	}{
		{"Ready", "", analysis.Ready, func(*promises.Left) {}},
		{"Failed", "", analysis.Failed, func(*promises.Left) {}},
		{"Open", "I8", analysis.Ready, func(l *promises.Left) { l.Row.Status = analysis.Analysing }},
		{"Late", "I8", analysis.Ready, func(l *promises.Left) { l.CloseBy = end.Add(-time.Second) }},
		{"Free", "I2", analysis.Ready, func(l *promises.Left) {
			l.Ledger = ledger(t, items{entry("reserve", -1, "a"), entry("refund", 1, "a")})
		}},
		{"NotRefunded", "I2", analysis.Failed, func(l *promises.Left) { l.Ledger = ledger(t, items{entry("reserve", -1, "a")}) }},
		{"NoNotice", "I4", analysis.Ready, func(l *promises.Left) { l.Notices = nil }},
		{"NoPush", "I4", analysis.Ready, func(l *promises.Left) { l.Notices = l.Notices[:1] }},
		{"TwoNotices", "I4", analysis.Ready, func(l *promises.Left) { l.Notices = append(l.Notices, l.Notices[0]) }},
		{"NoticeOfAnotherEnd", "I4", analysis.Ready, func(l *promises.Left) { l.Notices[0].ID = "failed#email" }},
		{"NoticeToNobody", "I4", analysis.Ready, func(l *promises.Left) { l.Row.Email = "" }},
		{"Revised", "", analysis.Ready, func(l *promises.Left) {
			l.Row.Revisions = []analysis.Revision{{Number: 1}}
			for _, ch := range []string{"email", "push"} {
				l.Notices = append(l.Notices, outbox.Notice{ID: "revised-1#" + ch, State: outbox.Sent})
			}
		}},
		{"RevisedUntold", "I4", analysis.Ready, func(l *promises.Left) { l.Row.Revisions = []analysis.Revision{{Number: 1}} }},
		{"SentAndNothingLeft", "I4", analysis.Ready, func(l *promises.Left) { l.Left = but("ready#push", 0) }},
		{"TwoMails", "I4", analysis.Ready, func(l *promises.Left) { l.Left = but("ready#email", 2) }},
		{"UnknownAndOneMail", "", analysis.Ready, func(l *promises.Left) { l.Notices[0].State = outbox.Unknown }},
		{"UnknownAndTwoMails", "I4", analysis.Ready, func(l *promises.Left) { l.Notices[0].State = outbox.Unknown; l.Left = but("ready#email", 2) }},
		{"StillOwed", "I4", analysis.Ready, func(l *promises.Left) { l.Notices[0].State = outbox.Owed }},
		{"NotWanted", "", analysis.Ready, func(l *promises.Left) {
			l.Notices[0].State, l.Chose = outbox.NotDue, true
			l.Left = but("ready#email", 0)
		}},
		{"NotDueAndSent", "I4", analysis.Ready, func(l *promises.Left) { l.Notices[0].State, l.Chose = outbox.NotDue, true }},
		{"NotDueAndNobodyChose", "I4", analysis.Ready, func(l *promises.Left) { l.Notices[0].State = outbox.NotDue; l.Left = but("ready#email", 0) }},
		{"WonAnotherEnd", "I9", analysis.Ready, func(l *promises.Left) { l.Wins = append(l.Wins, names.EndOut{Status: "failed", Won: true}) }},
		{"NoReport", "I9", analysis.Ready, func(l *promises.Left) { l.Row.ReportPDF = "" }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := sound(tc.status)
			tc.spoil(&l)
			if got := collect(l.Check); tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) || strings.Contains(got, " | ") {
				t.Errorf("found %q, want %q alone", got, tc.want)
			}
		})
	}
}

func TestPaidAndExecutions(t *testing.T) {
	for _, tc := range []struct {
		paid promises.Paid
		want string
	}{
		{promises.Paid{Key: "k", Sent: 1, Counted: 1}, ""},
		{promises.Paid{Key: "k", Sent: 2, Takeovers: 1, Counted: 2}, ""},
		{promises.Paid{Key: "k", Sent: 2, Counted: 2}, "I5 2 calls for k after 0 takeovers"},
		{promises.Paid{Key: "k", Sent: 1, Takeovers: 2, Counted: 1}, "I5 1 calls for k after 2 takeovers"},
		{promises.Paid{Key: "k", Sent: 1}, "I5 1 calls for k, 0 counted"},
	} {
		if got := collect(tc.paid.Check); got != tc.want {
			t.Errorf("%+v: found %q, want %q", tc.paid, got, tc.want)
		}
	}
	all := []promises.Execution{{Name: "a-1", Input: "1"}, {Name: "foreign", Input: "1"}, {Name: "a-2", Input: "2"}}
	planted := func(name string) bool { return name == "foreign" }
	if got := collect(func(f promises.Found) { promises.OneEach(all, planted, f) }); got != "" {
		t.Errorf("found %q", got)
	}
	if got := collect(func(f promises.Found) { promises.OneEach(all, func(string) bool { return false }, f) }); got != "I1 two executions were started for 1: a-1 and foreign" {
		t.Errorf("found %q", got)
	}
}

// No check of this package was left untried by the tests above.
func TestEveryCheckWasSeenToFail(t *testing.T) {
	if len(seen) == 0 {
		t.Skip("the tests of the checks did not run")
	}
	untried, err := promises.Untried(".", seen)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range untried {
		t.Errorf("no test shows damage that this finds: %s", u)
	}
}

func TestUntried(t *testing.T) {
	dir := t.TempDir()
	src := "package x\n\nfunc f(found func(string, string, ...any), err error) {\n\tfound(\"I1\", \"%s ended twice\", \"a\")\n" +
		"\tfound(\"I2\", \"%d credits\", 1)\n\tfound(\"I9\", \"read: %v\", err)\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := promises.Untried(dir, []promises.Violation{{Invariant: "I1", Detail: "an-1 ended twice"}, {Invariant: "I3", Detail: "2 credits"}})
	if want := "x.go: I2 %d credits"; err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
