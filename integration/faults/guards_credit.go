package faults

import (
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

// creditGuards are those of the ledger.
func creditGuards() []Guard {
	return []Guard{
		{"refund-key", "the refund's entry must be absent: the second line, shown with the first one (end-condition) off", "I3", 200,
			stale(rewriting(endWithoutKeys(names.Credits)))},
		{"reserve-key", "the analysis and its reservation must be absent when they are created", "I3", 60, rewriting(func(r *request) {
			if r.isCreate() {
				r.dropCondition(0)
				r.dropCondition(2)
			}
		})},
		{"balance", "the balance must suffice", "I3", 150, rewriting(func(r *request) {
			if r.isCreate() {
				r.dropCondition(1)
			}
		})},
		{"reserve-together", "row, charge and entry of a new analysis are written together: here one after the other", "I2", 150,
			func(o *virtual.Options) { o.Rewrite = splitting((*request).isCreate) }},
		{"rerun-charge", "a rerun takes a credit of its own, as it is created: here its row is written alone", "I2", 100, rewriting(func(r *request) {
			if r.isCreate() && attribute(r.writes[0].m["Item"], "rerun_of") != "" {
				r.drop(names.Credits)
			}
		})},
		{"grant-key", "a grant's key and its entry must be absent", "I3", 60, rewriting(func(r *request) {
			if r.starts("grant#") {
				r.dropPuts(names.Effects, names.Credits)
			}
		})},
		{"payment-row", "a payment's totals are written over the version that was read", "I3", 100, rewriting(func(r *request) {
			if r.starts("payment#") {
				r.dropCondition(0)
			}
		})},
		{"payment-keys", "a payment event's id and its entries must be absent: the second line, with the first one (payment-row) off", "I3", 80,
			rewriting(func(r *request) {
				if r.starts("payment#") {
					r.dropPuts(names.Effects, names.Credits)
				}
			})},
	}
}
