package faults

import (
	"errors"

	"fastbowlinglab/shared/analysis"
)

// final reports whether err is an answer that asking again cannot change.
func final(err error) bool {
	return errors.Is(err, analysis.ErrNoCredit) || errors.Is(err, analysis.ErrEnded) || errors.Is(err, analysis.ErrMoved) ||
		errors.Is(err, analysis.ErrKeyReused)
}
