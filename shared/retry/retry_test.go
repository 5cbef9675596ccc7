package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/retry"
)

var errReset = errors.New("connection reset")

// run calls Do on a function that fails with err fails times; it tells how
// often it was called and how long that took.
//
//lint:ignore ST1008 the error is what Do gave, the test's subject, not run's own
func run(ctx context.Context, p retry.Policy, err error, fails int) (got error, calls int, took time.Duration) {
	start := time.Now()
	got = p.Do(ctx, func() error {
		if calls++; calls <= fails {
			return err
		}
		return nil
	})
	return got, calls, time.Since(start)
}

func longest() float64 { return 1 }

func TestDo(t *testing.T) {
	for _, tc := range []struct {
		name  string
		err   error
		fails int
		calls int
		wait  time.Duration // with the longest jitter
	}{
		{"success", nil, 0, 1, 0},
		{"lost twice", errReset, 2, 3, 60 * time.Millisecond},
		{"conflict", &ddb.TransactionConflictException{}, 1, 2, 20 * time.Millisecond},
		{"condition", &ddb.ConditionalCheckFailedException{}, 9, 1, 0},
		{"for ever", errReset, 99, 6, 620 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err, calls, took := run(t.Context(), retry.Policy{Rand: longest}, tc.err, tc.fails)
				if (err != nil) != (tc.fails >= tc.calls) || calls != tc.calls || took != tc.wait {
					t.Errorf("%v after %d calls and %s, want %d and %s", err, calls, took, tc.calls, tc.wait)
				}
			})
		})
	}
}

func TestWaitIsBoundedAndJittered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.Policy{Tries: 12, Rand: longest}
		if _, calls, took := run(t.Context(), p, errReset, 99); calls != 12 || took > 12*800*time.Millisecond {
			t.Errorf("%d calls in %s", calls, took)
		}
		seen := map[time.Duration]bool{}
		for range 8 {
			_, _, took := run(t.Context(), retry.Policy{}, errReset, 3)
			seen[took] = true
		}
		if len(seen) < 7 {
			t.Errorf("waits %v are not jittered", seen)
		}
	})
}

func TestContextEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err, calls, took := run(ctx, retry.Policy{Base: time.Minute, Max: time.Hour, Rand: longest}, errReset, 99)
		if !errors.Is(err, errReset) || calls != 1 || took != 50*time.Millisecond {
			t.Errorf("%v after %d calls and %s", err, calls, took)
		}
	})
}
