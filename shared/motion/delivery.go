package motion

import (
	"math"
	"slices"

	"fastbowlinglab/shared/pose"
)

// What an arm must do to have bowled. The speeds are those of the whole arm in
// the picture: at 30 frames a second real fast bowlers were seen at 840 to
// 1,690 degrees a second; a wave or a signal stays below 350.
const (
	minArmSpeed   = 420.0  // degrees a second through the vertical
	maxArmSpeed   = 2600.0 // more is a tracking fault
	minSweep      = 110.0  // degrees turned before the vertical, without turning back
	sweepBack     = 20.0   // degrees of backward jitter allowed within the sweep
	sweepSeconds  = 0.5    // in at most this time
	releaseAngle  = 5.0    // degrees beyond the vertical at which the ball is let go
	minEvidence   = 0.55   // of 1
	plainEvidence = 0.85   // enough to look no further
)

// delivery is a bowling delivery found in a body.
type delivery struct {
	arm        Side
	dir        float64 // +1: travels to the right of the picture, -1: to the left
	release    float64 // seconds
	armSpeed   float64 // degrees a second at release
	sweep      float64 // degrees turned up to the vertical
	after      float64 // degrees turned beyond it
	evidence   float64 // in [0,1]
	travel     float64 // torso lengths a second of the trunk in the picture, towards dir
	confidence float64
	others     int // further deliveries in the same track
}

// findDelivery looks for the best delivery of either arm in either direction;
// its evidence is 0 where there is nothing like one.
func (b *body) findDelivery() delivery {
	var best delivery
	var all []delivery
	for _, side := range [...]Side{Right, Left} {
		for _, dir := range [...]float64{1, -1} {
			for _, part := range b.armTurn(side, dir) {
				for _, d := range b.crossings(part, side, dir) {
					all = append(all, d)
					if d.evidence > best.evidence {
						best = d
					}
				}
			}
		}
	}
	best.others = others(best, all)
	return best
}

// nextBall is the least time between two deliveries, in seconds: a bowler who
// hurries needs ten, and a clip that was cut together may have less.
const nextBall = 2.0

// others counts the deliveries beside the best one.
func others(best delivery, all []delivery) int {
	at := []float64{best.release}
	for _, d := range all {
		near := func(t float64) bool { return math.Abs(t-d.release) < nextBall }
		if d.evidence >= minEvidence && !slices.ContainsFunc(at, near) {
			at = append(at, d.release)
		}
	}
	return len(at) - 1
}

// crossings gives the instants at which the arm comes over the top in the sense
// of bowling towards dir, fast and after a full sweep, with their evidence.
func (b *body) crossings(s signal, side Side, dir float64) []delivery {
	var out []delivery
	for i := 1; i < len(s.t); i++ {
		top := math.Ceil(s.v[i-1]/360) * 360
		if s.v[i-1] == top { // starts exactly upright
			top += 360
		}
		if s.v[i] < top {
			continue
		}
		d := delivery{arm: side, dir: dir}
		d.sweep, d.after = sweepAround(s, i, top)
		if d.sweep < minSweep {
			continue
		}
		d.release, d.armSpeed = b.releaseNear(s, i, top)
		if d.armSpeed < minArmSpeed || d.armSpeed > maxArmSpeed {
			continue
		}
		b.weigh(&d)
		out = append(out, d)
	}
	return out
}

// sweepAround measures how far the arm turned up to the upright angle top,
// which it passes between samples i-1 and i, and how far beyond.
func sweepAround(s signal, i int, top float64) (before, after float64) {
	low := s.v[i-1]
	for k := i - 1; k >= 0 && s.t[i]-s.t[k] <= sweepSeconds; k-- {
		if s.v[k] > low+sweepBack {
			break
		}
		low = math.Min(low, s.v[k])
	}
	high := s.v[i]
	for k := i; k < len(s.t) && s.t[k]-s.t[i] <= sweepSeconds/2; k++ {
		if s.v[k] < high-sweepBack {
			break
		}
		high = math.Max(high, s.v[k])
	}
	return top - low, high - top
}

// releaseNear gives the instant at which the arm is releaseAngle beyond top,
// between samples, and its angular speed there.
func (b *body) releaseNear(s signal, i int, top float64) (float64, float64) {
	u := 0.0
	if s.v[i] != s.v[i-1] {
		u = clamp((top-s.v[i-1])/(s.v[i]-s.v[i-1]), 0, 1)
	}
	t := s.t[i-1] + u*(s.t[i]-s.t[i-1])
	step := math.Max(b.dt, s.t[i]-s.t[i-1])
	e, ok := s.at(t, math.Max(0.045, 2.4*step), 1)
	if !ok || e.slope <= 0 {
		return t, 0
	}
	// one Newton step on the fitted line, to about the samples between which the
	// arm was seen to pass
	t = clamp(t+(top+releaseAngle-e.value)/e.slope, s.t[i-1]-0.25*step, s.t[i]+0.25*step)
	return t, math.Max(e.slope, speedUpTo(s, i, step))
}

// speedUpTo is the angular speed over the last samples up to the top: an arm
// that stops dead beyond it was no slower before it.
func speedUpTo(s signal, i int, step float64) float64 {
	k := i
	for k > 0 && s.t[i]-s.t[k] < math.Max(0.045, 1.9*step) {
		k--
	}
	v, ok := signal{s.t[k : i+1], s.v[k : i+1]}.slopeAt(s.t[i], 1)
	if !ok || i-k < 2 {
		return 0
	}
	return v
}

// weigh sets how much speaks for a delivery: the arm's sweep and speed, an
// outstretched arm, a stride and travel or a pose that faces the travel.
func (b *body) weigh(d *delivery) {
	sweep := clamp(d.sweep/200, 0, 1)
	speed := clamp((d.armSpeed-250)/550, 0, 1)
	after := clamp(d.after/60, 0, 1)
	reach := clamp((b.armReach(d)-0.45)/0.45, 0, 1)
	stride := clamp((b.stance(d)-0.4)/0.9, 0, 1)
	d.travel = b.travel(d)
	faces := b.facing(d)
	// Travel in the picture or, where the camera pans, the way the body faces.
	forward := clamp(math.Max(d.travel/2.5, faces*1.5), -1, 1)
	if d.travel < -1.5 || faces < -0.5 || (faces < -0.25 && d.travel < 1) { // nobody bowls backwards
		forward = -1
	}
	d.evidence = 0.24*sweep + 0.2*speed + 0.08*after + 0.13*reach + 0.15*stride + 0.2*forward
	d.confidence = clamp((d.evidence-0.35)/0.55, 0, 0.99)
}

// armReach is the median length shoulder to wrist near release, in torsos.
func (b *body) armReach(d *delivery) float64 {
	m := marks(d.arm)
	var v []float64
	for i := range b.f {
		f := &b.f[i]
		if math.Abs(f.t-d.release) <= b.window(0.06) && f.p[m.shoulder].ok && f.p[m.wrist].ok {
			v = append(v, f.p[m.wrist].vec.sub(f.p[m.shoulder].vec).length()/b.torso)
		}
	}
	if len(v) == 0 {
		return 0
	}
	return median(v)
}

// stance is how far the front foot is before the back foot around release, in
// torso lengths.
func (b *body) stance(d *delivery) float64 {
	front, back := marks(d.arm.other()).ankle, marks(d.arm).ankle
	var v []float64
	for i := range b.f {
		f := &b.f[i]
		if f.t >= d.release-0.15 && f.t <= d.release+b.dt && f.p[front].ok && f.p[back].ok {
			v = append(v, d.dir*(f.p[front].x-f.p[back].x)/b.torso)
		}
	}
	if len(v) == 0 {
		return 0
	}
	return median(v)
}

// travel is the speed of the trunk towards dir in the half second before
// release, in torso lengths a second. A panning camera hides it.
func (b *body) travel(d *delivery) float64 {
	var t, x []float64
	for i := range b.f {
		if c, ok := b.f[i].centre(); ok && b.f[i].t >= d.release-0.6 && b.f[i].t <= d.release+0.05 {
			t, x = append(t, b.f[i].t), append(x, c.x)
		}
	}
	if len(t) < 4 {
		return 0
	}
	c := (t[0] + t[len(t)-1]) / 2
	e, ok := fitAt(t, x, c, t[len(t)-1]-t[0]+b.dt, 1)
	if !ok {
		return 0
	}
	return d.dir * e.slope / b.torso
}

// facing tells which way the body looks, in [-1,1]: feet point and the nose lies
// before the ears towards the travel (positive) or away from it.
func (b *body) facing(d *delivery) float64 {
	var v []float64
	for i := range b.f {
		f := &b.f[i]
		if f.t < d.release-0.7 || f.t > d.release+0.1 {
			continue
		}
		for _, e := range [...][2]int{{pose.LeftHeel, pose.LeftFootIndex}, {pose.RightHeel, pose.RightFootIndex}} {
			if f.p[e[0]].ok && f.p[e[1]].ok {
				v = append(v, clamp(d.dir*(f.p[e[1]].x-f.p[e[0]].x)/(0.25*b.torso), -1, 1))
			}
		}
		if ear, ok := f.both(pose.LeftEar, pose.RightEar); ok && f.p[pose.Nose].ok {
			v = append(v, clamp(d.dir*(f.p[pose.Nose].x-ear.x)/(0.15*b.torso), -1, 1))
		}
	}
	if len(v) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
