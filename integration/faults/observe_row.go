package faults

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// analysis looks at a row that may have changed: I1, and with the end I2 and I4.
func (o *observer) analysis(c *virtual.Cloud, id string) {
	item, err := item(c, names.Analyses, analysis.Key(id))
	if err != nil || item == nil {
		return // reserved by a transaction that was refused in part: nothing is there
	}
	r, err := analysis.Decode(item)
	if err != nil {
		o.violation("I9", "row of %s: %v", id, err)
		return
	}
	was, known := o.rows[id]
	stood := o.items[id]
	o.rows[id], o.items[id] = r, item
	if r.Open != "" {
		o.closeBy[id] = r.Deadline
	}
	o.pins(was, r, known)
	if known && was.Status.Ended() {
		o.after(c, was, r, stood, item)
		return
	}
	if !r.Status.Ended() {
		return
	}
	if _, exec, ok := strings.Cut(r.EndedBy, "#"); ok {
		if of, attempt, ok := analysis.ParseExecutionName(exec); ok && of == id && attempt != r.Attempt {
			o.violation("I1", "%s is at attempt %d and was ended by %s", id, r.Attempt, r.EndedBy)
		}
	}
	l, err := ledger(c)
	if err != nil {
		o.violation("I2", "%s became %s, and its ledger cannot be read: %v", id, r.Status, err)
		return
	}
	if n := l.Charge(id); n != promises.Price(r.Status) {
		o.violation("I2", "%s became %s and is charged %d credits at that moment, want %d", id, r.Status, n, promises.Price(r.Status))
	}
	o.owed(c, r)
}

// pins looks whether what is analysed is what was confirmed: a clip stays the version
// that it was pinned to, and a rerun has those of its first.
func (o *observer) pins(was, r analysis.Row, known bool) {
	if known && !was.QueuedAt.IsZero() && !slices.Equal(was.Clips, r.Clips) {
		o.violation("I9", "%s was confirmed with %v and is now of %v", r.AnalysisID, was.Clips, r.Clips)
	}
	if first, ok := o.rows[r.RerunOf]; ok && !slices.Equal(first.Clips, r.Clips) {
		o.violation("I9", "%s is a rerun of %s with other clips: %v, and they were %v", r.AnalysisID, r.RerunOf, r.Clips, first.Clips)
	}
}

// after looks at a row that was written to after its end: the report may have been
// made again, which adds a revision and its notices; nothing else changes.
func (o *observer) after(c *virtual.Cloud, was, r analysis.Row, stood, item map[string]ddb.AttributeValue) {
	id := r.AnalysisID
	a, b := maps.Clone(stood), maps.Clone(item)
	delete(a, "revisions")
	delete(b, "revisions")
	if !reflect.DeepEqual(a, b) {
		o.violation("I1", "%s was %s %s by %s and is now %s %s by %s (%s)", id, was.Status, was.Reason, was.EndedBy, r.Status, r.Reason, r.EndedBy, changed(a, b))
	}
	n := len(was.Revisions)
	if slices.Equal(was.Revisions, r.Revisions) {
		return
	}
	if r.Status != analysis.Ready || len(r.Revisions) != n+1 || !slices.Equal(was.Revisions, r.Revisions[:n]) || r.Revisions[n].Number != n+1 {
		o.violation("I1", "%s is %s and had %d revisions; now they are %v", id, r.Status, n, r.Revisions)
		return
	}
	o.run(c, r.Revisions[n], id)
	if first, twice := was.Revised(r.Revisions[n].Name); twice {
		o.violation("I1", "revision %s of %s is there as number %d, and now as %d", first.Name, id, first.Number, n+1)
	}
	o.owed(c, r)
}

// owed looks whether what an analysis's athlete has to be told is in the outbox at
// the moment in which it becomes so.
func (o *observer) owed(c *virtual.Cloud, r analysis.Row) {
	ns, err := notices(c, r.AnalysisID)
	if err != nil {
		o.violation("I4", "%s became %s, and its notices cannot be read: %v", r.AnalysisID, r.Status, err)
		return
	}
	if want := promises.Due(o.toTell(r)); len(ns) != len(want) {
		o.violation("I4", "%s became %s with %d notices in the outbox, want %v", r.AnalysisID, r.Status, len(ns), want)
	}
}

// changed lists the attributes that differ.
func changed(was, is map[string]ddb.AttributeValue) string {
	var out []string
	for k := range was {
		if !reflect.DeepEqual(was[k], is[k]) {
			out = append(out, k)
		}
	}
	for k := range is {
		if _, ok := was[k]; !ok {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
