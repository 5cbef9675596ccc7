package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	fnbackfill "fastbowlinglab/functions/backfill"
	"fastbowlinglab/functions/watch"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// tread takes its time for each item, and may get nowhere with any.
type tread struct {
	each  time.Duration
	stuck bool
}

func (w tread) Do(ctx context.Context, o backfill.Order) (backfill.Made, error) {
	wait(ctx, w.each)
	if w.stuck {
		return backfill.Made{}, backfill.NotSent(errors.New("no room in the budget"))
	}
	return backfill.Made{Key: o.AnalysisID}, nil
}

// TestBackfillProgress: a worker that claims and gives back, over and over, raises
// the alarm; one that is slow and moves does not.
func TestBackfillProgress(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		work := tread{100 * time.Second, false}
		if stuck {
			work = tread{2 * time.Second, true}
		}
		most := 0.0
		opt := virtual.Options{
			Override: map[string]func(*virtual.Cloud) lambda.Handler{names.FnBackfill: func(c *virtual.Cloud) lambda.Handler {
				return fnbackfill.New(c.Backfill(map[string]backfill.Worker{names.EffectReport: {Work: work}}))
			}},
			Answered: func(fn string, _, out []byte, _ string) {
				var o watch.Out
				if fn == names.FnWatch && json.Unmarshal(out, &o) == nil {
					most = max(most, o.Seconds[names.EffectReport])
				}
			},
		}
		virtual.Run(t, opt, func(c *virtual.Cloud) {
			ctx, cancel := context.WithCancel(virtual.As(context.Background(), "operator"))
			defer cancel()
			c.Schedule(names.FnWatch, names.WatchPeriod)
			if err := c.StartBatch(ctx, statemachine.Backfill, "slow", backfill.Spec{Effect: names.EffectReport, Version: "v1", IDs: ids(20)}); err != nil {
				t.Error(err)
			}
			e := finished(ctx, t, c, statemachine.Backfill, "slow", 5*time.Hour)
			if (e.status == sfntypes.ExecutionStatusSucceeded) == stuck {
				t.Errorf("stuck %t: %+v", stuck, e)
			}
		})
		t.Logf("stuck %t: at most %.0f s since progress", stuck, most)
		if alarm := most >= names.NoProgressAlarm.Seconds(); alarm != stuck {
			t.Errorf("stuck %t: the alarm is raised: %t, at %g s", stuck, alarm, most)
		}
	}
}

// TestADayThatGoesOnIsNoList: what would be found differs from one look to the next.
func TestADayThatGoesOnIsNoList(t *testing.T) {
	virtual.Run(t, virtual.Options{}, func(c *virtual.Cloud) {
		ctx, cancel := context.WithCancel(virtual.As(context.Background(), "operator"))
		defer cancel()
		today := time.Now().UTC().Format(time.DateOnly)
		if err := c.StartBatch(ctx, statemachine.Backfill, "today", backfill.Spec{Effect: names.EffectTags, Version: "v1", From: day, To: today}); err != nil {
			t.Error(err)
		}
		if e := finished(ctx, t, c, statemachine.Backfill, "today", time.Hour); e.fail != "Permanent" || !strings.Contains(e.cause, today+" is not over") {
			t.Errorf("%+v", e)
		}
	})
}
