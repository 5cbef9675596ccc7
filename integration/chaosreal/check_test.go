package chaosreal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/functions/audit"
	"fastbowlinglab/integration/promises"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/stamp"
)

var ended = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

type item = map[string]ddb.AttributeValue

func s(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }
func n(v int) ddb.AttributeValue    { return &ddb.AttributeValueMemberN{Value: fmt.Sprint(v)} }

func entry(kind string, credits int, id string) item {
	return item{"entry": s(kind + "#" + id), "kind": s(kind), "credits": n(credits), "analysis_id": s(id)}
}

func balance(v int) item { return item{"entry": s("balance"), "balance": n(v)} }

// id is that of the analysis of a seed, in the form that real ones have.
func id(seed uint64) string { return "an-" + strings.Repeat(string(rune('a'+seed)), 26) }

// schedule 1 was delivered after a worker had died; schedule 2 failed and was
// refunded, after it had been restarted and a foreign execution started.
func sound() remains {
	ready, failed := id(1), id(2)
	row := func(id, status string, attempt int, more item) item {
		it := item{"analysis_id": s(id), "athlete_id": s("athlete"), "email": s("a@example.com"), "status": s(status), "attempt": n(attempt), "ended_at": s(stamp.Format(ended)),
			"ended_by": s(fmt.Sprintf("deliver#%s-%d", id, attempt))}
		maps.Copy(it, more)
		return it
	}
	run := func(name, id string, attempt int) promises.Execution {
		return promises.Execution{Name: name, Input: fmt.Sprintf(`{"analysis_id":%q,"attempt":%d}`, id, attempt)}
	}
	one := left{seed: 1, id: ready, athlete: "athlete-1", email: "1@example.com", closeBy: ended.Add(time.Minute),
		item:    row(ready, "ready", 1, item{"report_pdf": s("report.pdf")}),
		entries: []item{entry("grant", granted, ""), entry("reserve", -1, ready), balance(0)},
		notices: []outbox.Notice{{AnalysisID: ready, ID: "ready#email", Kind: "ready", State: outbox.Sent}},
		runs:    []promises.Execution{run(ready+"-1", ready, 1)},
		wins:    []names.EndOut{{Status: "ready", Won: true}},
		job:     &posejob.Job{AnalysisID: ready, Attempt: 1, State: posejob.Done, Fence: 2, Redone: 1},
		bill:    []call{{"findings", "bedrock"}, {"coaching", "bedrock"}, {"precheck", "rules"}}}
	two := left{seed: 2, id: failed, athlete: "athlete-2", email: "2@example.com", closeBy: ended.Add(time.Minute),
		item:    row(failed, "failed", 2, item{"reason": s("internal")}),
		entries: []item{entry("grant", granted, ""), entry("reserve", -1, failed), entry("refund", 1, failed), balance(1)},
		notices: []outbox.Notice{{AnalysisID: failed, ID: "failed#email", Kind: "failed", State: outbox.Sent}},
		runs:    []promises.Execution{run(failed+"-1", failed, 1), run(foreignPrefix+failed+"-1-0", failed, 1), run(failed+"-2", failed, 2)},
		job: &posejob.Job{AnalysisID: failed, Attempt: 2, State: posejob.Claimed, Owner: "worker-9", Fence: 1,
			Until: ended}, // its owner was killed
		bill: []call{{"findings", "bedrock"}}}
	one.first, two.first = maps.Clone(one.item), maps.Clone(two.item)
	return remains{seed: 1, now: ended.Add(2 * time.Minute), each: []left{one, two}, analyses: []string{ready, failed}, told: []string{ready, failed},
		started: []string{ready, failed}, sent: 3, mails: []mail{
			{"1@example.com", "Your bowling analysis is ready", "Reference: " + ready},
			{"2@example.com", "Your bowling analysis was not finished", "Reference: " + failed}}}
}

// broken lists what a check found, as "I1/2" for a violation of I1 in seed 2.
func broken(t *testing.T, r remains) (out []string, details []promises.Violation) {
	t.Helper()
	err := r.check(func(seed uint64) promises.Found {
		return func(invariant, format string, args ...any) {
			out = append(out, fmt.Sprint(invariant, "/", seed))
			details = append(details, promises.Violation{Invariant: invariant, Detail: fmt.Sprintf(format, args...)})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return slices.Compact(out), details
}

// Each kind of damage is found, as the promise that it breaks and under the seed
// that shows it; a sound campaign has no finding. What package promises finds is
// tried there for every case, and here once for each thing that it is shown.
func TestEveryCheckFindsItsDamage(t *testing.T) {
	var seen []promises.Violation
	if got, what := broken(t, sound()); len(got) != 0 {
		t.Fatalf("a sound campaign: %v %v", got, what)
	}
	for _, tc := range []struct {
		name  string
		spoil func(r *remains, one, two *left)
		want  string
	}{
		{"AnEndThatChanged", func(_ *remains, one, _ *left) { one.item["reason"] = s("other") }, "I1/1"},
		{"AnEndTwice", func(_ *remains, _, two *left) { two.first["ended_by"] = s("cancel#athlete") }, "I1/2"},
		{"TwoExecutionsOfAnAttempt", func(_ *remains, one, _ *left) {
			one.runs = append(one.runs, promises.Execution{Name: "again", Input: one.runs[0].Input})
		}, "I1/1"},
		{"AnExecutionOfNobodys", func(r *remains, _, _ *left) { r.started = append(r.started, "") }, "I1/1"},
		{"ALedgerEntryMissing", func(_ *remains, _, two *left) { two.entries = slices.Delete(two.entries, 2, 3) }, "I2/2 I3/2"},
		{"AReadyOneRefunded", func(_ *remains, one, _ *left) {
			one.entries = []item{entry("grant", granted, ""), entry("reserve", -1, one.id), entry("refund", 1, one.id), balance(1)}
		}, "I2/1"},
		{"ASecondRefund", func(_ *remains, _, two *left) {
			two.entries[3] = balance(2)
			two.entries = append(two.entries, entry("refund", 1, two.id))
		}, "I2/2 I3/2"},
		{"ABalanceThatDoesNotAddUp", func(_ *remains, one, _ *left) { one.entries[2] = balance(4) }, "I3/1"},
		{"GrantedTwice", func(_ *remains, one, _ *left) {
			one.entries[2] = balance(1)
			one.entries = append(one.entries, entry("grant", granted, ""))
		}, "I3/1"},
		{"AnAnalysisMore", func(r *remains, _, _ *left) { r.analyses = append(r.analyses, id(3)) }, "I3/1"},
		{"ASecondNotice", func(_ *remains, _, two *left) { two.notices = append(two.notices, two.notices[0]) }, "I4/2"},
		{"ANoticeStillOwed", func(_ *remains, _, two *left) { two.notices[0].State = outbox.Owed }, "I4/2"},
		{"ANoticeOfNobodys", func(r *remains, _, _ *left) { r.told = append(r.told, id(3)) }, "I4/1"},
		{"AMailMissing", func(r *remains, _, _ *left) { r.mails = r.mails[:1] }, "I4/2"},
		{"ASecondMail", func(r *remains, _, _ *left) { r.mails = append(r.mails, r.mails[1]) }, "I4/2"},
		{"AMailOfAnotherEnd", func(r *remains, _, _ *left) {
			r.mails = append(r.mails, mail{"2@example.com", "Your bowling analysis is ready", "Reference: " + id(2)})
		}, "I4/2"},
		{"AMailOfAnotherAnalysis", func(r *remains, _, _ *left) { r.mails[1].text = "Reference: " + id(1) }, "I4/2"},
		{"AMailToNobody", func(r *remains, _, _ *left) {
			r.mails = append(r.mails, mail{"3@example.com", "Your bowling analysis is ready", "Reference: " + id(1)})
		}, "I4/1"},
		{"ACallMore", func(r *remains, _, _ *left) { r.sent++ }, "I5/1"},
		{"ABillRowMissing", func(_ *remains, one, _ *left) { one.bill = one.bill[1:] }, "I5/1"},
		{"ACallCountedAsAnotherProviders", func(_ *remains, one, _ *left) { one.bill[0].Provider = "rules" }, "I5/1"},
		{"APassThatDidNotGoOn", func(_ *remains, one, _ *left) { one.job.Redone = 2 }, "I5/1"},
		{"ALeaseThatIsNotFree", func(_ *remains, _, two *left) { two.job.Until = ended.Add(3 * time.Minute) }, "I6/2"},
		{"NoEnd", func(_ *remains, one, _ *left) {
			delete(one.item, "ended_at")
			one.item["status"], one.first = s("analysing"), nil
		}, "I4/1 I8/1"}, // and its mail says that it is ready
		{"AnEndTooLate", func(_ *remains, _, two *left) { two.closeBy = ended.Add(-time.Second) }, "I8/2"},
		{"AFunctionThatSaidWonAndHadNot", func(_ *remains, one, _ *left) { one.wins = append(one.wins, names.EndOut{Status: "failed", Won: true}) }, "I9/1"},
		{"ReadyWithoutAReport", func(_ *remains, one, _ *left) { delete(one.item, "report_pdf"); one.first = nil }, "I9/1"},
		{"FoundByTheAudit", func(r *remains, _, _ *left) {
			r.audit = audit.Report{Total: 2, Findings: []audit.Finding{{Invariant: "I5", Subject: id(2)}, {Invariant: "I3", Subject: "athlete-1"}}}
		}, "I3/1 I5/2"},
		{"AnAuditThatDidNotGetThrough", func(r *remains, _, _ *left) { r.audit.Partial = true }, "I9/1"},
		{"AnAuditThatCountsAndDoesNotList", func(r *remains, _, _ *left) { r.audit.Total = 1 }, "I9/1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := sound()
			tc.spoil(&r, &r.each[0], &r.each[1])
			got, what := broken(t, r)
			if strings.Join(got, " ") != tc.want {
				t.Errorf("found %v, want %s: %v", got, tc.want, what)
			}
			seen = append(seen, what...)
		})
	}
	untried, err := promises.Untried(".", seen)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range untried {
		if !strings.HasPrefix(u, "schedule.go") { // what a client says of its own errors
			t.Errorf("no case shows damage that this finds: %s", u)
		}
	}
}

// A row that cannot be read is no row without a fault.
func TestARowThatCannotBeRead(t *testing.T) {
	r := sound()
	r.each[0].item["attempt"] = s("x")
	if err := r.check(func(uint64) promises.Found { return func(string, string, ...any) {} }); err == nil {
		t.Error("the check passed over it")
	}
}
