package faults

import (
	"bytes"
	"strings"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

// stale lets whoever ends an analysis read it as still open, however it stands.
func stale(off func(*virtual.Options)) func(*virtual.Options) {
	return func(o *virtual.Options) {
		off(o)
		staleReads(o, "analysing", endsAnalyses)
	}
}

// StaleReads lets every state of an execution read an analysis as still open,
// however it stands.
func StaleReads(o *virtual.Options) {
	staleReads(o, "analysing", func(actor string) bool {
		return !strings.HasPrefix(actor, "notice/") && !strings.HasPrefix(actor, "test")
	})
}

// staleReads lets some read an ended analysis as one that is still in a state.
func staleReads(o *virtual.Options, as string, by func(actor string) bool) {
	o.Reply = func(c virtual.Call, reply []byte) []byte {
		if c.Op != "GetItem" || c.Table() != "analyses" || !by(c.Actor) {
			return nil
		}
		for _, end := range []string{"ready", "rejected", "failed", "expired"} {
			if old := `"status":{"S":"` + end + `"}`; bytes.Contains(reply, []byte(old)) {
				return bytes.Replace(reply, []byte(old), []byte(`"status":{"S":"`+as+`"}`), 1)
			}
		}
		return nil
	}
}

// endsAnalyses reports whether the actor is one that writes ends.
func endsAnalyses(actor string) bool {
	for _, part := range []string{"/Deliver/", "/Reject", "/Settle/", "/ended/", "/client-op/", "/operator/"} {
		if strings.Contains("/"+actor, part) {
			return true
		}
	}
	return false
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
