package motion

import (
	"math"
	"testing"

	"fastbowlinglab/shared/pose"
)

// The rendered sample's run-up, true joints: back-foot contact at 1.1 s. Somebody who
// stands in the bowler's way, whom the track is of at first or is drawn to, must not
// make the speed wrong nor be shown as the bowler.
func TestRunUpWithSomebodyInTheWay(t *testing.T) {
	clip := jointsOf(t, "bowler")
	const right = 2.22 // body heights a second, testdata/bowler.truth.json
	torso := mustClean(t, clip).torso
	stands := func(until float64) pose.Track { // a little farther on, until the bowler has come there
		var still []pose.Point
		for _, f := range clip.Frames {
			if f.Time < until {
				still = f.Points
			}
		}
		return each(clip, func(_ int, fr *pose.Frame) {
			if fr.Time < until {
				for k := range fr.Points {
					fr.Points[k] = still[k]
					fr.Points[k].X += 0.6 * torso
				}
			}
		})
	}
	drawn := each(clip, func(_ int, fr *pose.Frame) {
		off := math.Max(0, 1-math.Abs(fr.Time-0.85)/0.15) * 0.6 * torso
		for k := range fr.Points {
			fr.Points[k].X -= off
		}
	})
	hidden := each(clip, func(_ int, fr *pose.Frame) {
		if fr.Time > 0.75 && fr.Time < 0.92 {
			fr.Points, fr.Score = nil, 0
		}
	})
	for _, c := range []struct {
		name  string
		track pose.Track
		why   string
	}{
		{"Alone", clip, ""},
		{"SomebodyElseUntilLongBefore", stands(0.8), ""},
		{"SomebodyElseUntilShortlyBefore", stands(0.95), brokenRunUp},
		{"DrawnToSomebody", drawn, brokenRunUp},
		{"HiddenShortlyBefore", hidden, brokenRunUp},
	} {
		got := Analyse(0, c.track)
		m := measure(t, got, RunUpSpeed, RunUp)
		if m.NotMeasured != c.why {
			t.Errorf("%s: %.2f ± %.2f, not measured because %q, want %q", c.name, m.Value, m.Band, m.NotMeasured, c.why)
		}
		if c.why == "" && math.Abs(m.Value-right) > m.Band {
			t.Errorf("%s: %.2f ± %.2f, truth %.2f", c.name, m.Value, m.Band, right)
		}
		for _, p := range got.Phases {
			if hip, is := clip.Frames[p.Frame].Points[pose.RightHip], p.Points[pose.RightHip]; p.Name == RunUp && is.Present() && math.Abs(is.X-hip.X) > 0.65*torso {
				t.Errorf("%s: the picture of the run-up is of somebody %.0f pixels away", c.name, is.X-hip.X)
			}
		}
	}
}
