package motion

import (
	"math"
	"strconv"
	"strings"
)

// How numbers are written, once for every page, text and prompt: a value that two
// places round in two ways contradicts itself.

// Number writes f with so many decimals: halves away from zero, a true minus sign,
// no negative zero.
func Number(f float64, decimals int) string {
	scale := math.Pow10(decimals)
	// A value given in decimals is not hit by binary fractions: 0.285 is a little less.
	if r := math.Round(f*scale*(1+1e-12)) / scale; !math.IsInf(r, 0) {
		f = r
	}
	s := strconv.FormatFloat(f, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return strings.Replace(s, "-", "−", 1)
}

// Unit is how a unit is written after a number, and how many decimals the number
// has.
type Unit struct {
	Sign     string // short, for tables and pictures, with its space if it has one
	Words    string // in a sentence, with its space
	Decimals int
}

var units = map[string]Unit{
	Degrees:       {"°", " degrees", 0},
	DegreesSecond: {"°/s", " degrees a second", 0},
	Seconds:       {" s", " s", 2},
	Heights:       {" heights", " body heights", 2},
	HeightsSecond: {" heights/s", " body heights a second", 2},
	"":            {"", "", 2},
}

// UnitOf is the writing of a unit; ok is false for one that is not known, which
// is written by its name.
func UnitOf(unit string) (u Unit, ok bool) {
	if u, ok = units[unit]; ok {
		return u, true
	}
	return Unit{" " + unit, " " + unit, 2}, false
}

// Number writes a value in the measure's own decimals, without the unit.
func (m Measure) Number(v float64) string {
	u, _ := UnitOf(m.Unit)
	return Number(v, u.Decimals)
}

// Written is value and band for a sentence: "164 ± 15 degrees". It is "" where
// nothing was measured.
func (m Measure) Written() string {
	if m.NotMeasured != "" {
		return ""
	}
	u, _ := UnitOf(m.Unit)
	return m.Number(m.Value) + " ± " + m.Number(m.Band) + u.Words
}

// From here on confidence is fair, and high. Below fair it is low, and no
// conclusion may rest on the value.
const (
	FairConfidence = 0.5
	HighConfidence = 0.8
)

// ConfidenceWord is a confidence in a word.
func ConfidenceWord(c float64) string {
	switch {
	case c >= HighConfidence:
		return "high"
	case c >= FairConfidence:
		return "fair"
	}
	return "low"
}

// FromRelease is the time of an instant as seconds after release, negative before
// it; ok is false without a release. An interval that was measured counts as it
// was measured, so that a timeline and a table say the same.
func (c Clip) FromRelease(p Phase) (seconds float64, ok bool) {
	front, hasFront := c.interval(FrontToRelease)
	stride, hasStride := c.interval(StrideTime)
	for _, q := range c.Phases {
		if q.Name != Release {
			continue
		}
		switch {
		case p.Name == FrontFootContact && hasFront:
			return -front, true
		case p.Name == BackFootContact && hasFront && hasStride:
			return -(front + stride), true
		}
		return p.Time - q.Time, true
	}
	return 0, false
}

// Between is the time from one instant to a later one, as FromRelease has it.
func (c Clip) Between(from, to Phase) float64 {
	if stride, ok := c.interval(StrideTime); ok && from.Name == BackFootContact && to.Name == FrontFootContact {
		return stride
	}
	a, ok := c.FromRelease(from)
	b, _ := c.FromRelease(to)
	if !ok {
		return to.Time - from.Time
	}
	return b - a
}

// interval is a measured interval of the clip.
func (c Clip) interval(name string) (float64, bool) {
	for _, m := range c.Measures {
		if m.Name == name && m.NotMeasured == "" {
			return m.Value, true
		}
	}
	return 0, false
}
