// Package promises checks what a campaign has left against the promises of the
// design (I1 to I9), from the rows, the mails, the calls of the model and the
// list of executions alone. Both campaigns use it: integration/faults in virtual
// time, integration/chaosreal with real processes.
//
// It reads the ledger by itself and not through package credit: what is checked
// must not be what checks.
package promises

// Violation is a promise that did not hold.
type Violation struct {
	Invariant string // I1 to I9
	Detail    string
}

// Found is told of each violation.
type Found func(invariant, format string, args ...any)
