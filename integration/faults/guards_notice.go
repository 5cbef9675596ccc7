package faults

import (
	"strings"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

// noticeGuards are those of the outbox.
func noticeGuards() []Guard {
	return []Guard{
		{"notice-key", "the notice must be absent: the second line too", "I4", 80, stale(rewriting(func(r *request) {
			endWithoutKeys(names.Credits)(r)
			endWithoutKeys(names.Notices)(r)
		}))},
		{"notice-claim", "a notice is claimed before it is sent", "I4", 60, rewriting(func(r *request) {
			if w := r.only("UpdateItem", names.Notices); w != nil && strings.Contains(w.cond(), ":owed") {
				r.dropCondition(0)
			}
		})},
		{"sweep", "the reconciler sends what the stream left behind", "I4", 60, func(o *virtual.Options) { o.NoSweep = true }},
		{"outbox", "a notice is a row of the transaction that writes the end: here the end is written alone", "I4", 10, rewriting(func(r *request) {
			if r.isEnd() {
				r.drop(names.Notices)
			}
		})},
		{"notice-owner", "only a claim's owner says what became of the notice", "I4", 200, rewriting(func(r *request) {
			if w := r.only("UpdateItem", names.Notices); w != nil && strings.Contains(w.cond(), "#o = :me") {
				r.dropCondition(0)
			}
		})},
		{"choice", "a choice of channels is written over the version that was seen", "I9", 200, rewriting(func(r *request) {
			if w := r.only("PutItem", names.Athletes); w != nil {
				r.dropCondition(0)
			}
		})},
	}
}
