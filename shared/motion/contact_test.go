package motion

import (
	"math"
	"testing"

	"fastbowlinglab/shared/pose"
)

// A back foot that lands on its toes rolls on for a sixteenth of a second: its contact is
// told late, and the band of the delivery stride's time must hold that.
func TestABackFootThatRollsOn(t *testing.T) {
	clip := jointsOf(t, "bowler")
	const landed, stride = 1.1, 13.0 / 60
	torso := mustClean(t, clip).torso
	rolls := each(clip, func(_ int, fr *pose.Frame) {
		behind := 0.25 * torso * math.Max(0, 1-math.Max(0, fr.Time-landed)/0.06)
		for _, k := range []int{pose.RightAnkle, pose.RightHeel, pose.RightFootIndex} {
			fr.Points[k].X -= behind
		}
	})
	c := Analyse(0, rolls)
	at, ok := phaseTime(c, BackFootContact)
	if late := at - landed; !ok || late < 0.02 || late > 0.06 {
		t.Fatalf("contact found %v, %.3f s late: the test's foot does not roll as real ones do", ok, late)
	}
	m := measure(t, c, StrideTime, FrontFootContact)
	if off := math.Abs(m.Value - stride); m.NotMeasured != "" || off > m.Band {
		t.Errorf("%.3f ± %.3f s (%s), truth %.3f", m.Value, m.Band, m.NotMeasured, stride)
	}
}
