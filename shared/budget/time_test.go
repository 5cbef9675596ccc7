package budget_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/internal/memtable"
)

// due is a context whose deadline has come and whose timer has not fired yet.
type due struct{ context.Context }

func (due) Deadline() (time.Time, bool) { return time.Now(), true }

// No time left is a value, and no place is taken in it.
func TestNoTimeLeftTakesNoPlace(t *testing.T) {
	now := time.Now().Truncate(time.Microsecond)
	s := budget.Store{DB: &memtable.Table{}, Table: "t", Now: func() time.Time { return now }}
	one := budget.Limit{Rate: 1, Burst: 1}
	if err := s.Wait(due{t.Context()}, "k", one, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want a deadline exceeded", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ended, "k", one, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want cancelled", err)
	}
	if at, err := s.Reserve(t.Context(), "k", one, 1, 0); err != nil || !at.Equal(now) {
		t.Errorf("the first place is due in %s, %v: somebody took one", at.Sub(now), err)
	}
}
