package faults

import (
	"strings"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

// effectGuards are those of paid calls.
func effectGuards() []Guard {
	return []Guard{
		{"effect-claim", "a paid call's key is claimed where there is none", "I5", 60, rewriting(func(r *request) {
			if w := r.only("PutItem", names.Effects); w != nil && strings.Contains(w.cond(), "attribute_not_exists") {
				r.dropCondition(0)
			}
		})},
		{"effect-until", "a claim is not taken over before its end and the skew", "I5", 150,
			func(o *virtual.Options) { o.EffectSkew = -time.Hour }},
		{"takeovers", "a paid call whose outcome is unknown is made once more, and not again", "I5", 100,
			func(o *virtual.Options) { o.Takeovers = 100 }},
		{"usage-claim", "each claim of a paid call has a row of the bill", "I5", 60, rewriting(func(r *request) {
			if w := r.only("PutItem", names.Usage); w != nil {
				r.replaceKey(w, func(call string) string { return call[:strings.LastIndexByte(call, '#')] })
			}
		})},
		{"budget", "the budget of a model is one row for all its callers: here each has one of its own", "I7", 20, rewriting(func(r *request) {
			if w := r.only("UpdateItem", names.Effects); w != nil {
				r.ownBudget(w)
			}
		})},
	}
}
