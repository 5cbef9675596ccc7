package faults

import (
	"encoding/json"
	"strings"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

// isRevision reports whether the request adds a revision to a row.
func (r *request) isRevision() bool {
	return r.op == "TransactWriteItems" && r.writes[0].table == names.Analyses.Name && strings.Contains(r.writes[0].expr(), "revisions = list_append")
}

// revisionGuards are those of reports that are made again. One run has an effect, and
// one worker an item, so that two meet only when one was given up: these worlds have
// more such runs than others (Guard.again).
func revisionGuards() []Guard {
	return []Guard{
		{quietGuard, "a revision is added once, to the row as it was read: neither the read nor the condition finds the one that is there, and nobody is told of it", "I1", 500,
			func(o *virtual.Options) {
				rewriting(func(r *request) {
					if r.isRevision() {
						r.dropCondition(0)
					}
				})(o)
				o.Reply = hideRevisions
			}},
		{redoGuard + "outbox", "the notices of a revision are rows of the transaction that adds it: here it is added alone", "I4", 20, rewriting(func(r *request) {
			if r.isRevision() {
				r.drop(names.Notices)
			}
		})},
		{redoGuard + "together", "a revision and its notices are written together: here one after the other", "I4", 20,
			func(o *virtual.Options) { o.Rewrite = splitting((*request).isRevision) }},
		{redoGuard + "notice-key", "the notice of a revision must be absent: the second line, shown with the first one (revision-row) off", "I4", 500,
			func(o *virtual.Options) {
				rewriting(func(r *request) {
					if r.isRevision() {
						r.dropCondition(0)
						r.dropPuts(names.Notices)
					}
				})(o)
				o.Reply = hideRevisions
			}},
		{redoGuard + "run", "a run adds revisions while it is open and has its effect's lease: the second line, shown with the first one off (a run is released " +
			"only when no worker can be at work on it)", "I6", 200, func(o *virtual.Options) {
			rewriting(func(r *request) {
				if r.isRevision() {
					r.dropOf(names.Runs)
					r.drop(names.Effects) // a check of a condition, and nothing else
				}
			})(o)
			o.Reply = hideWorkers
		}},
	}
}

// redoGuard begins the names of the guards of revisions; quietGuard is the one that
// is alone where nobody is told.
const (
	redoGuard  = "revision-"
	quietGuard = redoGuard + "row"
)

// again is the share of analyses whose reports are made again while the guard is
// off, and of those the share whose athletes are not told.
func (g Guard) again() (redoes, quiet float64) {
	switch {
	case g.Name == quietGuard:
		return 0.8, 1
	case strings.HasPrefix(g.Name, redoGuard):
		return 0.8, 0
	}
	return 0.07, 0.25
}

// dropOf drops the conditions of what is written to a table.
func (r *request) dropOf(t names.Table) {
	for i, w := range r.writes {
		if w.table == t.Name {
			r.dropCondition(i)
		}
	}
}

// hideRevisions lets the functions of a run that makes reports again read an analysis
// as if it had no revision.
func hideRevisions(c virtual.Call, reply []byte) []byte {
	if c.Op != "GetItem" || c.Table() != "analyses" || !strings.HasPrefix(c.Actor, "redo-") {
		return nil
	}
	var m map[string]any
	if json.Unmarshal(reply, &m) != nil {
		return nil
	}
	item, _ := m["Item"].(map[string]any)
	if item["revisions"] == nil {
		return nil
	}
	delete(item, "revisions")
	return encode(m)
}

// hideWorkers lets operators read a run's batches as if nobody were at work on them.
func hideWorkers(c virtual.Call, reply []byte) []byte {
	if c.Op != "Query" || c.Table() != "runs" || !strings.HasPrefix(c.Actor, "operator/") {
		return nil
	}
	var m map[string]any
	if json.Unmarshal(reply, &m) != nil {
		return nil
	}
	rows, _ := m["Items"].([]any)
	for _, r := range rows {
		delete(r.(map[string]any), "owner")
	}
	return encode(m)
}
