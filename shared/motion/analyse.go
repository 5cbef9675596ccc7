package motion

import (
	"math"

	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/reason"
)

// Analyse measures clip number clip of an analysis from its track. It is pure:
// the same track gives the same answer. A clip that cannot be measured comes
// back with Refused set to NoPerson, TooLittleBowler, NotBowling or, for a track
// whose times are unusable, MediaUnreadable; never with invented numbers.
func Analyse(clip int, t pose.Track) Clip {
	out := Clip{Index: clip, Width: t.Width, Height: t.Height, Frames: len(t.Frames)}
	if t.Width <= 0 || t.Height <= 0 || len(t.Frames) == 0 {
		out.Refused = reason.NoPerson
		return out
	}
	b, why := clean(t)
	if why != "" {
		out.Refused = why
		return out
	}
	first, last := b.f[0].t, b.f[len(b.f)-1].t
	out.Duration = round(last-first+b.dt, 1e4)
	out.FrameRate = round(1/b.dt, 1e3)
	b, d := b.clearest()
	if d.evidence < minEvidence {
		out.Refused = reason.NotBowling
		if b.missing() {
			out.Refused = reason.TooLittleBowler
		}
		return out
	}
	s := b.study(d)
	out.Arm, out.Travel = d.arm, travelName(d.dir)
	out.Confidence = round(d.confidence, 1e3)
	out.Phases = s.phases()
	out.Measures = s.measures()
	out.Series = s.series()
	out.Warnings = s.warnings()
	if n := d.others + t.OtherRuns; n > 0 {
		out.Warnings = append(out.Warnings, severalWarning(n, d.release))
	}
	if t.Mirrored {
		out.Warnings = append(out.Warnings, mirrorWarning)
	}
	return out
}

// clearest settles the body so that a delivery is plain to see, if there is one.
func (b *body) clearest() (*body, delivery) {
	var best *body
	var found delivery
	for _, prior := range swapPriors {
		c := b.settle(prior)
		d := c.findDelivery()
		if best == nil || d.evidence > found.evidence {
			best, found = c, d
		}
		if found.evidence >= plainEvidence {
			break
		}
	}
	return best, found
}

func travelName(dir float64) string {
	if dir < 0 {
		return "left"
	}
	return "right"
}

// round keeps results short and equal across machines whose last bits differ.
func round(v, n float64) float64 {
	r := math.Round(v*n) / n
	if r == 0 {
		return 0 // no negative zero in JSON
	}
	return r
}

// missing reports whether the bowler was out of sight for long enough to hide a
// delivery: a fifth of the frames, or 0.2 s on end between first and last sight.
func (b *body) missing() bool {
	seen, lastSeen, longest := 0, -1.0, 0.0
	for i := range b.f {
		if _, ok := b.f[i].centre(); !ok {
			continue
		}
		if lastSeen >= 0 {
			longest = math.Max(longest, b.f[i].t-lastSeen)
		}
		seen, lastSeen = seen+1, b.f[i].t
	}
	return longest-b.dt >= 0.2 || float64(seen) < 0.8*float64(len(b.f))
}

// study is a delivery with its instants, from which everything is reported.
type study struct {
	b           *body
	d           delivery
	front, back contact
	pan         float64 // pixels a second of the ground, 0 for a still camera
	side        float64 // how far from side-on the view is, in [0,1]
	height      float64 // standing height in pixels, 0 when unknown
	frontSide   Side

	armLength, legLength float64 // usual ones in the picture, of the bowling arm and the front leg; pixels
}

func (b *body) study(d delivery) *study {
	near := *b
	near.dt = b.stepAround(d.release)
	b = &near
	s := &study{b: b, d: d, frontSide: d.arm.other()}
	m, k := marks(d.arm), marks(s.frontSide)
	s.armLength, s.legLength = b.usualLength(m.shoulder, m.elbow, m.wrist), b.usualLength(k.hip, k.knee, k.ankle)
	s.back, s.front, s.pan = b.contacts(d)
	s.side = b.obliqueness(d, s.pan)
	s.height = b.standingHeight(d)
	return s
}

// Limits of obliqueness.
const (
	sideTravel  = 4.0  // torso lengths a second across the picture: only seen from the side
	sideAtMost  = 0.45 // obliqueness of such a view
	unknownView = 0.3  // obliqueness where it could not be judged
)

// obliqueness is how wide hips and shoulders look at their narrowest, against
// how wide they are: 0 seen exactly from the side, 1 from the front or behind.
// They turn to and fro in running and in the delivery, so a low quantile is
// taken; and whoever crosses the picture fast is seen from the side.
func (b *body) obliqueness(d delivery, pan float64) float64 {
	var v []float64
	for i := range b.f {
		f := &b.f[i]
		if f.t > d.release+0.3 {
			break
		}
		l, r := f.p[pose.LeftShoulder], f.p[pose.RightShoulder]
		hl, hr := f.p[pose.LeftHip], f.p[pose.RightHip]
		if l.ok && r.ok && hl.ok && hr.ok {
			// Biacromial and hip-joint breadth are about 0.7 and 0.35 of the torso.
			wide := math.Abs(l.x-r.x)/0.7 + math.Abs(hl.x-hr.x)/0.35
			v = append(v, wide/2/b.torso)
		}
	}
	if len(v) < 5 {
		return unknownView
	}
	q := clamp(quantile(v, 0.15), 0, 1)
	if pan == 0 && d.travel >= sideTravel {
		return math.Min(q, sideAtMost)
	}
	return q
}

// standingHeight estimates the athlete's height in pixels from the lengths of
// thigh, shank and trunk, which make up 0.779 of it.
//
// Source: Drillis and Contini (1966), segment lengths as fractions of height, as
// given in Winter, Biomechanics and Motor Control of Human Movement (2009).
func (b *body) standingHeight(d delivery) float64 {
	m := [...]sideMarks{marks(Left), marks(Right)}
	longest := func(p, q int) float64 {
		var v []float64
		for i := range b.f {
			f := &b.f[i]
			if f.p[p].ok && f.p[q].ok && math.Abs(f.t-d.release) < 1 {
				v = append(v, f.p[p].vec.sub(f.p[q].vec).length())
			}
		}
		return quantile(v, 0.85) // in the picture a segment is never longer than it is
	}
	thigh := (longest(m[0].hip, m[0].knee) + longest(m[1].hip, m[1].knee)) / 2
	shank := (longest(m[0].knee, m[0].ankle) + longest(m[1].knee, m[1].ankle)) / 2
	h := (thigh + shank + b.torso) / 0.779
	if !finite(h) {
		return 0
	}
	return h
}
