package faults

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
)

// Guard is one guard, and how it is switched off: between the program and the
// database, so that the program does not know. Breaks is the promise that must
// then be seen broken, Within how many schedules.
type Guard struct {
	Name   string
	What   string
	Breaks string
	Within int
	off    func(*virtual.Options)
}

func (g Guard) apply(o *virtual.Options) {
	if g.off != nil {
		g.off(o)
	}
}

// rewriting is a guard that is a condition in a request.
func rewriting(edit func(*request)) func(*virtual.Options) {
	return func(o *virtual.Options) {
		o.Rewrite = func(c virtual.Call) [][]byte {
			if c.Service != "dynamodb" {
				return nil
			}
			return rewrite(c, edit)
		}
	}
}

// stale lets whoever ends an analysis read it as still open, however it stands.
func stale(off func(*virtual.Options)) func(*virtual.Options) {
	return func(o *virtual.Options) {
		off(o)
		staleReads(o, endsAnalyses)
	}
}

// StaleReads lets every state of an execution read an analysis as still open,
// however it stands.
func StaleReads(o *virtual.Options) {
	staleReads(o, func(actor string) bool {
		return !strings.HasPrefix(actor, "notice/") && !strings.HasPrefix(actor, "test")
	})
}

func staleReads(o *virtual.Options, by func(actor string) bool) {
	o.Reply = func(c virtual.Call, reply []byte) []byte {
		if c.Op != "GetItem" || c.Table() != "analyses" || !by(c.Actor) {
			return nil
		}
		for _, end := range []string{"ready", "rejected", "failed", "expired"} {
			if old := `"status":{"S":"` + end + `"}`; bytes.Contains(reply, []byte(old)) {
				return bytes.Replace(reply, []byte(old), []byte(`"status":{"S":"analysing"}`), 1)
			}
		}
		return nil
	}
}

// endsAnalyses reports whether the actor is one that writes ends.
func endsAnalyses(actor string) bool {
	for _, part := range []string{"/Deliver/", "/Reject", "/Settle/", "/ended/", "/client-op/"} {
		if strings.Contains("/"+actor, part) {
			return true
		}
	}
	return false
}

// Parts of the transaction that ends an analysis.
func endWithoutCondition(r *request) {
	if r.isEnd() {
		r.dropCondition(0)
	}
}

func endWithoutKeys(table names.Table) func(*request) {
	return func(r *request) {
		endWithoutCondition(r)
		if !r.isEnd() {
			return
		}
		for i, w := range r.writes {
			if w.table == table.Name && w.kind == "Put" {
				r.dropCondition(i)
			}
		}
	}
}

// Guards lists every guard that can be switched off. Two of package effect's are
// not in it: "a claim is taken over exactly as it was seen" needs two callers that
// take one effect over at the same time, and one execution at a time holds an
// analysis; "only a claim's owner records its result" needs a caller that outlives
// its claim, and its context ends first. The library promises both to everybody:
// its own tests hold them, and integration/explorer breaks without the first; the
// second it sees break only together with the deadline.
func Guards() []Guard {
	return []Guard{
		{"end-condition", "whoever comes second finds the end: neither by the read nor by the condition of its write", "I1", 40,
			stale(rewriting(endWithoutCondition))},
		{"attempt", "the attempt in that condition", "I1", 60, rewriting(func(r *request) {
			if r.isEnd() {
				r.replaceCondition(0, "attempt = :attempt AND ", "")
			}
		})},
		{"refund-key", "the refund's entry must be absent: the second line, shown with the first one (end-condition) off", "I3", 80,
			stale(rewriting(endWithoutKeys(names.Credits)))},
		{"notice-key", "the notice must be absent: the second line too", "I4", 80, stale(rewriting(func(r *request) {
			endWithoutKeys(names.Credits)(r)
			endWithoutKeys(names.Notices)(r)
		}))},
		{"one-transaction", "end, refund and notice in one transaction: here one after the other", "I2", 10,
			func(o *virtual.Options) { o.Rewrite = split }},
		{"reserve-key", "the analysis and its reservation must be absent when they are created", "I3", 60, rewriting(func(r *request) {
			if r.isCreate() {
				r.dropCondition(0)
				r.dropCondition(2)
			}
		})},
		{"balance", "the balance must suffice", "I3", 60, rewriting(func(r *request) {
			if r.isCreate() {
				r.dropCondition(1)
			}
		})},
		{"begin-holder", "an attempt is held by the execution that began it", "I1", 40, rewriting(func(r *request) {
			if w := r.only("UpdateItem", names.Analyses); w != nil && strings.Contains(w.expr(), "started_at") {
				r.replaceCondition(0, "#s = :analysing AND execution = :execution", "#s = :analysing")
			}
		})},
		{"execution-name", "the execution's name is made of id and attempt, and taken once", "I1", 40, func(o *virtual.Options) {
			o.Rewrite = anyName()
		}},
		{"notice-claim", "a notice is claimed before it is sent", "I4", 60, rewriting(func(r *request) {
			if w := r.only("UpdateItem", names.Notices); w != nil && strings.Contains(w.cond(), ":owed") {
				r.dropCondition(0)
			}
		})},
		{"sweep", "the reconciler sends what the stream left behind", "I4", 60, func(o *virtual.Options) { o.NoSweep = true }},
		{"reconciler", "the reconciler ends what passed its deadline", "I8", 60, func(o *virtual.Options) {
			o.Override[names.FnReconcile] = func(*virtual.Cloud) lambda.Handler {
				return handler.New(names.FnReconcile, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
			}
		}},
		{"effect-claim", "a paid call's key is claimed where there is none", "I5", 60, rewriting(func(r *request) {
			if w := r.only("PutItem", names.Effects); w != nil && strings.Contains(w.cond(), "attribute_not_exists") {
				r.dropCondition(0)
			}
		})},
		{"effect-until", "a claim is not taken over before its end and the skew", "I5", 60,
			func(o *virtual.Options) { o.EffectSkew = -time.Hour }},
		{"pose-claim", "a pose job is claimed as it was read", "I6", 60, rewriting(func(r *request) {
			if len(r.writes) > 0 && r.writes[0].table == names.PoseJobs.Name && r.op == "TransactWriteItems" {
				r.dropCondition(0)
			}
		})},
		{"open-check", "a claim is refused when the analysis has its end", "I1", 80, rewriting(func(r *request) {
			if len(r.writes) > 1 && r.writes[0].table == names.PoseJobs.Name && r.op == "TransactWriteItems" {
				r.dropCondition(1)
			}
		})},
		{"pose-fence", "every write of an owner names its fence", "I6", 100, rewriting(func(r *request) {
			if w := r.only("UpdateItem", names.PoseJobs); w != nil && strings.Contains(w.cond(), "#fence = :fence") {
				r.dropCondition(0)
			}
		})},
		{"pose-lease", "a live lease is not taken over: here whoever claims reads that it ran out", "I6", 100, func(o *virtual.Options) {
			rewriting(func(r *request) {
				if len(r.writes) > 1 && r.writes[0].table == names.PoseJobs.Name && r.op == "TransactWriteItems" {
					r.replaceCondition(0, " AND #until = :read", "")
				}
			})(o)
			o.Reply = ranOut
		}},
		{"keeper", "a lease is renewed while a chunk is computed, not between two", "I6", 100,
			func(o *virtual.Options) { o.RenewOnPass = true }},
		{"checkpoint", "a pass goes on from its checkpoints: here it does not see them", "I5", 60,
			func(o *virtual.Options) { o.Reply = hideCheckpoints }},
	}
}

// Off switches several guards off in one world, conditions in requests only.
func Off(o *virtual.Options, names ...string) error {
	for _, n := range names {
		g, ok := GuardOf(n)
		if !ok {
			return fmt.Errorf("no guard %q", n)
		}
		also(o, g.off)
	}
	return nil
}

// BeginAnyway lets every execution go on, whatever holds the analysis and even
// when it has its end.
func BeginAnyway(o *virtual.Options) {
	also(o, rewriting(func(r *request) {
		if w := r.only("UpdateItem", names.Analyses); w != nil && strings.Contains(w.expr(), "started_at") {
			r.dropCondition(0)
		}
	}))
}

// RecordAnyway lets every caller of a paid call record its result, whoever holds
// the claim.
func RecordAnyway(o *virtual.Options) {
	also(o, rewriting(func(r *request) {
		if w := r.only("UpdateItem", names.Effects); w != nil && strings.Contains(w.cond(), "#o = :owner") {
			r.dropCondition(0)
		}
	}))
}

// also switches a guard off beside those that are off.
func also(o *virtual.Options, off func(*virtual.Options)) {
	before := o.Rewrite
	off(o)
	after := o.Rewrite
	if before == nil {
		return
	}
	o.Rewrite = func(c virtual.Call) [][]byte {
		first := before(c)
		if len(first) == 1 {
			c.Body = first[0]
		}
		if second := after(c); second != nil {
			return second
		}
		return first
	}
}

// EndOf is the end that a request writes, "" if it writes none.
func EndOf(c virtual.Call) string {
	r := parse(c)
	if c.Service != "dynamodb" || r == nil || !r.isEnd() {
		return ""
	}
	values, _ := r.writes[0].m["ExpressionAttributeValues"].(map[string]any)
	status, _ := values[":status"].(map[string]any)
	end, _ := status["S"].(string)
	return end
}

// GuardOf finds a guard by its name.
func GuardOf(name string) (Guard, bool) {
	for _, g := range Guards() {
		if g.Name == name {
			return g, true
		}
	}
	return Guard{}, false
}
