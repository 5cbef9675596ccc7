package aitask

import (
	"encoding/json"
	"slices"
	"testing"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/reason"
)

func knees(contact, release, band float64) motion.Result {
	knee := func(at motion.PhaseName, v float64) motion.Measure {
		return motion.Measure{Name: motion.FrontKneeAngle, Phase: at, Value: v, Unit: motion.Degrees, Band: band, Confidence: 0.9}
	}
	return motion.Result{Version: 1, Clips: []motion.Clip{{Arm: motion.Right, FrameRate: 240, Confidence: 0.9, Measures: []motion.Measure{
		knee(motion.FrontFootContact, contact), knee(motion.Release, release),
		{Name: motion.TrunkSide, Unit: motion.Degrees, Value: 30, Band: 5}, {Name: motion.ArmAngle, Unit: motion.Degrees, Value: 3, Band: 5},
		{Name: motion.StrideTime, Unit: motion.Seconds, Value: 0.2, Band: 0.01}}}}}
}

func TestRulesTags(t *testing.T) {
	for _, c := range []struct {
		name            string
		r               motion.Result
		action          string
		arm             string
		flags           []string
		contact, change float64
	}{
		{name: "Extends", r: knees(150, 165, 6), action: FrontLegExtends, arm: "right"},
		{name: "Flexes", r: knees(165, 140, 6), action: FrontLegFlexes, arm: "right"},
		{name: "Braced", r: knees(160, 164, 6), action: FrontLegBraced, arm: "right"},
		{name: "Bent", r: knees(130, 134, 6), action: FrontLegBent, arm: "right"},
		{name: "BandAllowsTheOpposite", r: knees(150, 165, 18), action: ActionUnclear, arm: "right", flags: []string{FlagWideBand}},
		{name: "NothingMeasured", r: motion.Result{Clips: []motion.Clip{{Refused: reason.NotBowling}}}, action: ActionUnclear, arm: "unclear",
			flags: []string{FlagClipRefused, FlagFewMeasures}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := rulesTags(c.r)
			if got.ActionType != c.action || got.Arm != c.arm || !slices.Equal(got.Flags, c.flags) {
				t.Errorf("got %+v, want %s %s %v", got, c.action, c.arm, c.flags)
			}
			if err := got.check(); err != nil {
				t.Error(err)
			}
			a, _ := json.Marshal(rulesTags(c.r))
			b, _ := json.Marshal(rulesTags(c.r))
			if string(a) != string(b) {
				t.Errorf("two answers to one question: %s, %s", a, b)
			}
		})
	}
}

func TestTagsOutsideTheListAreRefused(t *testing.T) {
	for _, bad := range []TagsText{{"chucking", "right", nil}, {FrontLegBent, "both", nil}, {FrontLegBent, "left", []string{"illegal"}}} {
		if bad.check() == nil {
			t.Errorf("%+v passed", bad)
		}
	}
	if _, err := SpecOf(Tags); err != nil {
		t.Error(err)
	}
}
