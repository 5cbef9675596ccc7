package asl

import (
	"testing"
	"time"
)

func TestRetrierDelay(t *testing.T) {
	base := Retrier{Interval: 2 * time.Second, BackoffRate: 2}
	capped, jittered := base, base
	capped.MaxDelay = 5 * time.Second
	jittered.FullJitter = true
	for _, tc := range []struct {
		name   string
		r      Retrier
		n      int
		random float64
		want   time.Duration
	}{
		{"first", base, 0, 0.5, 2 * time.Second},
		{"third", base, 2, 0.5, 8 * time.Second},
		{"capped", capped, 2, 0.5, 5 * time.Second},
		{"jitter after the cap", Retrier{Interval: 2 * time.Second, BackoffRate: 2, MaxDelay: 4 * time.Second, FullJitter: true}, 9, 0.5, 2 * time.Second},
		{"least jitter", jittered, 2, 0, 0},
		{"no overflow", base, 5000, 0.5, maxWait},
	} {
		if got := tc.r.Delay(tc.n, tc.random); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestFirstRetrierDecides(t *testing.T) {
	s := &State{Retry: []Retrier{{ErrorEquals: []string{"A"}}, {ErrorEquals: []string{"States.ALL"}}}}
	for name, want := range map[string]int{"A": 0, "B": 1, "States.Runtime": -1} {
		if got := s.Retrier(name); got != want {
			t.Errorf("%s: retrier %d, want %d", name, got, want)
		}
	}
}
