package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
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

var errGivenBack = problem{Status: http.StatusTooManyRequests, Code: "too_many_given_back",
	Title: "Too many analyses of today were cancelled, not uploaded, or showed no bowling. Nothing was charged; try again tomorrow."}

// admit refuses a new analysis while the intake is closed, and one of an athlete
// who has had too many given back. A repeat of a request that was carried out is
// let through: its first answer may have been lost.
func (d Deps) admit(ctx context.Context, athleteID, analysisID string) error {
	no, err := d.refusal(ctx, athleteID)
	if err != nil || no == nil {
		return err
	}
	_, err = d.Life.Get(ctx, analysisID)
	if errors.Is(err, analysis.ErrNotFound) {
		return *no
	}
	return err
}

// refusal is why nothing new is taken from the athlete now; nil if it is. What is
// asked for at once may exceed the limit, by no more than the balance.
func (d Deps) refusal(ctx context.Context, athleteID string) (*problem, error) {
	if d.Closed {
		return &errIntake, nil
	}
	n, err := d.Ledger.GivenBack(ctx, athleteID, d.now().Add(-names.GivenBackWindow), func(why string) bool { return !reason.Code(why).Ours() })
	if err != nil || n < names.MaxGivenBack {
		return nil, err
	}
	return &errGivenBack, nil
}
