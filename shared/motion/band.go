package motion

import "math"

// bandBase is what the band of an angle starts from: one standard deviation of
// the pose model's error for a bowler of refTorso pixels, found on rendered
// clips with known joints (README.md), and how much that grows when the joints
// are seen small.
type bandBase struct {
	sigma  float64 // degrees
	offset float64 // degrees by which the pose model reads the angle too large, taken off
	pixel  float64 // degrees at one pixel of error per torso of refTorso pixels
	max    float64 // greatest possible value, 0 for none
	limbs  bool    // an angle of a limb, which an oblique view foreshortens
	near   bool    // not to be measured of an arm on the far side
	of     part    // which must be in the picture
}

// Limbs on the far side of the body are read otherwise than those on the near
// side. A far elbow the model reads as nearly straight, whatever it is: such a
// reading says nothing about the athlete (README.md). As a knee gives in landing,
// the model reads one that is near too bent.
var (
	bandElbow       = bandBase{sigma: 5.5, offset: 7, pixel: 4, max: 180, limbs: true, near: true, of: armLimb}
	bandKnee        = bandBase{sigma: 6, offset: 4, pixel: 4, max: 180, limbs: true, of: legLimb}
	bandLanding     = bandBase{sigma: 6, offset: -5, pixel: 4, max: 180, limbs: true, of: legLimb}
	bandLandingNear = bandBase{sigma: 9, offset: -12, pixel: 4, max: 180, limbs: true, of: legLimb}

	bandTrunk = bandBase{sigma: 5.2, pixel: 2}
	bandArm   = bandBase{sigma: 9, pixel: 3, limbs: true, of: armLimb}
)

const (
	refTorso   = 70.0 // pixels
	maxBand    = 25   // degrees: wider is 'not measured'
	maxOblique = 0.6  // of obliqueness: beyond it the view is not side-on
)

// landingBase is that of the side on which the knee is.
func (s *study) landingBase() bandBase {
	if s.farArm() { // the front leg is the other side's
		return bandLandingNear
	}
	return bandLanding
}

// farArm reports whether the bowling arm is the one away from the camera: who
// travels to the right of the picture is seen from the right, in a mirror from
// the left.
func (s *study) farArm() bool {
	seenFrom := Right
	if (s.d.dir < 0) != s.b.mirrored {
		seenFrom = Left
	}
	return s.d.arm != seenFrom
}

// corrected takes a reading's known offset off and keeps an angle of a joint
// within what a joint can do.
func (base bandBase) corrected(v float64) float64 {
	if base.max > 0 {
		return clamp(clamp(v, 0, base.max)-base.offset, 0, base.max)
	}
	return v - base.offset
}

// band is the half-width of the 95 % band of an angle e at an instant known to
// at.spread seconds.
func (s *study) band(base bandBase, e estimate, at contact) float64 {
	pixel := base.pixel * refTorso / s.b.torso
	timing := e.slope * at.spread
	noise := e.scatter / math.Sqrt(math.Max(1, float64(e.n)/2))
	view := 0.0
	if base.limbs {
		view = 10 * s.side * s.side
	}
	return 1.96 * math.Sqrt(base.sigma*base.sigma+pixel*pixel+timing*timing+noise*noise+view*view)
}

// releaseSpread is one standard deviation of the instant of release: the frame
// interval, and the angle at which bowlers let go, which differs between them.
func (s *study) releaseSpread() float64 {
	const (
		angle   = 7.0  // degrees
		guessed = 0.02 // seconds: the arm's place is the model's guess
	)
	spread := math.Hypot(0.25*s.b.dt, angle/math.Max(s.d.armSpeed, minArmSpeed))
	if s.armLeaves(s.d.release) != "" {
		spread = math.Hypot(spread, guessed)
	}
	return spread
}

// unsupported says why the view cannot support an angle, or "".
func (s *study) unsupported(base bandBase) string {
	if base.limbs && s.side > maxOblique {
		return "the clip is not filmed side-on"
	}
	if base.near && s.farArm() {
		return farElbow
	}
	return ""
}

const farElbow = "the bowling arm is on the far side of the body, where a bent elbow looks straight; film from the side of the bowling arm"

// sure is the confidence of a value: of the delivery, of the joints' visibility
// near the instant, and of the band.
func (s *study) sure(t, band float64, used ...int) float64 {
	sum, n := 0.0, 0
	for i := range s.b.f {
		f := &s.b.f[i]
		if math.Abs(f.t-t) > s.b.window(0.036) {
			continue
		}
		for _, k := range used {
			sum += f.p[k].v
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return s.d.confidence * (sum / float64(n)) * clamp(1.3-band/maxBand, 0.05, 1)
}
