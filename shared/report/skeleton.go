package report

import (
	"math"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/report/pdf"
)

// limb is a line of the skeleton between two landmarks.
type limb struct{ a, b int }

var trunkLimbs = []limb{
	{pose.LeftShoulder, pose.RightShoulder}, {pose.LeftHip, pose.RightHip},
	{pose.LeftShoulder, pose.LeftHip}, {pose.RightShoulder, pose.RightHip},
}

// armLimbs and legLimbs give the limbs of a side of the body.
func armLimbs(s motion.Side) []limb {
	if s == motion.Left {
		return []limb{{pose.LeftShoulder, pose.LeftElbow}, {pose.LeftElbow, pose.LeftWrist}}
	}
	return []limb{{pose.RightShoulder, pose.RightElbow}, {pose.RightElbow, pose.RightWrist}}
}

func legLimbs(s motion.Side) []limb {
	if s == motion.Left {
		return []limb{{pose.LeftHip, pose.LeftKnee}, {pose.LeftKnee, pose.LeftAnkle},
			{pose.LeftAnkle, pose.LeftHeel}, {pose.LeftHeel, pose.LeftFootIndex}}
	}
	return []limb{{pose.RightHip, pose.RightKnee}, {pose.RightKnee, pose.RightAnkle},
		{pose.RightAnkle, pose.RightHeel}, {pose.RightHeel, pose.RightFootIndex}}
}

func other(s motion.Side) motion.Side {
	if s == motion.Left {
		return motion.Right
	}
	return motion.Left
}

// frontSide is the side of the front leg: opposite the bowling arm.
func frontSide(arm motion.Side) motion.Side { return other(arm) }

// Parts of the skeleton that are told apart.
const (
	partBody       = "body"
	partFrontLeg   = "front_leg"
	partBowlingArm = "bowling_arm"
)

// member is an arm, a leg or the trunk.
type member struct {
	part  string
	limbs []limb
}

// skeleton lists the members in the order in which they lie on each other: what
// the measures are about comes last.
func skeleton(arm motion.Side) []member {
	front := frontSide(arm)
	return []member{
		{partBody, armLimbs(other(arm))}, {partBody, legLimbs(other(front))}, {partBody, trunkLimbs},
		{partFrontLeg, legLimbs(front)}, {partBowlingArm, armLimbs(arm)},
	}
}

// colours are those of the parts.
var colours = map[string]pdf.Colour{partBody: white, partFrontLeg: legC, partBowlingArm: armC}

// figure draws a phase's landmarks into the tile at (x, y).
type figure struct {
	s      *sheet
	points []pose.Point
	arm    motion.Side
	win    window
	x, y   float64 // of the tile
	k      float64 // points for a pixel
}

func (f figure) at(p pose.Point) pdf.XY {
	return pdf.XY{X: f.x + (p.X-f.win.x)*f.k, Y: f.y + (p.Y-f.win.y)*f.k}
}

// get gives a landmark's place on the page, and whether it was seen at all.
func (f figure) get(i int) (pdf.XY, bool) {
	if i >= len(f.points) || f.points[i].Visibility < seen {
		return pdf.XY{}, false
	}
	return f.at(f.points[i]), true
}

func (f figure) draw() {
	if len(f.points) < pose.Landmarks {
		return
	}
	for _, m := range skeleton(f.arm) {
		f.limbs(m.limbs, colours[m.part])
	}
}

// limbs draws lines with an outline that shows on any background. A limb with an
// end that was hidden or guessed is thin and dashed.
func (f figure) limbs(ls []limb, c pdf.Colour) {
	halo := ink
	if c != white {
		halo = white
	}
	for _, pass := range []struct {
		c pdf.Colour
		w float64
	}{{halo, 3.2}, {c, 1.9}} {
		for _, l := range ls {
			a, okA := f.get(l.a)
			b, okB := f.get(l.b)
			if !okA || !okB {
				continue
			}
			pen := pdf.Pen{Colour: pass.c, Width: pass.w, Round: true}
			if min(f.points[l.a].Visibility, f.points[l.b].Visibility) < seenWell {
				if pass.c == halo {
					continue
				}
				pen.Width, pen.Dash = 1.1, []float64{0.1, 2.6}
			}
			f.s.page.Line(pen, a, b)
		}
	}
}

// angleMark is a measured angle as it is drawn on a picture.
type angleMark struct {
	measure motion.Measure
	centre  pdf.XY
	a, b    float64 // directions of its sides, radians clockwise on the page
	upright bool    // one side is the vertical, which must be drawn too
}

// marks lists the angles to draw on a phase's picture: those measured at it.
func (f figure) marks(c motion.Clip, p motion.Phase) []angleMark {
	var out []angleMark
	for _, name := range []string{motion.ElbowAngle, motion.FrontKneeAngle, motion.TrunkForward} {
		m, ok := measuredAt(c, name, p)
		if !ok {
			continue
		}
		if k, ok := f.mark(m); ok {
			out = append(out, k)
		}
	}
	return out
}

// mark finds where an angle lies in the picture.
func (f figure) mark(m motion.Measure) (angleMark, bool) {
	var l []limb
	switch m.Name {
	case motion.ElbowAngle:
		l = armLimbs(f.arm)
	case motion.FrontKneeAngle:
		l = legLimbs(frontSide(f.arm))
	case motion.TrunkForward:
		hip, ok1 := f.middle(pose.LeftHip, pose.RightHip)
		sh, ok2 := f.middle(pose.LeftShoulder, pose.RightShoulder)
		return angleMark{m, hip, -math.Pi / 2, math.Atan2(sh.Y-hip.Y, sh.X-hip.X), true}, ok1 && ok2
	default:
		return angleMark{}, false
	}
	a, ok1 := f.get(l[0].a)
	v, ok2 := f.get(l[0].b)
	b, ok3 := f.get(l[1].b)
	return angleMark{m, v, math.Atan2(a.Y-v.Y, a.X-v.X), math.Atan2(b.Y-v.Y, b.X-v.X), false}, ok1 && ok2 && ok3
}

func (f figure) middle(i, j int) (pdf.XY, bool) {
	a, ok1 := f.get(i)
	b, ok2 := f.get(j)
	return pdf.XY{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}, ok1 && ok2
}

// measuredAt gives a measure at a phase.
func measuredAt(c motion.Clip, name string, p motion.Phase) (motion.Measure, bool) {
	for _, m := range c.Measures {
		if m.Name == name && m.Phase == p.Name && m.NotMeasured == "" {
			return m, true
		}
	}
	return motion.Measure{}, false
}

// box is a label's place on the page.
type box struct{ x, y, w, h float64 }

func (b box) overlaps(o box) bool {
	return b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h
}

// drawMarks draws the arcs, then the values beside them where they cover
// neither each other nor the tile's edge.
func (f figure) drawMarks(ms []angleMark, w, h float64) {
	const radius = 13.0
	var taken []box
	for _, m := range ms {
		a, b := m.a, m.b
		for b-a > math.Pi {
			b -= 2 * math.Pi
		}
		for b-a < -math.Pi {
			b += 2 * math.Pi
		}
		c := accent(m.measure.Name)
		if m.upright {
			up := pdf.XY{X: m.centre.X, Y: m.centre.Y - 34}
			f.s.page.Line(pdf.Pen{Colour: white, Width: 2}, m.centre, up)
			f.s.page.Line(pdf.Pen{Colour: c, Width: 1, Dash: []float64{2.5, 2}}, m.centre, up)
			along := pdf.XY{X: m.centre.X + 34*math.Cos(m.b), Y: m.centre.Y + 34*math.Sin(m.b)}
			f.s.page.Line(pdf.Pen{Colour: white, Width: 2.4}, m.centre, along)
			f.s.page.Line(pdf.Pen{Colour: c, Width: 1.3}, m.centre, along)
		}
		r := radius
		if m.upright {
			r = 26
		}
		f.s.page.Arc(m.centre.X, m.centre.Y, r, a, b, pdf.Pen{Colour: white, Width: 3.4})
		f.s.page.Arc(m.centre.X, m.centre.Y, r, a, b, pdf.Pen{Colour: c, Width: 1.8})
		mid := (a + b) / 2
		if m.upright { // beside the body, on the side that it leans away from
			mid, r = 0, 14
			if b > a {
				mid = math.Pi
			}
		}
		taken = append(taken, f.pill(m, mid, r, w, h, taken))
	}
}

// pill writes a mark's value near the middle of its arc.
func (f figure) pill(m angleMark, mid, r, w, h float64, taken []box) box {
	text := f.s.lines(value(m.measure), stPill, 0)
	if len(text) == 0 {
		return box{}
	}
	bw, bh := text[0].Width+9, 13.0
	best := box{}
	for step := range 24 { // round the arc, then further out
		turn := float64((step%8+1)/2) * math.Pi / 4
		if step%2 == 1 {
			turn = -turn
		}
		d := r + 8 + bw/2*math.Abs(math.Cos(mid+turn)) + bh/2*math.Abs(math.Sin(mid+turn)) + float64(step/8)*14
		b := box{m.centre.X + d*math.Cos(mid+turn) - bw/2, m.centre.Y + d*math.Sin(mid+turn) - bh/2, bw, bh}
		b.x = min(max(b.x, f.x+3), f.x+w-bw-3)
		b.y = min(max(b.y, f.y+3), f.y+h-bh-3)
		if step == 0 {
			best = b
		}
		free := true
		for _, t := range taken {
			free = free && !b.overlaps(t)
		}
		if free && !b.overlaps(box{m.centre.X - 5, m.centre.Y - 5, 10, 10}) {
			best = b
			break
		}
	}
	f.s.page.FillRect(best.x, best.y, bw, bh, 3.5, white)
	f.s.page.StrokeRect(best.x, best.y, bw, bh, 3.5, pdf.Pen{Colour: accent(m.measure.Name), Width: 0.9})
	f.s.page.Text(text[0], best.x+4.5, best.y+9.4)
	return best
}
