package motion

import "math"

// Limits of the search for foot contacts. Fast bowlers release about 0.1 s
// after front-foot contact, and land on the front foot 0.15 to 0.3 s after the
// back foot (Bartlett et al. 1996, J Sports Sci 14; Portus et al. 2004, Sports
// Biomech 3); the limits leave room on both sides.
const (
	maxFrontToRelease = 0.30
	minFrontToRelease = 0.02
	maxBackToFront    = 0.45
	minBackToFront    = 0.08
	plantedTorso      = 0.2 // a foot nearer than this to its stance is planted
)

// contact is an instant at which a foot comes down.
type contact struct {
	t      float64
	spread float64 // one standard deviation, seconds
	why    string  // not "": could not be found, and why
}

// stanceOf is where each mark of a foot stands between two instants, allowing
// for a camera that pans at pan pixels a second.
func (b *body) stanceOf(ks []int, from, to, pan, at float64) map[int]vec {
	out := map[int]vec{}
	for _, k := range ks {
		var x, y []float64
		for i := range b.f {
			f := &b.f[i]
			if f.t >= from && f.t <= to && f.p[k].ok {
				x, y = append(x, f.p[k].x-pan*(f.t-at)), append(y, f.p[k].y)
			}
		}
		if len(x) >= 2 {
			out[k] = vec{median(x), median(y)}
		}
	}
	return out
}

// pathTo measures how far a foot is from its stance over time.
func (b *body) pathTo(stance map[int]vec, ks []int, pan, at float64) signal {
	var s signal
	for i := range b.f {
		f := &b.f[i]
		sum, n := 0.0, 0
		for _, k := range ks {
			st, ok := stance[k]
			if !ok || !f.p[k].ok {
				continue
			}
			d := f.p[k].vec.sub(vec{pan * (f.t - at), 0}).sub(st)
			sum += d.length() / b.torso
			n++
		}
		if n > 0 {
			s.put(f.t, sum/float64(n))
		}
	}
	return s
}

// landing walks back from the stance to the last instant at which the foot was
// away from it, and extends its approach to the stance.
func (b *body) landing(s signal, from, earliest float64) contact {
	k := -1
	for i := len(s.t) - 1; i >= 0; i-- {
		if s.t[i] > from {
			continue
		}
		if s.t[i] < earliest {
			break
		}
		if s.v[i] > plantedTorso {
			k = i
			break
		}
	}
	if k < 0 {
		return contact{why: "the foot is not seen coming down"}
	}
	if k+1 >= len(s.t) || s.t[k+1]-s.t[k] > armLost {
		return contact{why: "the foot is hidden as it comes down"}
	}
	rest := b.restLevel(s, s.t[k+1], from)
	var ts, vs []float64
	for i := k; i >= 0 && s.t[k]-s.t[i] <= math.Max(0.05, 2*b.dt) && s.v[i] < 1.6; i-- {
		ts, vs = append(ts, s.t[i]), append(vs, s.v[i])
	}
	// The approach ends where the straight line through it meets the rest level.
	t := s.t[k] + (s.t[k+1]-s.t[k])*clamp((s.v[k]-rest)/math.Max(s.v[k]-s.v[k+1], 1e-6), 0, 1)
	if len(ts) >= 3 {
		if e, ok := fitAt(ts, vs, s.t[k], 0.2, 1); ok && e.slope < -1 {
			t = s.t[k] + (rest-e.value)/e.slope
		}
	}
	t = clamp(t, s.t[k], s.t[k+1]+b.dt/2)
	return contact{t: t, spread: math.Hypot(0.35*b.dt, 0.008)}
}

func (b *body) restLevel(s signal, from, to float64) float64 {
	var v []float64
	for i := range s.t {
		if s.t[i] >= from && s.t[i] <= to {
			v = append(v, s.v[i])
		}
	}
	if len(v) == 0 {
		return 0.05
	}
	return math.Min(median(v), plantedTorso/2)
}

// contacts finds back-foot and front-foot contact before a release, and the
// camera's pan in pixels a second seen from the planted front foot.
func (b *body) contacts(d delivery) (back, front contact, pan float64) {
	fm, bm := marks(d.arm.other()), marks(d.arm)
	frontMarks := []int{fm.ankle, fm.heel, fm.toe}
	backMarks := []int{bm.ankle, bm.heel, bm.toe}
	from, to := d.release-b.window(0.045), d.release+math.Max(0.06, 2*b.dt)
	pan = b.pan(frontMarks, from, to)
	st := b.stanceOf(frontMarks, from, to, pan, d.release)
	if len(st) == 0 {
		front = contact{why: "the front foot is out of sight at release"}
		back = contact{why: "front-foot contact was not found"}
		return back, front, pan
	}
	front = b.landing(b.pathTo(st, frontMarks, pan, d.release), d.release-minFrontToRelease, d.release-maxFrontToRelease)
	if front.why != "" {
		back = contact{why: "front-foot contact was not found"}
		return back, front, pan
	}
	from, to = front.t-0.11, front.t-0.02
	if to-from < 2.2*b.dt {
		from = to - 2.2*b.dt
	}
	st = b.stanceOf(backMarks, from, to, pan, front.t)
	if len(st) == 0 {
		return contact{why: "the back foot is out of sight before front-foot contact"}, front, pan
	}
	back = b.landing(b.pathTo(st, backMarks, pan, front.t), front.t-minBackToFront, front.t-maxBackToFront)
	return back, front, pan
}

// pan is the speed of the picture's ground, pixels a second, seen from a foot
// that stands between two instants; 0 when it is too small to tell.
func (b *body) pan(ks []int, from, to float64) float64 {
	var v []float64
	for _, k := range ks {
		var t, x []float64
		for i := range b.f {
			f := &b.f[i]
			if f.t >= from && f.t <= to && f.p[k].ok {
				t, x = append(t, f.t), append(x, f.p[k].x)
			}
		}
		if len(t) < 3 {
			continue
		}
		if e, ok := fitAt(t, x, (from+to)/2, (to-from)*0.8, 1); ok {
			v = append(v, e.slope)
		}
	}
	if len(v) == 0 {
		return 0
	}
	if p := median(v); math.Abs(p) > panTorso*b.torso {
		return p
	}
	return 0
}

// panTorso is the least pan that is told from a foot's own jitter, in torso
// lengths a second.
const panTorso = 1.0
