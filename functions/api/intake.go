package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

// IntakeClosed reads the value of names.EnvIntake.
func IntakeClosed(value string) (bool, error) {
	switch value {
	case names.IntakeOpen:
		return false, nil
	case names.IntakeClosed:
		return true, nil
	}
	return false, fmt.Errorf("environment variable %s is %q: use %s or %s", names.EnvIntake, value, names.IntakeOpen, names.IntakeClosed)
}

var errIntake = problem{Status: http.StatusServiceUnavailable, Code: "intake_closed",
	Title: "New analyses are not taken at the moment. Nothing was charged."}

// admit refuses a new analysis while the intake is closed. A repeat of a request
// that was carried out is let through: its first answer may have been lost.
func (d Deps) admit(ctx context.Context, analysisID string) error {
	if !d.Closed {
		return nil
	}
	_, err := d.Life.Get(ctx, analysisID)
	if errors.Is(err, analysis.ErrNotFound) {
		return errIntake
	}
	return err
}
