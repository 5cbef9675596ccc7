// Package release keeps the contract of the release before: its definition, what
// each of its states sent, the rows that a run of it leaves in the middle on either
// road, what a worker of it tells over HTTP, and what every program and state
// machine was allowed. The tests hold the code of today against it, because runs in
// flight go on with the old definition, call the old versions of functions under the
// roles of today, and meet new code that reads their rows. TestDeployMidRun does the
// whole thing once: release 2 comes while a run of release 1 is between two model
// calls.
//
// testdata/1 is release 1. It was recorded by
//
//	go test ./integration/release -run TestRecord -record
//
// which is done once, when a release has gone out, into a folder of its own, and
// never to make a test pass. What it says of the HTTP road was recorded later, by
// the code of release 1 (commit 76e3d31) with the recorder of today.
package release
