package awserr

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/smithy-go"

	"fastbowlinglab/shared/fault"
)

// Fault names err for a state machine: Transient if it is a request to AWS that
// may be sent again, or ran out of time; Permanent otherwise. An error that has
// a name keeps it; nil stays nil.
func Fault(err error, doing string) error {
	var named *fault.Error
	var op *smithy.OperationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &named):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.As(err, &op) && KindOf(err).Retryable(),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Transient, err, "%s", doing)
	}
	return fault.Wrap(fault.Permanent, err, "%s", doing)
}
