package aitask

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// patient waits for as long as it is allowed to.
type patient struct{ Rules }

func (patient) Call(ctx context.Context, _ Request) (Reply, error) {
	<-ctx.Done()
	return Reply{}, ctx.Err()
}

// A call ends while there is still time to store its answer.
func TestACallLeavesTimeToStoreItsAnswer(t *testing.T) {
	for left, want := range map[time.Duration]time.Duration{300 * time.Second: 295 * time.Second, 20 * time.Second: 18 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			start := time.Now()
			if _, err := send(ctx, patient{}, Request{}); err == nil || time.Since(start) != want {
				t.Errorf("%v after %s of %s, want %s", err, time.Since(start), left, want)
			}
		})
	}
}
