package posejob

import (
	"errors"
	"fmt"
	"time"

	"fastbowlinglab/shared/stamp"
)

// Errors of this package. Any other error means that nothing is known to have
// been decided, and the call may be repeated.
var (
	// ErrLost says that the fence is no longer ours: another has claimed the job,
	// it was given back, it has ended, or the analysis was restarted.
	ErrLost = errors.New("pose job lost: its fence has moved on")
	// ErrEnded says that the analysis has its end, or is at a later attempt.
	ErrEnded = errors.New("analysis ended or restarted")
	// ErrFinished says that the job is done or failed already; the Job that comes
	// with it holds the outcome and the tokens.
	ErrFinished = errors.New("pose job finished already")
	// ErrNoJob says that there is no such job.
	ErrNoJob = errors.New("no such pose job")
)

// HeldError says that a live lease stands in the way.
type HeldError struct {
	Owner   string
	Until   time.Time // when the job may be claimed if the owner falls silent
	Message string    // the queue message that the owner holds, "" for none
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("pose job held by %s until %s", e.Owner, stamp.Format(e.Until))
}
