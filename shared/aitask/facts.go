package aitask

import (
	"fmt"
	"math"
	"strings"

	"fastbowlinglab/shared/motion"
)

// fact is one measure of one clip.
type fact struct {
	clip int // index in the analysis
	motion.Measure
}

// facts are the measures of the usable clips.
type facts struct {
	result motion.Result
	usable []motion.Clip
}

func factsOf(r motion.Result) facts {
	f := facts{result: r}
	for _, c := range r.Clips {
		if c.Refused == "" {
			f.usable = append(f.usable, c)
		}
	}
	return f
}

// best is the measured value of which we are surest among the clips.
func (f facts) best(name string, phase motion.PhaseName) (fact, bool) {
	var out fact
	ok := false
	for _, c := range f.usable {
		for _, m := range c.Measures {
			if m.Name == name && m.Phase == phase && m.NotMeasured == "" && (!ok || m.Confidence > out.Confidence) {
				out, ok = fact{c.Index, m}, true
			}
		}
	}
	return out, ok
}

// in is the measure in one clip.
func (f facts) in(clipIndex int, name string, phase motion.PhaseName) (fact, bool) {
	for _, c := range f.usable {
		if c.Index != clipIndex {
			continue
		}
		for _, m := range c.Measures {
			if m.Name == name && m.Phase == phase && m.NotMeasured == "" {
				return fact{c.Index, m}, true
			}
		}
	}
	return fact{}, false
}

// words are value, band and unit.
func (m fact) words() string { return m.Written() }

// num is a value of the measure in its own decimals.
func (m fact) num(v float64) string { return m.Number(v) }

func (m fact) unit() string {
	u, _ := motion.UnitOf(m.Unit)
	return u.Words
}

// low reports whether the table calls the confidence low: nothing is concluded
// from such a value.
func (m fact) low() bool { return m.Confidence < motion.FairConfidence }

func (m fact) ref() Ref { return Ref{m.clip, m.Name, string(m.Phase)} }

// evidence is the measure in words, for a reader.
func (m fact) evidence() string {
	return fmt.Sprintf("Clip %d, %s: %s (confidence %s %%).", m.clip+1, label(m.Name, m.Phase), m.words(), motion.Number(100*m.Confidence, 0))
}

// surely reports whether the whole band lies above (or below) a limit.
func (m fact) above(limit float64) bool { return m.Value-m.Band > limit }
func (m fact) below(limit float64) bool { return m.Value+m.Band < limit }

// spread says how far apart the clips are, when more than one has the measure.
func (f facts) spread(of fact) string {
	lo, hi, n := of.Value, of.Value, 0
	for _, c := range f.usable {
		if m, ok := f.in(c.Index, of.Name, of.Phase); ok {
			lo, hi, n = math.Min(lo, m.Value), math.Max(hi, m.Value), n+1
		}
	}
	if n < 2 {
		return ""
	}
	same := ", which is within the band: the clips agree"
	if hi-lo > of.Band {
		same = ", which is more than the band: it differs from delivery to delivery"
	}
	return fmt.Sprintf(" Over %d clips it ran from %s to %s%s%s.", n, of.num(lo), of.num(hi), of.unit(), same)
}

var labels = map[string]string{
	motion.ElbowAngle: "elbow of the bowling arm", motion.ElbowExtension: "straightening of the elbow",
	motion.FrontKneeAngle: "front knee", motion.TrunkForward: "forward lean of the trunk", motion.TrunkSide: "side lean of the trunk",
	motion.ArmAngle: "bowling arm from the vertical", motion.ArmSpeed: "speed of the bowling arm", motion.StrideLength: "delivery stride",
	motion.RunUpSpeed: "run-up speed", motion.StrideTime: "time of the delivery stride", motion.FrontToRelease: "time from front-foot contact to release",
}

var moments = map[motion.PhaseName]string{
	motion.RunUp: "in the run-up", motion.BackFootContact: "at back-foot contact", motion.FrontFootContact: "at front-foot contact",
	motion.Release: "at release", motion.FollowThrough: "in the follow-through",
}

// label names a measure in words.
func label(name string, phase motion.PhaseName) string {
	l, ok := labels[name]
	if !ok {
		l = strings.ReplaceAll(name, "_", " ")
	}
	switch name {
	case motion.StrideLength, motion.RunUpSpeed, motion.StrideTime, motion.FrontToRelease:
		return l // the moment is in the name
	}
	if m, ok := moments[phase]; ok {
		return l + " " + m
	}
	return l
}
