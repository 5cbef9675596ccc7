// Package notice sends what athletes are told: the rows of package outbox, each at
// most once.
//
//	owed -> claimed -> sent | refused | unknown, and claimed -> owed
//
// The mail service has no idempotency key, so a mail that may have left is never
// sent again: a claim that ran out, or a request whose answer was lost, makes the
// notice unknown, which is counted and alarmed. The status API shows the end in
// any case. A claim goes back to owed only when the service said that it sent
// nothing.
package notice
