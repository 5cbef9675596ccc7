package outcome

import (
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// By names the writer of an end: the function, and the execution that asked. A
// definition of the last release does not tell its execution's name; it follows
// from the run.
func By(function string, run names.Run, execution string) string {
	if execution == "" {
		execution = analysis.ExecutionName(run.AnalysisID, run.Attempt)
	}
	return function + "#" + execution
}

// Out is the result as a state machine sees it.
func (r Result) Out() names.EndOut {
	return names.EndOut{Status: string(r.Status), Reason: string(r.Reason), Won: r.Won}
}
