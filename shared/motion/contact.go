package motion

import (
	"math"
	"slices"
)

// Limits of the search for foot contacts. Fast bowlers release about 0.1 s
// after front-foot contact, and land on the front foot 0.15 to 0.3 s after the
// back foot (Bartlett et al. 1996, J Sports Sci 14); the limits leave room on
// both sides.
const (
	maxFrontToRelease = 0.30
	minFrontToRelease = 0.03
	maxBackToFront    = 0.42
	minBackToFront    = 0.09
	footSpeed         = 3.5  // torso lengths a second: faster is no planted foot of a fast bowler
	footShare         = 0.4  // of the fastest step before: faster is no planted foot of a slow one
	footSlowest       = 1.2  // torso lengths a second: the tracker's jitter
	approachSeconds   = 0.07 // before contact, in which the foot comes down
	panTorso          = 1.6  // torso lengths a second: less is a foot's own jitter
	panTravel         = 3.0  // of the trunk across the picture: faster is a still camera
)

// backSpread, in seconds, is one standard deviation more of back-foot contact. The
// back foot lands on its toes and rolls on: its landmarks slow down little by little,
// and nothing in their speeds tells when it touched. It was told 0.02 s early on rendered
// clips, which land flat, and up to 0.05 s late on real ones (README.md).
const backSpread = 0.025

// contact is an instant, such as that at which a foot comes down.
type contact struct {
	t      float64
	spread float64 // one standard deviation, seconds
	why    string  // not "": could not be found, and why
}

// contacts finds back-foot and front-foot contact before a release, and the
// speed of the ground in the picture, pixels a second: not 0 where the camera
// pans.
func (b *body) contacts(d delivery) (back, front contact, pan float64) {
	fm, bm := marks(d.arm.other()), marks(d.arm)
	front3 := []int{fm.ankle, fm.heel, fm.toe}
	pan = b.pan(d, front3, d.release-0.05, d.release+math.Max(0.12, 3*b.dt))
	front = b.landing(b.footSpeeds(front3, pan), d.release-minFrontToRelease, d.release-maxFrontToRelease)
	if front.why != "" {
		return contact{why: "front-foot contact was not found"}, front, pan
	}
	if c, ok := b.arrival(front3, d.release, pan, front.t); ok {
		front = c
	}
	back3 := []int{bm.ankle, bm.heel, bm.toe}
	back = b.landing(b.footSpeeds(back3, pan), front.t-minBackToFront, front.t-maxBackToFront)
	back.spread = math.Hypot(back.spread, backSpread)
	return b.whole(back, back3), b.whole(front, front3), pan
}

// footSpeeds is the speed of a foot over the ground in torso lengths a second:
// the median of its landmarks, each from a local line.
func (b *body) footSpeeds(ks []int, pan float64) signal {
	half := math.Max(0.03, 1.7*b.dt)
	paths := make([][2]signal, len(ks))
	for n, k := range ks {
		for i := range b.f {
			if f := &b.f[i]; f.p[k].ok {
				paths[n][0].put(f.t, f.p[k].x-pan*f.t)
				paths[n][1].put(f.t, f.p[k].y)
			}
		}
	}
	var out signal
	for i := range b.f {
		var v []float64
		for n := range paths {
			x, ok1 := paths[n][0].slopeAt(b.f[i].t, half)
			y, ok2 := paths[n][1].slopeAt(b.f[i].t, half)
			if ok1 && ok2 {
				v = append(v, math.Hypot(x, y)/b.torso)
			}
		}
		if len(v) > 0 {
			out.put(b.f[i].t, middle(v))
		}
	}
	return out
}

// middle is the median with the mean of the two middle values for even counts.
func middle(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// slopeAt is the least-squares slope within half seconds of t0.
func (s signal) slopeAt(t0, half float64) (float64, bool) {
	from, to := within(s.t, t0, half)
	n := float64(to - from)
	if n < 2 {
		return 0, false
	}
	var mt, mv float64
	for i := from; i < to; i++ {
		mt, mv = mt+s.t[i]/n, mv+s.v[i]/n
	}
	var tt, tv float64
	for i := from; i < to; i++ {
		tt += (s.t[i] - mt) * (s.t[i] - mt)
		tv += (s.t[i] - mt) * (s.v[i] - mv)
	}
	return tv / tt, tt > 0
}

// landing walks back through a planted foot's speeds to where it was coming
// down, and takes the instant at which its speed had fallen to half: where a
// path bends from moving to standing, a centred slope is halfway between both.
func (b *body) landing(s signal, from, earliest float64) contact {
	first, last := within(s.t, (from+earliest)/2, (from-earliest)/2)
	moving := clamp(footShare*quantile(s.v[first:last], 0.9), footSlowest, footSpeed)
	i := len(s.t) - 1
	for i >= 0 && s.t[i] > from {
		i--
	}
	for i >= 0 && s.t[i] >= earliest && s.v[i] > moving { // still settling, or mistracked
		i--
	}
	for i >= 0 && s.t[i] >= earliest && !(s.v[i] > moving && (i == 0 || s.v[i-1] > moving)) {
		i--
	}
	if i < 0 || s.t[i] < earliest {
		return contact{why: "the foot is not seen coming down"}
	}
	if i+1 >= len(s.t) || s.t[i+1]-s.t[i] > armLost {
		return contact{why: "the foot is hidden as it comes down"}
	}
	top := s.v[i]
	for k := i; k >= 0 && s.t[i]-s.t[k] <= math.Max(approachSeconds, 1.5*b.dt); k-- {
		top = math.Max(top, s.v[k])
	}
	// The rest level is what the tracker's jitter leaves of a standing foot.
	rest := s.v[i+1]
	for k := i + 1; k < len(s.t) && s.t[k]-s.t[i] <= 0.06; k++ {
		rest = math.Min(rest, s.v[k])
	}
	half := (math.Min(top, 3*moving) + rest) / 2
	k := i
	for k > 0 && s.v[k] < half && s.t[i]-s.t[k] < approachSeconds {
		k--
	}
	for k+1 < len(s.t) && s.v[k+1] >= half {
		k++
	}
	if k+1 >= len(s.t) {
		return contact{why: "the foot is hidden as it comes down"}
	}
	u := clamp((s.v[k]-half)/math.Max(s.v[k]-s.v[k+1], 1e-9), 0, 1)
	return contact{t: s.t[k] + u*(s.t[k+1]-s.t[k]), spread: math.Hypot(0.35*b.dt, 0.009)}
}

// pan is the speed of the picture's ground, pixels a second, seen from a foot
// that stands between two instants; 0 for a still camera. A camera pans with the
// bowler, who then hardly moves in the picture while the ground runs back; any
// other drift of the foot is the tracker's.
func (b *body) pan(d delivery, ks []int, from, to float64) float64 {
	var v []float64
	for _, k := range ks {
		var s signal
		for i := range b.f {
			if f := &b.f[i]; f.t >= from && f.t <= to && f.p[k].ok {
				s.put(f.t, f.p[k].x)
			}
		}
		if x, ok := s.slopeAt((from+to)/2, to-from); ok && len(s.t) >= 3 {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return 0
	}
	if p := middle(v); d.dir*p < -panTorso*b.torso && d.travel < panTravel {
		return p
	}
	return 0
}

// Limits of arrival, in torso lengths from where the foot stands.
const (
	awayTorso  = 0.2
	agreeFoot  = 0.06 // seconds between the two ways of finding a contact
	standFrom  = 0.05 // seconds before release
	standUntil = 0.06 // seconds after it
)

// arrival is a second way to find front-foot contact: the last instant at which
// the foot was away from where it stands at release. Speed sees the contact
// early when a model draws the foot to the ground, distance sees it late, so
// their mean is taken where they agree.
func (b *body) arrival(ks []int, release, pan, bySpeed float64) (contact, bool) {
	s := b.distanceFrom(ks, release, pan)
	k := -1
	for i := len(s.t) - 1; i >= 0 && s.t[i] >= release-maxFrontToRelease; i-- {
		if s.t[i] <= release-minFrontToRelease && s.v[i] > awayTorso {
			k = i
			break
		}
	}
	if k < 0 || k+1 >= len(s.t) || s.t[k+1]-s.t[k] > armLost {
		return contact{}, false
	}
	var approach signal
	for i := k; i >= 0 && s.t[k]-s.t[i] <= math.Max(0.05, 2*b.dt) && s.v[i] < 1.6; i-- {
		approach.put(s.t[i], s.v[i])
	}
	t := s.t[k] + (s.t[k+1]-s.t[k])*clamp((s.v[k]-awayTorso/2)/math.Max(s.v[k]-s.v[k+1], 1e-6), 0, 1)
	if v, ok := approach.slopeAt(s.t[k], 0.2); ok && len(approach.t) >= 3 && v < -1 {
		t = clamp(s.t[k]+(awayTorso/4-s.v[k])/v, s.t[k], s.t[k+1]+b.dt/2)
	}
	apart := math.Abs(t - bySpeed)
	if apart > math.Max(agreeFoot, 2*b.dt) {
		return contact{}, false
	}
	return contact{t: (t + bySpeed) / 2, spread: math.Hypot(math.Hypot(0.3*b.dt, 0.007), apart/3)}, true
}

// distanceFrom is how far a foot is from where it stands around release, in
// torso lengths, each landmark against its own place.
func (b *body) distanceFrom(ks []int, release, pan float64) signal {
	stand := map[int]vec{}
	for _, k := range ks {
		var x, y []float64
		for i := range b.f {
			f := &b.f[i]
			if f.p[k].ok && f.t >= release-b.window(standFrom) && f.t <= release+math.Max(standUntil, 2*b.dt) {
				x, y = append(x, f.p[k].x-pan*f.t), append(y, f.p[k].y)
			}
		}
		if len(x) >= 2 {
			stand[k] = vec{middle(x), middle(y)}
		}
	}
	var s signal
	for i := range b.f {
		f := &b.f[i]
		sum, n := 0.0, 0
		for _, k := range ks {
			if at, ok := stand[k]; ok && f.p[k].ok {
				sum += f.p[k].vec.sub(vec{pan * f.t, 0}).sub(at).length() / b.torso
				n++
			}
		}
		if n > 0 {
			s.put(f.t, sum/float64(n))
		}
	}
	return s
}
