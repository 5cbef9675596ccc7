// Package budget spaces the calls that many processes make to one outside
// service, so that together they stay within its limit. It is the generic cell
// rate algorithm (GCRA, ITU-T I.371) with its one number, the theoretical
// arrival time, in a DynamoDB row. It knows nothing of what is called.
//
//	b := budget.Store{DB: db, Table: "effects"}
//	limit := budget.Limit{Rate: 10, Burst: 5} // 10 a second, 5 at once
//	if err := b.Wait(ctx, "source", limit, 1); err != nil {
//		return err // *budget.Exhausted: there is no room before ctx ends
//	}
//	// call
//
// # What it promises, and what not
//
// A caller reserves its place in one conditional update and sleeps until it is
// due, so nobody polls and nobody is overtaken for ever. A place that is not used
// is lost. Callers space by their own clocks: if two of these differ by at most d,
// any window of w seconds sees at most Burst + Rate*(w+d) calls. How long a call
// takes to reach the service counts like a clock: what differs in it adds to d.
// Limit.MaxSkew turns that round: it says what d a limit of the service bears.
//
// # When an answer is lost
//
// The place is taken and nobody uses it: one is lost, none is given twice.
//
// # Time that is left
//
// A caller whose place would come after its context's deadline is told so at once
// (*Exhausted, with the time) and takes none. With no time left, 0 included, no
// place is taken either.
package budget
