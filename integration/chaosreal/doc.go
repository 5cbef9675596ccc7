// Package chaosreal plays whole analyses with the programs as deployed: function
// and worker processes, files, sockets and the real clock, on the embedded cloud
// of integration/local. Its counterpart in virtual time is integration/faults.
//
// A schedule is one athlete's analysis, drawn from a seed: faults between the
// programs and the services (not done; answer lost; late; twice; throttled;
// conflict), a function killed with -9 before or after a request of its own, a
// worker killed, a worker stopped past its lease, a model that is slow, throttles
// or whose answer is lost, events delivered twice, and what operators and others do: restarts,
// duplicate and foreign executions, stops, redrives, cancels, second claim
// checks. Several schedules share one cloud, as athletes do.
//
// Afterwards the promises are checked by package promises and by the audit
// function itself, from the rows, the mails, the calls that the model saw and the
// executions. What a seed decides is the same in every run; the order in which
// processes meet is the machine's.
package chaosreal
