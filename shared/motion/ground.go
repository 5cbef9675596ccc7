package motion

import "math"

// minRunUp is how much of the run-up must be in view to give its speed.
const minRunUp = 0.25

// stride is the length of the delivery stride: ankle to ankle, from back-foot
// to front-foot contact, over the ground, in body heights.
func (s *study) stride() Measure {
	no := func(why string) Measure { return notMeasured(StrideLength, FrontFootContact, Heights, srcStride, why) }
	if s.front.why != "" {
		return no(s.front.why)
	}
	if s.back.why != "" {
		return no(s.back.why)
	}
	if s.height == 0 {
		return no("the legs are hidden")
	}
	if s.side > maxOblique {
		return no("the clip is not filmed side-on")
	}
	f, b := marks(s.frontSide), marks(s.d.arm)
	// The front foot is taken when it stands, the back foot before its heel lifts.
	front, ok1 := s.placeX(f.ankle, s.front.t+0.01, s.b.window(0.03))
	back, ok2 := s.placeX(b.ankle, s.back.t+0.02, s.b.window(0.03))
	if !ok1 || !ok2 {
		return no("an ankle is hidden at contact")
	}
	ground := s.pan * (s.front.t - s.back.t)
	value := s.d.dir * (front - back - ground) / s.height
	if value <= 0.2 {
		return no("the feet were not told apart")
	}
	band := 1.96 * math.Hypot(0.035, 0.05*value)
	if s.pan != 0 {
		band = math.Hypot(band, 1.96*0.25*math.Abs(ground)/s.height)
	}
	return Measure{Name: StrideLength, Phase: FrontFootContact, Value: value, Unit: Heights, Band: band,
		Confidence: s.sure(s.front.t, 15*band/0.1, f.ankle, b.ankle), Source: srcStride}
}

// placeX is the horizontal place of a landmark around an instant.
func (s *study) placeX(k int, t, half float64) (float64, bool) {
	var v []float64
	for i := range s.b.f {
		f := &s.b.f[i]
		if math.Abs(f.t-t) <= half && f.p[k].ok {
			v = append(v, f.p[k].x)
		}
	}
	if len(v) == 0 {
		return 0, false
	}
	return median(v), true
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
	var x signal
	for i := range s.b.f {
		if c, ok := s.b.f[i].hips(); ok && s.b.f[i].t >= s.back.t-0.5 && s.b.f[i].t <= s.back.t {
			x.put(s.b.f[i].t, c.x)
		}
	}
	if len(x.t) < 4 || x.t[len(x.t)-1]-x.t[0] < minRunUp {
		return no("too little of the run-up is in view")
	}
	from, to := x.t[0], x.t[len(x.t)-1]
	e, ok := x.at((from+to)/2, to-from+s.b.dt, 1)
	if !ok {
		return no("the track does not support a value")
	}
	value := s.d.dir * e.slope / s.height
	if value <= 0.3 {
		return no("no run-up is seen")
	}
	// Size grows and shrinks with distance from the camera; 6 % covers a bowler
	// who runs 0.8 m off the line at 14 m.
	band := 1.96 * math.Hypot(0.06*value, 0.1*0.5/(to-from))
	return Measure{Name: RunUpSpeed, Phase: RunUp, Value: value, Unit: HeightsSecond, Band: band,
		Confidence: s.sure((from+to)/2, 15*band/0.3, marks(Left).hip, marks(Right).hip), Source: srcRunUp}
}
