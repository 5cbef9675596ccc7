package chaosreal

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/functions/audit"
	"fastbowlinglab/integration/promises"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/posejob"
)

// remains is what a campaign has left, as it was read: check looks at nothing
// else, so that it can be shown what a sound campaign leaves, and damaged ones.
type remains struct {
	seed     uint64 // of the campaign, for what belongs to no schedule
	now      time.Time
	each     []left
	analyses []string // ids of all rows of their table
	told     []string // ids of the analyses that the outbox has rows of
	started  []string // ids of the analyses that executions were started for
	mails    []mail   // all that left
	sent     int      // calls that the model took
	audit    audit.Report
}

// left is what it has left of one schedule.
type left struct {
	seed    uint64
	id      string
	athlete string
	email   string
	closeBy time.Time // when it had to have its end

	first   map[string]ddb.AttributeValue // its row as first seen with its end; nil: it was not
	item    map[string]ddb.AttributeValue // its row
	entries []map[string]ddb.AttributeValue
	notices []outbox.Notice
	runs    []promises.Execution
	wins    []names.EndOut
	job     *posejob.Job // nil: it came to none
	bill    []call
}

// mail is a mail as its reader sees it.
type mail struct{ to, subject, text string }

// call is one row of a bill.
type call struct {
	Task     string `dynamodbav:"task"`
	Provider string `dynamodbav:"provider"`
}

// executions counts those of all schedules.
func (r remains) executions() (n int) {
	for _, l := range r.each {
		n += len(l.runs)
	}
	return n
}

// check looks at every promise. found gives who is told of what breaks one, by
// the seed of the schedule.
func (r remains) check(found func(seed uint64) promises.Found) error {
	counted := 0
	for _, l := range r.each {
		mails := r.mailsOf(l, found(l.seed))
		if err := l.check(mails, r.now, found(l.seed)); err != nil {
			return err
		}
		for _, c := range l.bill {
			if c.Provider == aitask.BedrockProvider {
				counted++
			}
		}
	}
	if r.sent > counted {
		found(r.seed)("I5", "the model took %d calls and %d are counted", r.sent, counted)
	}
	r.strangers(found(r.seed))
	r.audited(found)
	return nil
}

// check looks at one analysis.
func (l left) check(mails int, now time.Time, found promises.Found) error {
	row, err := analysis.Decode(l.item)
	if err != nil {
		return fmt.Errorf("row of %s: %w", l.id, err)
	}
	if l.first != nil && !reflect.DeepEqual(l.item, l.first) {
		found("I1", "%s is not as it was first seen with its end: now %s by %s", l.id, row.Status, row.EndedBy)
	}
	ledger, err := promises.ReadLedger(l.entries)
	if err != nil {
		return err
	}
	ledger.Check(found)
	if in := -ledger.Charge(""); in != granted {
		found("I3", "%d credits came into the ledger of %s, %d were granted", in, l.athlete, granted)
	}
	promises.Left{Row: row, CloseBy: l.closeBy, Ledger: ledger, Notices: l.notices, Left: func(string) int { return mails }, Wins: l.wins}.Check(found)
	promises.OneEach(l.runs, func(name string) bool { return strings.HasPrefix(name, foreignPrefix) }, found)
	l.pass(now, found)
	return nil
}

// pass checks the pose job: a pass goes on where it was, so that at most one
// chunk is done again for each claim after the first (I5); and when everything is
// over nobody holds its lease any more (I6).
func (l left) pass(now time.Time, found promises.Found) {
	j := l.job
	if j == nil {
		return
	}
	if int64(j.Redone) > max(j.Fence-1, 0) {
		found("I5", "%d chunks of %s were done again under %d claims", j.Redone, l.id, j.Fence)
	}
	if j.Live(now, names.ClockSkew) {
		found("I6", "%s holds the pose job of %s until %s, and %s has long had its end", j.Owner, l.id, j.Until, l.id)
	}
}

// mailsOf counts the mails that tell of the end that stands; every other one to
// the same address is a violation.
func (r remains) mailsOf(l left, found promises.Found) (n int) {
	row, err := analysis.Decode(l.item)
	if err != nil {
		return 0 // check says so
	}
	for _, m := range r.mails {
		if m.to != l.email {
			continue
		}
		want, err := notice.Render(row, "")
		if err != nil || m.subject != want.Subject || !strings.Contains(m.text, l.id) {
			found("I4", "a mail says %q of %s, which is %s", m.subject, l.id, row.Status)
			continue
		}
		n++
	}
	return n
}

// strangers checks that there is nothing beside what the schedules asked for.
func (r remains) strangers(found promises.Found) {
	ours, addresses := map[string]bool{}, map[string]bool{}
	for _, l := range r.each {
		ours[l.id], addresses[l.email] = true, true
	}
	for _, id := range r.analyses {
		if !ours[id] {
			found("I3", "there is an analysis %s that no client was told of", id)
		}
	}
	for _, id := range r.told {
		if !ours[id] {
			found("I4", "a notice tells of %s, which no client was told of", id)
		}
	}
	for _, id := range r.started {
		if !ours[id] {
			found("I1", "an execution was started for %q, which no client was told of", id)
		}
	}
	for _, m := range r.mails {
		if !addresses[m.to] {
			found("I4", "a mail %q went to %s, which is nobody's address", m.subject, m.to)
		}
	}
}

// audited takes over what the audit function found in the tables.
func (r remains) audited(found func(seed uint64) promises.Found) {
	for _, f := range r.audit.Findings {
		found(r.seedOf(f.Subject))(f.Invariant, "the audit: %s %s", f.Subject, f.What)
	}
	if r.audit.Total > 0 && len(r.audit.Findings) == 0 {
		found(r.seed)("I9", "the audit counts %d findings and lists none", r.audit.Total)
	}
	if r.audit.Partial {
		found(r.seed)("I9", "the audit did not get through")
	}
}

// seedOf finds the schedule of an analysis or athlete.
func (r remains) seedOf(subject string) uint64 {
	for _, l := range r.each {
		if strings.Contains(subject, l.id) || subject == l.athlete {
			return l.seed
		}
	}
	return r.seed
}
