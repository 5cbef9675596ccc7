package asl

import (
	"math"
	"time"
)

// Retrier is one entry of a Retry field.
type Retrier struct {
	ErrorEquals []string
	Interval    time.Duration // before the first retry
	MaxAttempts int           // retries, not counting the first attempt
	BackoffRate float64
	MaxDelay    time.Duration // 0: no limit
	FullJitter  bool
}

// Catcher is one entry of a Catch field.
type Catcher struct {
	ErrorEquals []string
	Next        string
	ResultPath  ResultPath
}

// Retrier gives the index of the retrier that an error is for: the first that
// matches, even when its attempts are used up. It is -1 when there is none.
func (s *State) Retrier(name string) int {
	for i, r := range s.Retry {
		if Matches(r.ErrorEquals, name) {
			return i
		}
	}
	return -1
}

// Catcher gives the first catcher that an error is for, or nil.
func (s *State) Catcher(name string) *Catcher {
	for i, c := range s.Catch {
		if Matches(c.ErrorEquals, name) {
			return &s.Catch[i]
		}
	}
	return nil
}

// maxWait is the longest time this package deals in: a year and a bit. AWS ends
// an execution after one.
const maxWait = 400 * 24 * time.Hour

// Delay is how long to wait before the retry with number n (from 0) of this
// retrier. random in [0,1) is used when the retrier asks for jitter.
func (r Retrier) Delay(n int, random float64) time.Duration {
	d := float64(r.Interval) * math.Pow(r.BackoffRate, float64(n))
	limit := maxWait
	if r.MaxDelay > 0 {
		limit = r.MaxDelay
	}
	if !(d < float64(limit)) { // also when d is +Inf or NaN
		d = float64(limit)
	}
	if r.FullJitter {
		d *= random
	}
	return time.Duration(d)
}
