package posejob

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
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
	// ErrStale says that a later visit of the run's states has registered its token
	// already: the caller is a slow duplicate, to whom nobody listens.
	ErrStale = errors.New("a later visit has registered its token")
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

// AsFault gives err the name under which it leaves a function.
func AsFault(err error, doing string) error {
	var named *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &named):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.Is(err, ErrEnded):
		return fault.Wrap(fault.Conceded, err, "%s", doing)
	case errors.Is(err, ErrNoJob), errors.Is(err, analysis.ErrNotFound):
		return fault.Wrap(fault.Permanent, err, "%s", doing)
	case awserr.KindOf(err).Retryable(), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Transient, err, "%s", doing)
	}
	return fault.Wrap(fault.Permanent, err, "%s", doing)
}
