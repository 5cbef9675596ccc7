package motion

import (
	"math"
	"slices"
)

// Limits of the run-up. Lengths are torso lengths: a runner's trunk goes on evenly. It
// was within 0.1 of a line on rendered clips, and within 0.19 on real bowlers who slow down.
const (
	runUpSeconds = 0.5  // before back-foot contact
	minRunUp     = 0.25 // seconds that must be in view to give a speed
	runUpGap     = 0.1  // seconds without the hips: what was followed before may be somebody else
	unevenStep   = 0.25 // off the usual step from one frame to the next: a jump to somebody else, or back
	unevenLine   = 0.25 // off the line over it all: the track is drawn to somebody close by
)

const brokenRunUp = "the track of the run-up is broken: the bowler is hidden, or somebody else is close by"

// approach is the way of the hips up to back-foot contact at end, pixels towards the
// travel, as far back as it is unbroken; broken says that an earlier part was left out.
func (s *study) approach(end float64) (x signal, broken bool) {
	for i := range s.b.f {
		if h, ok := s.b.f[i].hips(); ok && s.b.f[i].t >= end-runUpSeconds && s.b.f[i].t <= end {
			x.put(s.b.f[i].t, s.d.dir*h.x)
		}
	}
	if len(x.t) < 2 {
		return x, false
	}
	var speeds []float64
	for i := 1; i < len(x.t); i++ {
		speeds = append(speeds, (x.v[i]-x.v[i-1])/(x.t[i]-x.t[i-1]))
	}
	usual := median(speeds)
	for i := len(x.t) - 1; i > 0; i-- {
		dt := x.t[i] - x.t[i-1]
		if off := math.Abs(x.v[i] - x.v[i-1] - usual*dt); off > unevenStep*s.b.torso || dt > runUpGap+s.b.dt {
			return signal{x.t[i:], x.v[i:]}, true
		}
	}
	return x, false
}

// runUp is the speed of the trunk over the last half second before back-foot
// contact, in body heights a second.
func (s *study) runUp() Measure {
	no := func(why string) Measure { return notMeasured(RunUpSpeed, RunUp, HeightsSecond, srcRunUp, why) }
	if s.back.why != "" {
		return no(s.back.why)
	}
	if s.pan != 0 {
		return no("the camera moves with the bowler")
	}
	if s.height == 0 {
		return no("the legs are hidden")
	}
	if s.side > maxOblique {
		return no("the clip is not filmed side-on")
	}
	x, broken := s.approach(s.back.t)
	if len(x.t) < 4 || x.t[len(x.t)-1]-x.t[0] < minRunUp {
		if broken {
			return no(brokenRunUp)
		}
		return no("too little of the run-up is in view")
	}
	from, to := x.t[0], x.t[len(x.t)-1]
	e, ok := x.at((from+to)/2, to-from+s.b.dt, 1)
	if !ok {
		return no("the track does not support a value")
	}
	if x.farthestFrom(e, (from+to)/2) > unevenLine*s.b.torso {
		return no(brokenRunUp)
	}
	value := e.slope / s.height
	if value <= 0.3 {
		return no("no run-up is seen")
	}
	// Size grows and shrinks with distance from the camera; 6 % covers a bowler
	// who runs 0.8 m off the line at 14 m.
	band := 1.96 * math.Hypot(0.06*value, 0.1*0.5/(to-from))
	return Measure{Name: RunUpSpeed, Phase: RunUp, Value: value, Unit: HeightsSecond, Band: band,
		Confidence: s.sure((from+to)/2, 15*band/0.3, marks(Left).hip, marks(Right).hip), Source: srcRunUp}
}

// farthestFrom is the most that the signal is off the line e about t0.
func (s signal) farthestFrom(e estimate, t0 float64) float64 {
	off := make([]float64, len(s.t))
	for i := range s.t {
		off[i] = math.Abs(s.v[i] - e.value - e.slope*(s.t[i]-t0))
	}
	return slices.Max(off)
}
