package motion

import (
	"math"
	"slices"

	"fastbowlinglab/shared/pose"
)

// Landmarks of one side of the body.
type sideMarks struct{ shoulder, elbow, wrist, hip, knee, ankle, heel, toe int }

func marks(s Side) sideMarks {
	if s == Left {
		return sideMarks{pose.LeftShoulder, pose.LeftElbow, pose.LeftWrist, pose.LeftHip, pose.LeftKnee,
			pose.LeftAnkle, pose.LeftHeel, pose.LeftFootIndex}
	}
	return sideMarks{pose.RightShoulder, pose.RightElbow, pose.RightWrist, pose.RightHip, pose.RightKnee,
		pose.RightAnkle, pose.RightHeel, pose.RightFootIndex}
}

func (s Side) other() Side {
	if s == Left {
		return Right
	}
	return Left
}

// signal is a value over the frames in which it could be seen.
type signal struct{ t, v []float64 }

func (s *signal) put(t, v float64) { s.t, s.v = append(s.t, t), append(s.v, v) }

// at fits the signal at t0; see fitAt.
func (s signal) at(t0, half float64, degree int) (estimate, bool) {
	return fitAt(s.t, s.v, t0, half, degree)
}

// since is the part of the signal from t0 on. A knee straightens fast until the
// foot lands and then hardly moves: a fit across the landing would be of neither.
func (s signal) since(t0 float64) signal {
	i, _ := slices.BinarySearch(s.t, t0)
	return signal{s.t[i:], s.v[i:]}
}

// angleOf is the picture-plane angle of three landmarks over time.
func (b *body) angleOf(p, q, r int) signal {
	var s signal
	for i := range b.f {
		f := &b.f[i]
		if f.p[p].ok && f.p[q].ok && f.p[r].ok {
			s.put(f.t, jointAngle(f.p[p].vec, f.p[q].vec, f.p[r].vec))
		}
	}
	return s
}

// trunkLean is the lean of mid-hip to mid-shoulder from the vertical, positive
// in direction dir of travel.
func (b *body) trunkLean(dir float64) signal {
	var s signal
	for i := range b.f {
		h, ok1 := b.f[i].hips()
		sh, ok2 := b.f[i].shoulders()
		if ok1 && ok2 {
			s.put(b.f[i].t, dir*fromVertical(h, sh))
		}
	}
	return s
}

// armTurn is the angle of the whole arm over time, continued over full turns:
// 0 (and each multiple of 360) is straight up, rising in the sense of bowling
// towards dir. Where sight of it was lost for longer than armLost, or it turned
// too far between two frames to tell which way, parts begins anew.
func (b *body) armTurn(s Side, dir float64) []signal {
	m := marks(s)
	var parts []signal
	for i := range b.f {
		f := &b.f[i]
		d, ok := f.armLine(m, b.torso)
		if !ok {
			continue
		}
		a := dir * fromVertical(vec{}, d)
		n := len(parts)
		if n > 0 {
			last := &parts[n-1]
			k := len(last.t) - 1
			step := wrap(a - last.v[k])
			if f.t-last.t[k] <= armLost && math.Abs(step) <= armStep {
				last.put(f.t, last.v[k]+step)
				continue
			}
		}
		parts = append(parts, signal{[]float64{f.t}, []float64{a}})
	}
	return parts
}

const (
	armLost = 0.1   // seconds
	armStep = 140.0 // degrees between two frames
)

// armLine is the direction of the arm: shoulder to wrist, or to the elbow where
// the wrist is absent and the elbow far enough away.
func (f *frame) armLine(m sideMarks, torso float64) (vec, bool) {
	if !f.p[m.shoulder].ok {
		return vec{}, false
	}
	for _, k := range [...]int{m.wrist, m.elbow} {
		if !f.p[k].ok {
			continue
		}
		if d := f.p[k].vec.sub(f.p[m.shoulder].vec); d.length() > 0.35*torso {
			return d, true
		}
	}
	return vec{}, false
}
