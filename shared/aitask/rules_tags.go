package aitask

import (
	"slices"

	"fastbowlinglab/shared/motion"
)

// Limits of the tags' rules. A knee of braced degrees and more counts as
// straight; a change counts from changed degrees on, if its band allows no other
// (both after Portus et al. 2004).
const (
	braced      = 150.0
	changed     = 10.0
	slowFrames  = 100.0 // a second
	wideBand    = 15.0  // degrees
	leastValues = 5
)

// rulesTags sorts an analysis by fixed rules.
func rulesTags(r motion.Result) TagsText {
	f := factsOf(r)
	return TagsText{ActionType: actionType(f), Arm: armOf(f), Flags: flagsOf(f)}
}

func actionType(f facts) string {
	at, ok := f.best(motion.FrontKneeAngle, motion.FrontFootContact)
	if !ok {
		return ActionUnclear
	}
	end, ok := f.in(at.clip, motion.FrontKneeAngle, motion.Release)
	if !ok {
		return ActionUnclear
	}
	change, band := end.Value-at.Value, max(at.Band, end.Band)
	switch {
	case change >= changed && change > band:
		return FrontLegExtends
	case change <= -changed && -change > band:
		return FrontLegFlexes
	case change >= changed || change <= -changed: // the band allows the opposite
		return ActionUnclear
	case at.Value >= braced && end.Value >= braced:
		return FrontLegBraced
	}
	return FrontLegBent
}

// armOf is the bowling arm, if the clips agree.
func armOf(f facts) string {
	arm := ""
	for _, c := range f.usable {
		if c.Arm == "" || arm != "" && arm != string(c.Arm) {
			return "unclear"
		}
		arm = string(c.Arm)
	}
	if arm == "" {
		return "unclear"
	}
	return arm
}

func flagsOf(f facts) []string {
	flags := []string{}
	if len(f.usable) < len(f.result.Clips) {
		flags = append(flags, FlagClipRefused)
	}
	seen := map[motion.Side]bool{}
	values := 0
	for _, c := range f.usable {
		seen[c.Arm] = true
		if c.FrameRate > 0 && c.FrameRate < slowFrames {
			flags = append(flags, FlagLowFrameRate)
		}
		if c.Confidence < motion.FairConfidence {
			flags = append(flags, FlagLowConfidence)
		}
		for _, m := range c.Measures {
			if m.NotMeasured != "" {
				continue
			}
			values++
			if m.Unit == motion.Degrees && m.Band > wideBand {
				flags = append(flags, FlagWideBand)
			}
		}
	}
	if len(seen) > 1 {
		flags = append(flags, FlagArmsDiffer)
	}
	if values < leastValues {
		flags = append(flags, FlagFewMeasures)
	}
	slices.Sort(flags)
	return slices.Compact(flags)
}
