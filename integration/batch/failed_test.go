package batch_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	fnnightly "fastbowlinglab/functions/nightly"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/nightly"
	"fastbowlinglab/statemachine"
)

// picky cannot tag one analysis, until it is mended.
type picky struct {
	nightly.Tagger
	id     string
	mended *bool
}

func (p picky) Tag(ctx context.Context, row analysis.Row, version string) (aitask.Tagged, error) {
	if row.AnalysisID == p.id && !*p.mended {
		return aitask.Tagged{}, fault.New(fault.ModelNoAnswer, "nothing that can be used")
	}
	return p.Tagger.Tag(ctx, row, version)
}

// TestAFailedItemHoldsNobodyUp: an analysis that cannot be tagged is listed and
// alarmed once; the others are tagged, the job ends, and another run tries again.
func TestAFailedItemHoldsNobodyUp(t *testing.T) {
	mended := false
	var log bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	defer slog.SetDefault(was)
	opt := virtual.Options{Override: map[string]func(*virtual.Cloud) lambda.Handler{names.FnNightly: func(c *virtual.Cloud) lambda.Handler {
		j := c.Nightly()
		j.Tagger = picky{j.Tagger, "an-00001", &mended}
		return fnnightly.New(j)
	}}}
	delivered(t, 20, opt, func(ctx context.Context, c *virtual.Cloud) {
		for i, cause := range []string{"Of 20: 19 new, 0 already there, 1 failed, 0 unknown, 0 missing", "Of 20: 0 new, 19 already there, 1 failed"} {
			run := []string{"night-1", "night-2"}[i]
			if err := c.StartBatch(ctx, statemachine.Nightly, run, map[string]string{}); err != nil {
				t.Error(err)
			}
			if e := finished(ctx, t, c, statemachine.Nightly, run, 10*time.Minute); e.fail != "Incomplete" || !strings.Contains(e.cause, cause) {
				t.Errorf("%s: %+v, want %s", run, e, cause)
			}
			failed, err := c.TagRows().Failures(ctx, day, names.TagsVersion)
			if err != nil || len(failed) != 1 || failed["an-00001"].By != "night-1" {
				t.Errorf("failed %+v, %v", failed, err)
			}
		}
		mended = true
		if err := c.StartBatch(ctx, statemachine.Nightly, "night-3", map[string]string{}); err != nil {
			t.Error(err)
		}
		if e := finished(ctx, t, c, statemachine.Nightly, "night-3", 10*time.Minute); e.rows.State != names.BatchComplete || e.rows.New != 1 || e.rows.Already != 19 {
			t.Errorf("mended: %+v", e)
		}
	})
	if k := strings.Count(log.String(), `"`+metric.TagsFailed+`":1`); k != 1 {
		t.Errorf("the alarm's metric was counted %d times, want 1", k)
	}
}
