package promises

import (
	"fmt"
	"slices"
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
)

// Left is what a run has left of one analysis.
type Left struct {
	Row     analysis.Row
	CloseBy time.Time // when it had to have its end, slack included
	Ledger  Ledger    // its athlete's
	Notices []outbox.Notice
	Left    func(notice string) int // mails or push events that left, by the notice's id
	Chose   bool                    // the athlete said how they want to be told, so that a notice may not be due
	Wins    []names.EndOut          // answers of functions that said that they had ended it
}

// ReadNotices decodes the notices of one analysis.
func ReadNotices(items []map[string]ddb.AttributeValue) (out []outbox.Notice, err error) {
	for _, it := range items {
		n, err := outbox.Decode(it)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// Check looks at one analysis: I2, I4, I8, I9.
func (l Left) Check(found Found) {
	r, id := l.Row, l.Row.AnalysisID
	if !r.Status.Ended() {
		found("I8", "%s is still %s, it had to have its end by %s", id, r.Status, l.CloseBy)
		return
	}
	if r.EndedAt.After(l.CloseBy) {
		found("I8", "%s ended at %s, it had to by %s", id, r.EndedAt, l.CloseBy)
	}
	if n := l.Ledger.Charge(id); n != Price(r.Status) {
		found("I2", "%s is %s and costs %d credits, want %d", id, r.Status, n, Price(r.Status))
	}
	for _, w := range l.Wins {
		if w.Status != string(r.Status) {
			found("I9", "a function said that it had ended %s as %s; it is %s", id, w.Status, r.Status)
		}
	}
	if r.Status == analysis.Ready && r.ReportPDF == "" {
		found("I9", "%s is ready without a report", id)
	}
	l.notice(found)
}

// Due lists the notices that an analysis has: of its end and of each revision of its
// report, on each channel that it asks for.
func Due(r analysis.Row) (ids []string) {
	kinds := []string{string(r.Status)}
	for i := range r.Revisions {
		kinds = append(kinds, fmt.Sprint("revised-", i+1))
	}
	for _, kind := range kinds {
		if r.Email == "" {
			ids = append(ids, kind+"#none")
		} else {
			ids = append(ids, kind+"#email")
		}
		if r.Push {
			ids = append(ids, kind+"#push")
		}
	}
	slices.Sort(ids)
	return ids
}

// notice looks at how the athlete was told: I4.
func (l Left) notice(found Found) {
	id, due := l.Row.AnalysisID, Due(l.Row)
	var have []string
	for _, n := range l.Notices {
		have = append(have, n.ID)
		l.one(n, found)
	}
	if slices.Sort(have); !slices.Equal(have, due) {
		found("I4", "%s is %s and has the notices %v, want %v", id, l.Row.Status, have, due)
	}
}

// one looks at one notice.
func (l Left) one(n outbox.Notice, found Found) {
	left := l.Left(n.ID)
	switch {
	case n.State == outbox.Sent && left != 1, (n.State == outbox.Refused || n.State == outbox.NotDue) && left != 0, n.State == outbox.Unknown && left > 1:
		found("I4", "notice %s of %s is %s, %d left", n.ID, l.Row.AnalysisID, n.State, left)
	case n.State == outbox.Owed || n.State == outbox.Claimed:
		found("I4", "notice %s of %s is still %s, in spite of the sweep", n.ID, l.Row.AnalysisID, n.State)
	case n.State == outbox.NotDue && n.Channel != outbox.None && !l.Chose:
		found("I4", "notice %s of %s is not due, and nobody chose so", n.ID, l.Row.AnalysisID)
	}
}

// Paid is what a run has left of one guarded paid call.
type Paid struct {
	Key       string // of the effect
	Sent      int    // calls that arrived
	Takeovers int
	Counted   int // rows of the bill
}

// Check looks at one paid call: I5.
func (p Paid) Check(found Found) {
	if p.Sent > 1+p.Takeovers || p.Takeovers > 1 {
		found("I5", "%d calls for %s after %d takeovers", p.Sent, p.Key, p.Takeovers)
	}
	if p.Counted < p.Sent {
		found("I5", "%d calls for %s, %d counted", p.Sent, p.Key, p.Counted)
	}
}

// Execution is one execution of a state machine.
type Execution struct{ Name, Input string }

// OneEach checks that nobody but the campaign itself (planted) started a second
// execution of an attempt: I1.
func OneEach(all []Execution, planted func(name string) bool, found Found) {
	seen := map[string]string{}
	for _, x := range all {
		if planted(x.Name) {
			continue
		}
		if was := seen[x.Input]; was != "" {
			found("I1", "two executions were started for %s: %s and %s", x.Input, was, x.Name)
		}
		seen[x.Input] = x.Name
	}
}
