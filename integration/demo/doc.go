// Package demo runs the main job as an app would: over HTTP with a token, it
// submits a clip, uploads it, confirms, follows the run to its end, fetches the
// report and says what happened and what it cost.
//
// It believes nothing but what it reads back. A lost answer is repaired by
// asking again: the request is kept on disk before it is sent, its key follows
// from the clip's content, and the same clip and key lead to the same analysis.
//
// Beside the API it reads two things from the cloud's endpoint, when there is
// one: the execution's history (where the time went) and the outbox (notices).
package demo
