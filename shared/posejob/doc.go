// Package posejob is the claim check of a pose pass: one row for an analysis
// that says who owns the pass, how far it is, what it has saved, and whom to
// tell.
//
// A row is waiting, claimed, done or failed. A claim raises the fence; every
// later write by its owner names that fence and is refused, with ErrLost, once
// another has claimed. So an owner that was paused past its lease can neither
// save a checkpoint nor finish.
//
// Two task tokens meet here. Token 1 belongs to the state that waits for a
// claim, token 2 to the state that waits for the end of the pass. They are
// attributes of the item that also holds state and result, and every write asks
// for ALL_NEW: whichever of "token registered" and "claimed" or "done" comes
// second sees both and answers the token. Nothing is lost if it dies before it
// has answered, because the next redelivery or re-entry finds both again.
//
// A job that is taken over three times (names.MaxDeaths), or comes back to
// dispatch three times (names.MaxReturns), without a new checkpoint in between
// is failed by the row's own count, whatever the queue's receive count says.
package posejob
