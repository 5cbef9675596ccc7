package faults

import (
	"strings"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

// poseGuards are those of pose jobs and their passes.
func poseGuards() []Guard {
	return []Guard{
		{"pose-claim", "a pose job is claimed as it was read", "I6", 200, rewriting(func(r *request) {
			if len(r.writes) > 0 && r.writes[0].table == names.PoseJobs.Name && r.op == "TransactWriteItems" {
				r.dropCondition(0)
			}
		})},
		{"open-check", "a claim is refused when the analysis has its end", "I1", 200, rewriting(func(r *request) {
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
