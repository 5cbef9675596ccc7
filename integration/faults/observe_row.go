package faults

import (
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
	if known && was.Status.Ended() {
		if !reflect.DeepEqual(item, stood) {
			o.violation("I1", "%s was %s %s by %s and is now %s %s by %s (%s)", id, was.Status, was.Reason, was.EndedBy, r.Status, r.Reason, r.EndedBy, changed(stood, item))
		}
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
		return
	}
	if n := l.Charge(id); n != promises.Price(r.Status) {
		o.violation("I2", "%s became %s and is charged %d credits at that moment, want %d", id, r.Status, n, promises.Price(r.Status))
	}
	ns, err := notices(c, id)
	if err == nil && len(ns) != 1 {
		o.violation("I4", "%s became %s with %d notices in the outbox, want 1", id, r.Status, len(ns))
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
