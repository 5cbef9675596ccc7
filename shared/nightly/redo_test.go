package nightly_test

import (
	"context"
	"testing"
	"time"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/backfill"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/nightly"
)

type asked struct{ times int }

func (a *asked) Tag(context.Context, analysis.Row, string) (aitask.Tagged, error) {
	a.times++
	return aitask.Tagged{}, fault.New(fault.Transient, "asked")
}

// TestWhatIsNoLongerKeptIsNotTagged: no model is told anything of an analysis whose
// retention is over, or whose athlete asked to be forgotten.
func TestWhatIsNoLongerKeptIsNotTagged(t *testing.T) {
	for _, c := range []struct {
		swept time.Time
		want  int
	}{{time.Time{}, 1}, {time.Now(), 0}} {
		a := &asked{}
		d := nightly.Redo{Tagger: a, Get: func(context.Context, string) (analysis.Row, error) {
			return analysis.Row{AnalysisID: "an-x", Status: analysis.Ready, SweptAt: c.swept}, nil
		}}
		if _, err := d.Do(t.Context(), backfill.Order{AnalysisID: "an-x", Version: "v2"}); err == nil || a.times != c.want || c.want == 0 && fault.NameOf(err) != fault.Permanent {
			t.Errorf("swept at %v: %v, asked %d times, want %d", c.swept, err, a.times, c.want)
		}
	}
}
