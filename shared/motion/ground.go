package motion

import "math"

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
