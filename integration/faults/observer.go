package faults

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/posejob"
)

// Violation is a promise that did not hold.
type Violation = promises.Violation

// observer looks at the tables after every write that was carried out, between
// two requests, so that nothing that stood for a moment escapes it.
type observer struct {
	mu       sync.Mutex
	found    []Violation
	rows     map[string]analysis.Row // as last seen
	items    map[string]map[string]ddb.AttributeValue
	closeBy  map[string]time.Time // deadline of an open row, as last seen
	jobs     map[string]posejob.Job
	saved    map[string]int64 // fence under which a checkpoint was first saved, by analysis, attempt and id
	sent     map[string]int   // mails and push events, by analysis and notice
	proceeds map[string]string
	owners   map[string]string            // the worker that claimed, by analysis and fence
	chose    bool                         // the athlete said how they want to be told
	quiet    map[string]bool              // analyses of whose revisions nobody is to be told
	atWork   func(worker, id string) bool // a worker that was never stopped, in its pass of an analysis
	wins     map[string][]names.EndOut    // answers that said "won", by analysis
	told     map[string]outbox.State      // of notices, as last seen
	effects  map[string]*claims           // paid effects, by key
	bills    map[string]bill              // of them, in the end
}

func newObserver() *observer {
	return &observer{rows: map[string]analysis.Row{}, items: map[string]map[string]ddb.AttributeValue{}, closeBy: map[string]time.Time{}, jobs: map[string]posejob.Job{},
		saved: map[string]int64{}, sent: map[string]int{}, proceeds: map[string]string{}, owners: map[string]string{}, wins: map[string][]names.EndOut{},
		quiet: map[string]bool{}, told: map[string]outbox.State{}, effects: map[string]*claims{}, bills: map[string]bill{}}
}

// violation notes one; the caller holds the lock.
func (o *observer) violation(invariant, format string, args ...any) {
	v := Violation{Invariant: invariant, Detail: fmt.Sprintf(format, args...)}
	if len(o.found) < 20 && !slices.Contains(o.found, v) {
		o.found = append(o.found, v)
	}
}

// tell notes a violation that the schedule itself saw.
func (o *observer) tell(invariant, format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.violation(invariant, format, args...)
}

var analysisID = regexp.MustCompile(`"analysis_id":\{"S":"(an-[a-z2-7]{26})"\}`)

// observe implements virtual.Options.Observe.
func (o *observer) observe(c *virtual.Cloud, call virtual.Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case call.Service == "ses":
		o.mail(call)
	case call.Service == "sns":
		o.push(call)
	case call.Service != "dynamodb" || !slices.Contains([]string{"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}, call.Op):
	default:
		o.written(c, call)
	}
}

func (o *observer) written(c *virtual.Cloud, call virtual.Call) {
	body := string(call.Body)
	on := func(t names.Table) bool { return strings.Contains(body, `"`+t.Name+`"`) }
	var ids []string
	for _, m := range analysisID.FindAllStringSubmatch(body, -1) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	if on(names.Analyses) {
		for _, id := range ids {
			o.analysis(c, id)
		}
	}
	if on(names.Credits) {
		o.credits(c)
	}
	if on(names.Notices) {
		for _, id := range ids {
			o.outbox(c, id)
		}
	}
	if on(names.Effects) {
		for _, m := range modelEffect.FindAllStringSubmatch(body, -1) {
			o.effect(c, m[1])
		}
	}
	if on(names.PoseJobs) {
		for _, id := range ids {
			o.job(c, id, call)
		}
	}
}

// open reports whether some analysis has no end yet.
func (o *observer) open() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.rows {
		if !r.Status.Ended() {
			return true
		}
	}
	return false
}

// toTell is an analysis without the revisions of which nobody is to be told; the
// caller holds the lock.
func (o *observer) toTell(r analysis.Row) analysis.Row {
	if o.quiet[r.AnalysisID] {
		r.Revisions = nil
	}
	return r
}

// ids lists the analyses, in order.
func (o *observer) ids() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.rows))
}

// row gives an analysis as last seen.
func (o *observer) row(id string) analysis.Row {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rows[id]
}
