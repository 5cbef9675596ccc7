package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"fastbowlinglab/shared/internal/memtable"
	"fastbowlinglab/shared/lease"
)

// due is a context whose deadline has come and whose timer has not fired yet.
type due struct{ context.Context }

func (due) Deadline() (time.Time, bool) { return time.Now(), true }

// No time left is a value, and no lease is taken in it.
func TestNoTimeLeftTakesNothing(t *testing.T) {
	s := lease.Store{DB: &memtable.Table{}, Table: "t"}
	if _, err := s.Acquire(due{t.Context()}, "k", "a", time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want a deadline exceeded", err)
	}
	if _, err := s.AcquireAs(due{t.Context()}, "k", "a", "token", time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("by a token: %v, want a deadline exceeded", err)
	}
	if who, err := s.Who(t.Context(), "k"); who != nil || err != nil {
		t.Errorf("held by %v, %v", who, err)
	}
}
