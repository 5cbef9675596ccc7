package faults

import (
	"encoding/json"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// answered implements virtual.Options.Answered: what functions claimed.
func (o *observer) answered(fn string, in, out []byte, fail string) {
	if fail != "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch fn {
	case names.FnBegin:
		var req names.BeginIn
		var ans names.BeginOut
		if json.Unmarshal(in, &req) == nil && json.Unmarshal(out, &ans) == nil && ans.Proceed {
			key := analysis.ExecutionName(req.AnalysisID, req.Attempt)
			if was := o.proceeds[key]; was != "" && was != req.Execution {
				o.violation("I1", "two executions go on with %s: %s and %s", key, was, req.Execution)
			}
			o.proceeds[key] = req.Execution
		}
	case names.FnDeliver, names.FnReject, names.FnSettle:
		var id struct {
			AnalysisID string `json:"analysis_id"`
			Detail     struct{ Name string }
		}
		var ans names.EndOut
		if json.Unmarshal(in, &id) == nil && json.Unmarshal(out, &ans) == nil && ans.Won {
			if id.AnalysisID == "" {
				id.AnalysisID, _, _ = analysis.ParseExecutionName(id.Detail.Name)
			}
			o.wins[id.AnalysisID] = append(o.wins[id.AnalysisID], ans)
		}
	}
}
