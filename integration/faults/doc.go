// Package faults plays whole analyses under faults, in virtual time, and looks at
// every promise of the design (I1 to I9) after every write: the real state machine
// definition on the engine of integration/stepfn, the real handlers and pose
// worker, a real database (integration/virtual). `make chaos` is its command line.
//
// One seed says everything: what athletes do, who ask the real API (two taps, cancels,
// reruns after the end, two tabs, payments told in any order), and operators (restarts,
// aborted and foreign executions, up to nine of one analysis, redrives after its end,
// reports made again, runs released), what a stranger tries and which forms are used
// late, which road the pose jobs go, which
// requests are cut, lost, late, doubled, throttled, in conflict or carried out
// long after their client gave up, which processes are killed or stopped before
// or after which request, which invocations are refused, slow, or run on after
// their caller has given up, which events come twice, late or never, whose clock
// is off, how slow the model is. Each question is answered by the seed and the
// question alone (Dice), so a seed replays to the same log hash, and a fault can be
// left out without changing the others: that is how a shortest replay is found.
//
// Three simplifications are to be known. A killed process is one whose every
// request is refused from then on; a stopped one gets no answer and makes no
// request, but its timers run. While nothing has happened for three virtual hours
// the reconciler comes hourly, not every five minutes, so that waiting for a
// deadline of days takes seconds; the slack of I8 is therefore six hours. The
// budget of the paid model is one call in 40 s, so that it is felt.
//
// Guards (guards.go) can be switched off between the programs and the database,
// which therefore do not know: then the promise that the guard keeps must be seen
// broken within the stated number of schedules.
package faults
