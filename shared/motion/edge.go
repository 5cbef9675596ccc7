package motion

import "math"

// The pose model squeezes a limb that the picture's edge cuts off into the picture
// and says that it sees it. Such a limb looks short where it has no room.
const (
	cutShort  = 0.8 // of the limb's usual length in the picture: shorter is cut off
	usualLong = 0.8 // quantile of the lengths seen that is the usual one
)

// part is what an angle is of.
type part int

const (
	noPart part = iota
	armLimb
	legLimb
)

// cutOff reports whether the limb from joint a over m to c, whose usual length is
// known, has no room in the picture about time t and looks too short.
func (b *body) cutOff(t, usual float64, a, m, c int) bool {
	for i := range b.f {
		f := &b.f[i]
		if math.Abs(f.t-t) > b.window(0.036) || !f.p[a].ok || !f.p[m].ok || !f.p[c].ok {
			continue
		}
		if b.roomAt(f.p[a].vec) < usual && f.length(a, m, c) < cutShort*usual {
			return true
		}
	}
	return false
}

// sole is how far a shoe reaches beyond its landmarks, torso lengths: a foot whose
// landmarks are nearer to the picture's edge is not wholly in the picture.
const sole = 0.1

// whole is a foot's contact, unless the picture's edge cuts the foot off then: the
// model draws such a foot along the edge, where it seems to stand.
func (b *body) whole(c contact, foot []int) contact {
	if c.why != "" {
		return c
	}
	for i := range b.f {
		for _, k := range foot {
			f := &b.f[i]
			if math.Abs(f.t-c.t) <= b.window(0.036) && f.p[k].ok && b.roomAt(f.p[k].vec) < sole*b.torso {
				return contact{why: "the picture's edge cuts the foot off as it comes down"}
			}
		}
	}
	return c
}

// length of the limb in the picture, pixels.
func (f *frame) length(a, m, c int) float64 {
	return f.p[a].vec.sub(f.p[m].vec).length() + f.p[m].vec.sub(f.p[c].vec).length()
}

func (b *body) usualLength(a, m, c int) float64 {
	var v []float64
	for i := range b.f {
		if f := &b.f[i]; f.p[a].ok && f.p[m].ok && f.p[c].ok {
			v = append(v, f.length(a, m, c))
		}
	}
	if len(v) == 0 {
		return 0
	}
	return quantile(v, usualLong)
}

// roomAt is the distance from a point to the nearest edge of the picture.
func (b *body) roomAt(p vec) float64 {
	return math.Min(math.Min(p.x, b.width-p.x), math.Min(p.y, b.height-p.y))
}

// armLeaves says why nothing is measured from the bowling arm at t, or "".
func (s *study) armLeaves(t float64) string {
	if m := marks(s.d.arm); s.b.cutOff(t, s.armLength, m.shoulder, m.elbow, m.wrist) {
		return "the picture's edge cuts the arm off at that instant"
	}
	return ""
}

// legLeaves is the same for the front leg.
func (s *study) legLeaves(t float64) string {
	if k := marks(s.frontSide); s.b.cutOff(t, s.legLength, k.hip, k.knee, k.ankle) {
		return "the picture's edge cuts the leg off at that instant"
	}
	return ""
}

// leaves is armLeaves or legLeaves, or "" for what is neither.
func (s *study) leaves(base bandBase, t float64) string {
	switch base.of {
	case armLimb:
		return s.armLeaves(t)
	case legLimb:
		return s.legLeaves(t)
	}
	return ""
}
