package motion

import (
	"fmt"
	"math"
)

// alike is how much of the two bands of a difference of two angles of one joint
// is left: the tracker's error is partly the same in both.
const alike = 0.9

// settled is how long after landing the knee's angle at landing is read from, in
// seconds: a frame too early would be of a leg still in the air.
const settled = 0.006

// measures lists every measure, measured or not, in the report's order.
func (s *study) measures() []Measure {
	m := marks(s.d.arm)
	k := marks(s.frontSide)
	elbow := s.b.angleOf(m.shoulder, m.elbow, m.wrist)
	knee := s.b.angleOf(k.hip, k.knee, k.ankle)
	lean := s.b.trunkLean(s.d.dir)
	rel := contact{t: s.d.release, spread: s.releaseSpread()}
	out := []Measure{
		s.angle(ElbowAngle, Release, elbow, 2, rel, bandElbow, srcElbow, m.shoulder, m.elbow, m.wrist),
		s.extension(elbow, rel),
		s.angle(FrontKneeAngle, FrontFootContact, knee.since(s.front.t+math.Max(0.3*s.b.dt, settled)), 0, s.front, s.landingBase(), srcKnee, k.hip, k.knee, k.ankle),
		s.angle(FrontKneeAngle, Release, knee, 2, rel, bandKnee, srcKnee, k.hip, k.knee, k.ankle),
		s.angle(TrunkForward, Release, lean, 2, rel, bandTrunk, srcTrunk, m.shoulder, k.shoulder, m.hip, k.hip),
		{Name: TrunkSide, Phase: Release, Unit: Degrees, Source: srcSide,
			NotMeasured: "a side-on view cannot show it; film from behind or in front as well"},
		s.armAngle(),
		notMeasured(ArmAngle, Release, Degrees, srcArm,
			"the ball is not tracked: release is judged by this angle itself"),
		s.armSpeed(rel),
		s.stride(),
		s.runUp(),
		s.interval(StrideTime, FrontFootContact, s.back, s.front),
		s.interval(FrontToRelease, Release, s.front, rel),
	}
	for i := range out {
		out[i] = finish(out[i])
	}
	return out
}

// finish rounds a measure, and turns one whose value is no number or whose band
// is too wide to mean anything into 'not measured'.
func finish(m Measure) Measure {
	if m.NotMeasured == "" && !(finite(m.Value) && finite(m.Band) && m.Band > 0) {
		m.NotMeasured = "the track does not support a value"
	}
	if m.NotMeasured != "" {
		m.Value, m.Band, m.Confidence = 0, 0, 0
		return m
	}
	n := 10.0
	if m.Unit == Heights || m.Unit == HeightsSecond {
		n = 100
	}
	if m.Unit == Seconds {
		n = 1000
	}
	m.Value, m.Band, m.Confidence = round(m.Value, n), math.Max(1/n, round(m.Band, n)), round(clamp(m.Confidence, 0, 1), 100)
	return m
}

func notMeasured(name string, p PhaseName, unit, src, why string) Measure {
	return Measure{Name: name, Phase: p, Unit: unit, Source: src, NotMeasured: why}
}

// angle is a joint or segment angle at an instant.
func (s *study) angle(name string, p PhaseName, sig signal, degree int, at contact, base bandBase, src string, used ...int) Measure {
	if at.why != "" {
		return notMeasured(name, p, Degrees, src, at.why)
	}
	if why := s.unsupported(base); why != "" {
		return notMeasured(name, p, Degrees, src, why)
	}
	if why := s.leaves(base, at.t); why != "" {
		return notMeasured(name, p, Degrees, src, why)
	}
	e, ok := sig.at(at.t, s.b.window(0.036*float64(3-degree)), degree)
	if !ok {
		return notMeasured(name, p, Degrees, src, "the joints are hidden or blurred at that instant")
	}
	e.value = base.corrected(e.value)
	band := s.band(base, e, at)
	if band > maxBand {
		return notMeasured(name, p, Degrees, src, s.tooWide(band, at, e))
	}
	return Measure{Name: name, Phase: p, Value: e.value, Unit: Degrees, Band: band,
		Confidence: s.sure(at.t, band, used...), Source: src}
}

// extension is how far the elbow straightened between the arm passing the
// horizontal and release, as seen in the picture.
func (s *study) extension(elbow signal, rel contact) Measure {
	no := func(why string) Measure { return notMeasured(ElbowExtension, Release, Degrees, srcElbow, why) }
	if s.b.dt > 1.0/50 {
		return no("it needs at least 50 frames a second")
	}
	if why := s.unsupported(bandElbow); why != "" {
		return no(why)
	}
	if why := s.armLeaves(rel.t); why != "" {
		return no(why)
	}
	from, ok := s.armHorizontal()
	if !ok {
		return no("the arm is not seen passing the horizontal")
	}
	end, ok := elbow.at(rel.t, s.b.window(0.036), 2)
	if !ok {
		return no("the joints are hidden or blurred at release")
	}
	least, n := end, 0
	for t := from; t < rel.t; t += math.Min(s.b.dt, 0.01) {
		if e, ok := elbow.at(t, s.b.window(0.036), 2); ok {
			n++
			if e.value < least.value {
				least = e
			}
		}
	}
	if n < 3 {
		return no("too few frames between arm horizontal and release")
	}
	band := math.Hypot(s.band(bandElbow, end, rel), s.band(bandElbow, least, contact{spread: s.b.dt / 3})) * alike
	if band > maxBand {
		return no(s.tooWide(band, rel, end))
	}
	m := marks(s.d.arm)
	return Measure{Name: ElbowExtension, Phase: Release, Value: math.Max(0, math.Min(180, end.value)-math.Min(180, least.value)), Unit: Degrees, Band: band,
		Confidence: s.sure(rel.t, band, m.shoulder, m.elbow, m.wrist), Source: srcElbow}
}

// armHorizontal is the last instant before release at which the arm points
// straight back.
func (s *study) armHorizontal() (float64, bool) {
	for _, part := range s.b.armTurn(s.d.arm, s.d.dir) {
		top, ok := topAt(part, s.d.release)
		if !ok {
			continue
		}
		for i := len(part.t) - 1; i > 0; i-- {
			if lo, hi := part.v[i-1]-top, part.v[i]-top; part.t[i] <= s.d.release && lo <= -90 && hi > -90 {
				return part.t[i-1] + (part.t[i]-part.t[i-1])*(-90-lo)/(hi-lo), true
			}
		}
	}
	return 0, false
}

func (s *study) armSignal() (signal, bool) {
	for _, part := range s.b.armTurn(s.d.arm, s.d.dir) {
		if top, ok := topAt(part, s.d.release); ok {
			out := signal{t: part.t, v: make([]float64, len(part.v))}
			for i := range part.v {
				out.v[i] = part.v[i] - top
			}
			return out, true
		}
	}
	return signal{}, false
}

// armAngle is the angle of the arm at front-foot contact, which tells how late
// it starts (Worthington et al. 2013).
func (s *study) armAngle() Measure {
	sig, ok := s.armSignal()
	if !ok {
		return notMeasured(ArmAngle, FrontFootContact, Degrees, srcArm, "the arm is hidden or blurred")
	}
	m := marks(s.d.arm)
	return s.angle(ArmAngle, FrontFootContact, sig, 2, s.front, bandArm, srcArm, m.shoulder, m.wrist)
}

func (s *study) armSpeed(rel contact) Measure {
	sig, ok := s.armSignal()
	e, fit := sig.at(rel.t, s.b.window(0.045), 1)
	if !ok || !fit {
		return notMeasured(ArmSpeed, Release, DegreesSecond, srcArm, "the arm is hidden or blurred at release")
	}
	if why := s.armLeaves(rel.t); why != "" {
		return notMeasured(ArmSpeed, Release, DegreesSecond, srcArm, why)
	}
	if why := s.unsupported(bandArm); why != "" {
		return notMeasured(ArmSpeed, Release, DegreesSecond, srcArm, why)
	}
	m := marks(s.d.arm)
	// Two ends of the fitted window, each as uncertain as an arm angle.
	band := math.Hypot(0.12*e.slope, 1.96*math.Sqrt2*6/(2*s.b.window(0.045)))
	return Measure{Name: ArmSpeed, Phase: Release, Value: e.slope, Unit: DegreesSecond, Band: band,
		Confidence: s.sure(rel.t, 12, m.shoulder, m.wrist), Source: srcArm}
}

func (s *study) interval(name string, p PhaseName, a, b contact) Measure {
	for _, c := range [...]contact{a, b} {
		if c.why != "" {
			return notMeasured(name, p, Seconds, srcTimes, c.why)
		}
	}
	band := 1.96 * math.Hypot(a.spread, b.spread)
	if b.t-a.t <= 0 {
		return notMeasured(name, p, Seconds, srcTimes, "the contacts were not told apart")
	}
	return Measure{Name: name, Phase: p, Value: b.t - a.t, Unit: Seconds, Band: band,
		Confidence: s.d.confidence * clamp(1.2-band/(b.t-a.t), 0, 1), Source: srcTimes}
}

// tooWide explains why a value is withheld.
func (s *study) tooWide(band float64, at contact, e estimate) string {
	if math.Abs(e.slope)*at.spread > band/3 {
		return fmt.Sprintf("at %.0f frames a second it would be uncertain by more than %d degrees", 1/s.b.dt, maxBand)
	}
	return fmt.Sprintf("the tracking is too uncertain at that instant: by more than %d degrees", maxBand)
}
