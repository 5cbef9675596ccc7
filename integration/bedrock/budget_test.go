package bedrock_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/integration/bedrock"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/names"
)

// The must-hold: four workers, 200 calls, an outside limit of 10 in any second,
// our budget 9/s with burst 1, on a real database in virtual time. The source
// never counts more than 10 in any second, and at least 90 % of 9/s is used, also
// with clocks as far apart as the stated bound allows.
func TestFourWorkersStayWithinTheLimit(t *testing.T) {
	limit := budget.Limit{Rate: 9, Burst: 1}
	for _, skew := range []time.Duration{0, limit.MaxSkew(10, time.Second) - time.Microsecond} {
		srv := standIn(func(n int, _ bedrock.Call) *bedrock.Act {
			return &bedrock.Act{Delay: time.Duration(n%4) * 100 * time.Millisecond, Status: 400, Code: "ValidationException", Message: "Input is too long."}
		})
		srv.PerSecond = 10
		req := request(t, aitask.Findings)
		virtual.Run(t, virtual.Options{Seed: 7, NoFleet: true}, func(c *virtual.Cloud) {
			var wg sync.WaitGroup
			for w := range 4 {
				ahead := time.Duration(w%2) * skew
				wg.Go(func() {
					p := provider(srv)
					p.Limit = limit
					p.Budget = budget.Store{DB: c.DB, Table: names.Effects.Name, Retry: c.Retry,
						Now: func() time.Time { return time.Now().Add(ahead) }}
					ctx := virtual.As(context.Background(), fmt.Sprint("worker-", w))
					for range 50 {
						_, _ = p.Call(ctx, req) // refused by the script, once each
					}
				})
			}
			wg.Wait()
		})
		calls := srv.Calls()
		busiest, from := 0, 0
		for i, c := range calls {
			for c.At.Sub(calls[from].At) > time.Second {
				from++
			}
			busiest = max(busiest, i-from+1)
			if c.Status == 429 {
				t.Errorf("call %d was throttled", i)
			}
		}
		span := calls[len(calls)-1].At.Sub(calls[0].At).Seconds()
		used := float64(len(calls)-1) / span / limit.Rate
		t.Logf("clocks %s apart: %d calls in %.2f s, %.1f %% of 9/s, at most %d in a second", skew, len(calls), span, 100*used, busiest)
		if len(calls) != 200 || busiest > 10 || used < 0.9 {
			t.Errorf("want 200 calls, at most 10 in a second, at least 90 %%")
		}
	}
}
