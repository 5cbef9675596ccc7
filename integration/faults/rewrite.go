package faults

import (
	"encoding/json"
	"fmt"
	"strings"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

// request is a DynamoDB write that can be edited.
type request struct {
	op      string
	actor   string
	body    map[string]any
	writes  []*write
	changed bool
}

// write is one write of a request: the request itself, or a part of a transaction.
type write struct {
	kind  string // Put, Update, ConditionCheck; of a lone request PutItem, UpdateItem
	table string
	m     map[string]any
}

func (w *write) cond() string { s, _ := w.m["ConditionExpression"].(string); return s }
func (w *write) expr() string { s, _ := w.m["UpdateExpression"].(string); return s }

// parse reads a write; nil when c is none.
func parse(c virtual.Call) *request {
	r := &request{op: c.Op, actor: c.Actor}
	if json.Unmarshal(c.Body, &r.body) != nil {
		return nil
	}
	add := func(kind string, m map[string]any) {
		t, _ := m["TableName"].(string)
		r.writes = append(r.writes, &write{kind, t, m})
	}
	switch c.Op {
	case "PutItem", "UpdateItem":
		add(c.Op, r.body)
	case "TransactWriteItems":
		parts, _ := r.body["TransactItems"].([]any)
		for _, p := range parts {
			for kind, m := range p.(map[string]any) {
				add(kind, m.(map[string]any))
			}
		}
	default:
		return nil
	}
	return r
}

// rewrite gives the edited request, or nil when nothing was edited.
func rewrite(c virtual.Call, edit func(*request)) [][]byte {
	r := parse(c)
	if r == nil {
		return nil
	}
	if edit(r); !r.changed {
		return nil
	}
	return [][]byte{encode(r.body)}
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return b
}

// only gives the write of a request that is a lone op on a table.
func (r *request) only(op string, t names.Table) *write {
	if r.op == op && r.writes[0].table == t.Name {
		return r.writes[0]
	}
	return nil
}

// isEnd reports whether the request ends an analysis.
func (r *request) isEnd() bool {
	return r.op == "TransactWriteItems" && r.writes[0].table == names.Analyses.Name && strings.Contains(r.writes[0].expr(), "ended_at")
}

// isCreate reports whether the request creates an analysis: row, balance, entry.
func (r *request) isCreate() bool {
	return r.op == "TransactWriteItems" && r.writes[0].table == names.Analyses.Name && r.writes[0].kind == "Put"
}

// starts reports whether the request is a transaction that begins with an effect's
// row of this kind.
func (r *request) starts(prefix string) bool {
	return r.op == "TransactWriteItems" && r.writes[0].kind == "Put" && r.writes[0].table == names.Effects.Name &&
		strings.HasPrefix(attribute(r.writes[0].m["Item"], names.Effects.PartitionKey), prefix)
}

// attribute is a string attribute of an item or a key.
func attribute(item any, name string) string {
	m, _ := item.(map[string]any)
	v, _ := m[name].(map[string]any)
	s, _ := v["S"].(string)
	return s
}

// dropPuts drops the conditions of what is put into these tables.
func (r *request) dropPuts(tables ...names.Table) {
	for i, w := range r.writes {
		for _, t := range tables {
			if w.kind == "Put" && w.table == t.Name {
				r.dropCondition(i)
			}
		}
	}
}

// drop takes the writes of a table out of a transaction.
func (r *request) drop(t names.Table) {
	parts := r.body["TransactItems"].([]any)
	var left []any
	for i, w := range r.writes {
		if w.table != t.Name {
			left = append(left, parts[i])
		}
	}
	r.changed = r.changed || len(left) < len(parts)
	r.body["TransactItems"] = left
}

// replaceKey changes the sort key of what is put.
func (r *request) replaceKey(w *write, by func(string) string) {
	if old := attribute(w.m["Item"], names.Usage.SortKey); old != "" {
		w.m["Item"].(map[string]any)[names.Usage.SortKey] = map[string]any{"S": by(old)}
		r.changed = true
	}
}

// ownBudget gives the caller a budget of its own.
func (r *request) ownBudget(w *write) {
	if key := attribute(w.m["Key"], names.Effects.PartitionKey); key == virtual.ModelBudget {
		w.m["Key"].(map[string]any)[names.Effects.PartitionKey] = map[string]any{"S": key + "#" + r.actor}
		r.changed = true
	}
}

func (r *request) dropCondition(i int) {
	w := r.writes[i]
	if w.cond() == "" {
		return
	}
	delete(w.m, "ConditionExpression")
	virtual.Prune(w.m)
	r.changed = true
}

func (r *request) replaceCondition(i int, old, by string) {
	w := r.writes[i]
	next := strings.Replace(w.cond(), old, by, 1)
	if next == w.cond() {
		return
	}
	w.m["ConditionExpression"] = next
	virtual.Prune(w.m)
	r.changed = true
}

// splitting carries the first write of a transaction out by itself, and then the
// others.
func splitting(these func(*request) bool) func(virtual.Call) [][]byte {
	return func(c virtual.Call) [][]byte {
		if c.Service != "dynamodb" {
			return nil
		}
		r := parse(c)
		if r == nil || !these(r) {
			return nil
		}
		token, _ := r.body["ClientRequestToken"].(string)
		parts := r.body["TransactItems"].([]any)
		one := map[string]any{"TransactItems": parts[:1], "ClientRequestToken": half(token, "1")}
		two := map[string]any{"TransactItems": parts[1:], "ClientRequestToken": half(token, "2")}
		return [][]byte{encode(one), encode(two)}
	}
}

func half(token, n string) string { return token[:min(len(token), 24)] + "-" + n }

// anyName gives every execution a name of its own.
func anyName() func(virtual.Call) [][]byte {
	n := 0
	return func(c virtual.Call) [][]byte {
		if c.Service != "states" || c.Op != "StartExecution" {
			return nil
		}
		var m map[string]any
		if json.Unmarshal(c.Body, &m) != nil {
			return nil
		}
		name, _ := m["name"].(string)
		if strings.HasPrefix(name, "foreign-") {
			return nil // the schedule's own
		}
		n++
		m["name"] = fmt.Sprintf("%s-%d", name, n)
		return [][]byte{encode(m)}
	}
}

// hideCheckpoints takes the checkpoints out of a pose job as it is read.
func hideCheckpoints(c virtual.Call, reply []byte) []byte {
	return jobAsRead(c, reply, "checkpoints", map[string]any{"M": map[string]any{}})
}

// ranOut puts the end of a pose job's lease into the past as it is read.
func ranOut(c virtual.Call, reply []byte) []byte {
	return jobAsRead(c, reply, "until", map[string]any{"S": "2020-01-01T00:00:00.000Z"})
}

func jobAsRead(c virtual.Call, reply []byte, attr string, value any) []byte {
	if c.Op != "GetItem" || c.Table() != strings.TrimPrefix(names.PoseJobs.Name, names.Prefix) {
		return nil
	}
	var m map[string]any
	if json.Unmarshal(reply, &m) != nil {
		return nil
	}
	item, _ := m["Item"].(map[string]any)
	if item[attr] == nil {
		return nil
	}
	item[attr] = value
	return encode(m)
}
