package motion

import (
	"math"

	"fastbowlinglab/shared/pose"
)

const (
	runUpBefore       = 0.30 // seconds before back-foot contact
	followAngle       = 130  // degrees beyond the vertical
	followLatest      = 0.30 // seconds after release
	followRepresented = 0.15 // where the arm is not seen to get there
)

// phases lists the instants that were found, in order.
func (s *study) phases() []Phase {
	var out []Phase
	add := func(n PhaseName, t float64) { out = append(out, s.phase(n, t)) }
	start := s.d.release - 0.35 // without contacts: about where back-foot contact would be
	if s.front.why == "" {
		start = s.front.t - 0.2
	}
	if s.back.why == "" {
		start = s.back.t
	}
	if t := math.Max(s.followedFrom(start), start-runUpBefore); t < start-s.b.dt {
		add(RunUp, t)
	}
	if s.back.why == "" {
		add(BackFootContact, s.back.t)
	}
	if s.front.why == "" {
		add(FrontFootContact, s.front.t)
	}
	add(Release, s.d.release)
	if t, ok := s.followThrough(); ok {
		add(FollowThrough, t)
	}
	return out
}

// followedFrom is the time from which on it is the bowler who is seen up to the
// instant at end, and not somebody close by.
func (s *study) followedFrom(end float64) float64 {
	if x, broken := s.approach(end); broken {
		return x.t[0]
	}
	return s.firstSeen()
}

func (s *study) firstSeen() float64 {
	for i := range s.b.f {
		if _, ok := s.b.f[i].centre(); ok {
			return s.b.f[i].t
		}
	}
	return s.b.f[0].t
}

// followThrough is the instant at which the arm has come down in front, or a
// fixed time after release when it is not seen to.
func (s *study) followThrough() (float64, bool) {
	last := s.b.f[len(s.b.f)-1].t
	for _, part := range s.b.armTurn(s.d.arm, s.d.dir) {
		top, ok := topAt(part, s.d.release)
		if !ok {
			continue
		}
		for i := range part.t {
			if dt := part.t[i] - s.d.release; dt > 0 && dt <= followLatest && part.v[i] >= top+followAngle {
				return part.t[i], true
			}
		}
	}
	t := math.Min(last, s.d.release+followRepresented)
	return t, t > s.d.release+s.b.dt
}

// topAt is the upright angle that the arm passes at release.
func topAt(part signal, release float64) (float64, bool) {
	for i := 1; i < len(part.t); i++ {
		if part.t[i-1] <= release && part.t[i] >= release {
			return math.Round(part.v[i]/360) * 360, true
		}
	}
	return 0, false
}

func (s *study) phase(n PhaseName, t float64) Phase {
	f := s.nearest(t)
	p := Phase{Name: n, Time: round(math.Max(0, t), 1e4), Frame: f.index, FrameTime: f.t}
	p.Points = make([]pose.Point, pose.Landmarks)
	for k := range f.p {
		if j := f.p[k]; j.ok {
			p.Points[k] = pose.Point{X: round(j.x, 100), Y: round(j.y, 100), Visibility: round(j.v, 1e3)}
		}
	}
	return p
}

func (s *study) nearest(t float64) *frame {
	best := &s.b.f[0]
	for i := range s.b.f {
		if math.Abs(s.b.f[i].t-t) < math.Abs(best.t-t) {
			best = &s.b.f[i]
		}
	}
	return best
}
