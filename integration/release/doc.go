// Package release keeps the contract of the release before: its definition,
// what each of its states sent, the rows that a run of it leaves in the middle,
// and what its state machine's role allowed. The tests hold the code of today
// against it, because runs in flight go on with the old definition, call the
// permissions of its role, and meet new code that reads their rows.
//
// testdata/1 is release 1. It was recorded by
//
//	go test ./integration/release -run TestRecord -record
//
// which is done once, when a release has gone out, into a folder of its own, and
// never to make a test pass.
package release
