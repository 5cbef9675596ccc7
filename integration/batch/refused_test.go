package batch_test

import (
	"context"
	"strings"
	"testing"
	"time"

	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// TestRefusedForLongerThanTheLease: Lambda refuses a backfill's calls, once it holds
// its effect, for longer than the lease lasts. Nobody was at work, so nobody is kept
// out: the night's job takes the effect if it comes, and the run ends as one that
// conceded; if nobody comes, the run goes on with the effect that it has.
func TestRefusedForLongerThanTheLease(t *testing.T) {
	const n, refusedFor = 30, names.RunLease + names.ClockSkew + 3*time.Minute
	for _, other := range []bool{false, true} {
		refused, until := 0, time.Time{}
		opt := virtual.Options{Seed: 3, Invocations: func(i virtual.Invocation) virtual.InvokeFault {
			if i.Function != names.FnBackfill || strings.Contains(i.ID, "/Preflight/") || strings.Contains(i.ID, "/Open/") {
				return virtual.InvokeFault{}
			}
			if until.IsZero() {
				until = time.Now().Add(refusedFor)
			}
			if time.Now().Before(until) {
				refused++
				return virtual.InvokeFault{Kind: virtual.InvokeRefused}
			}
			return virtual.InvokeFault{}
		}}
		delivered(t, n, opt, func(ctx context.Context, c *virtual.Cloud) {
			input := map[string]any{"effect": "tags", "version": names.TagsVersion, "from": day, "to": day}
			start := time.Now()
			if err := c.StartBatch(ctx, statemachine.Backfill, "redo", input); err != nil {
				t.Error(err)
				return
			}
			if other {
				wait(ctx, names.RunLease+names.ClockSkew+time.Minute)
				night(ctx, t, c, "night-1", n)
			}
			e := finished(ctx, t, c, statemachine.Backfill, "redo", 6*time.Hour)
			want := sfntypes.ExecutionStatusSucceeded
			if other {
				want = sfntypes.ExecutionStatusFailed
			}
			if took := time.Since(start); e.status != want || took < refusedFor {
				t.Errorf("another came %t: %+v after %s, want %s", other, e, took, want)
			}
			by := map[string]int{}
			rows, err := c.TagRows().Rows(ctx, day, names.TagsVersion)
			for _, r := range rows {
				by[r.By]++
			}
			if err != nil || len(rows) != n || other != (by["night-1"] == n) || other == (by["redo"] == n) {
				t.Errorf("another came %t: rows by %v, %v", other, by, err)
			}
		})
		if refused <= statemachine.Attempts+1 {
			t.Errorf("another came %t: %d calls were refused; the other retrier would have been enough", other, refused)
		}
	}
}
