package faults

import (
	"context"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
)

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

// lifeGuards are those of an analysis's life and end.
func lifeGuards() []Guard {
	return []Guard{
		{"end-condition", "whoever comes second finds the end: neither by the read nor by the condition of its write", "I1", 40,
			stale(rewriting(endWithoutCondition))},
		{"attempt", "the attempt in that condition", "I1", 80, rewriting(func(r *request) {
			if r.isEnd() {
				r.replaceCondition(0, "attempt = :attempt AND ", "")
			}
		})},
		{"one-transaction", "end, refund and notice in one transaction: here one after the other", "I2", 20,
			func(o *virtual.Options) { o.Rewrite = splitting((*request).isEnd) }},
		{"begin-holder", "an attempt is held by the execution that began it", "I1", 40, rewriting(func(r *request) {
			if w := r.only("UpdateItem", names.Analyses); w != nil && strings.Contains(w.expr(), "started_at") {
				r.replaceCondition(0, "#s = :analysing AND execution = :execution", "#s = :analysing")
			}
		})},
		{"execution-name", "the execution's name is made of id and attempt, and taken once", "I1", 40, func(o *virtual.Options) {
			o.Rewrite = anyName()
		}},
		{"reconciler", "the reconciler ends what passed its deadline", "I8", 80, func(o *virtual.Options) {
			o.Override[names.FnReconcile] = func(*virtual.Cloud) lambda.Handler {
				return handler.New(names.FnReconcile, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
			}
		}},
		{"confirm", "an analysis is queued only when it is reserved: neither by the read nor by the condition", "I1", 130, func(o *virtual.Options) {
			rewriting(func(r *request) {
				if w := r.only("UpdateItem", names.Analyses); w != nil && strings.Contains(w.expr(), "queued_at = :now") {
					r.dropCondition(0)
				}
			})(o)
			staleReads(o, "reserved", func(actor string) bool { return strings.HasPrefix(actor, "api/client-op/") })
		}},
		{"restart", "an attempt is raised only from the one that was seen and not after the end: neither by the read nor by the condition", "I1", 80,
			stale(rewriting(func(r *request) {
				if w := r.only("UpdateItem", names.Analyses); w != nil && strings.Contains(w.expr(), "attempt = :next") {
					r.dropCondition(0)
				}
			}))},
	}
}
