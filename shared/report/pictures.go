package report

import (
	"fmt"
	"strings"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/report/pdf"
)

const (
	captionH = 26.0
	minTileH = 150.0
	maxTileH = 262.0

	tallTileH = 320.0
)

// pictures draws the key frames of a clip as a grid of three columns, in order
// of time, with the main values in what is left of the last row, or below it
// across the page where nothing is left.
func (s *sheet) pictures(c motion.Clip) {
	ps := orderedPhases(c)
	c.Phases = ps
	rows, free := (len(ps)+2)/3, (3-len(ps)%3)%3
	below := 0.0
	if free == 0 {
		below = glanceHeight(c, 3) + 12
	}
	tileH := s.tileHeight(rows, below)
	wins := windows(c, columns3/tileH)
	for i := 0; i < len(ps); i += 3 {
		s.room(tileH + captionH)
		for j := i; j < i+3; j++ {
			x := left + float64(j-i)*(columns3+gutter)
			if j == len(ps) {
				s.glance(c, x, s.y, free, tileH)
				break
			}
			s.tile(c, ps[j], wins[j], x, s.y, tileH)
		}
		s.y += tileH + captionH
	}
	if free == 0 {
		s.room(below)
		s.glance(c, left, s.y, 3, below-12)
		s.y += below
	}
}

// tileHeight lets the pictures take the room that is left on the page beside
// their captions, what comes below them, the legend and the timeline. One row
// alone may be taller.
func (s *sheet) tileHeight(rows int, below float64) float64 {
	most := maxTileH
	if rows == 1 {
		most = tallTileH
	}
	room := bottom - s.y - legendH - timelineH - float64(rows)*captionH - below - 6
	return min(max(room/float64(max(rows, 1)), minTileH), most)
}

// orderedPhases gives a clip's phases in the order of a delivery, each once.
func orderedPhases(c motion.Clip) []motion.Phase {
	var out []motion.Phase
	for _, name := range phaseOrder {
		for _, p := range c.Phases {
			if p.Name == name {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// phaseTime gives the time of a phase, and whether the clip has it.
func phaseTime(c motion.Clip, name motion.PhaseName) (float64, bool) {
	for _, p := range c.Phases {
		if p.Name == name {
			return p.Time, true
		}
	}
	return 0, false
}

// tile draws one key frame with its caption.
func (s *sheet) tile(c motion.Clip, p motion.Phase, w window, x, y, tileH float64) {
	f := figure{s: s, points: p.Points, arm: c.Arm, win: w, x: x, y: y, k: columns3 / w.w}
	ms := f.marks(c, p)
	im := s.picture(c, p.FrameKey, w, columns3)
	s.page.Figure(altText(c, p, ms, im != nil), func() {
		s.page.Push()
		s.page.ClipRect(x, y, columns3, tileH, 5)
		if im != nil {
			s.page.Draw(im, x, y, columns3, tileH)
		} else {
			s.page.FillRect(x, y, columns3, tileH, 0, pdf.Colour{0xC4, 0xCC, 0xD6})
			s.label("picture not available", coloured(stSmall, ink), x, y+tileH-18, columns3, centre)
		}
		f.draw()
		f.drawMarks(ms, columns3, tileH)
		s.page.Pop()
	})
	s.page.Tag("Caption", func() {
		s.badge(phaseNumber(p.Name), x+6.5, y+tileH+12, 6.5, ink)
		s.label(phaseWord(p.Name), stCaption, x+17, y+tileH+5.6, columns3-60, ragged)
		s.label(relative(c, p), stSmall, x, y+tileH+6, columns3, end)
	})
}

// relative writes an instant of a clip as seconds from release, or from the first
// frame where there is no release.
func relative(c motion.Clip, p motion.Phase) string {
	d, ok := c.FromRelease(p)
	if !ok {
		return motion.Number(p.Time, 2) + " s"
	}
	if d > -0.0005 && d < 0.0005 {
		return "0 s"
	}
	s := motion.Number(d, 2) + " s"
	if d > 0 {
		s = "+" + s
	}
	return s
}

func altText(c motion.Clip, p motion.Phase, ms []angleMark, have bool) string {
	parts := []string{phaseWord(p.Name) + " of clip " + fmt.Sprint(c.Index+1)}
	if have {
		parts = append(parts, "key frame with the tracked skeleton")
	} else {
		parts = append(parts, "tracked skeleton, the picture is not available")
	}
	for _, m := range ms {
		parts = append(parts, measureWord(m.measure.Name)+" "+value(m.measure)+" "+band(m.measure))
	}
	return strings.Join(parts, "; ")
}

// headline lists the measures that are shown first, when they were measured.
var headline = []struct {
	name  string
	phase motion.PhaseName
}{
	{motion.FrontKneeAngle, motion.FrontFootContact},
	{motion.FrontKneeAngle, motion.Release},
	{motion.ElbowAngle, motion.Release},
	{motion.TrunkForward, motion.Release},
	{motion.StrideLength, ""},
	{motion.FrontToRelease, ""},
	{motion.RunUpSpeed, ""},
	{motion.ArmSpeed, ""},
}

const glancePad, glanceRowH, glanceHead = 12.0, 43.0, 25.0

// glanceRows lists the main values that were measured.
func glanceRows(c motion.Clip) []motion.Measure {
	var out []motion.Measure
	for _, h := range headline {
		if m, ok := find(c, h.name, h.phase); ok {
			out = append(out, m)
		}
	}
	return out
}

// glanceHeight is the height of a panel with all main values in so many columns.
func glanceHeight(c motion.Clip, columns int) float64 {
	rows := max(1, (len(glanceRows(c))+columns-1)/columns)
	return glanceHead + float64(rows)*glanceRowH + 4
}

// glance draws the main values in a panel of h points and so many of the page's
// columns, as many as fit.
func (s *sheet) glance(c motion.Clip, x, y float64, columns int, h float64) {
	w := float64(columns)*(columns3+gutter) - gutter
	cell := columns3 - 2*glancePad
	s.page.Artifact(func() { s.page.FillRect(x, y, w, h, 5, panel) })
	s.page.Tag("P", func() { s.label("AT A GLANCE", stLabel, x+glancePad, y+10, cell, ragged) })
	all := glanceRows(c)
	if len(all) == 0 {
		s.page.Tag("P", func() {
			s.place(s.lines("Nothing could be measured in this clip. The table says why.", stMuted, w-2*glancePad), x+glancePad, y+glanceHead, w-2*glancePad, start)
		})
	}
	for i, m := range all {
		cx, cy := x+glancePad+float64(i%columns)*(columns3+gutter), y+glanceHead+float64(i/columns)*glanceRowH
		if cy+glanceRowH > y+h {
			break
		}
		s.page.Tag("P", func() {
			title := measureWord(m.Name)
			if m.Phase != "" {
				title += ", " + strings.ToLower(phaseWord(m.Phase))
			}
			s.place(s.one(title, stSmall, cell), cx, cy, cell, ragged)
			v := s.lines(value(m), coloured(stBig, accent(m.Name)), 0)
			s.place(v, cx, cy+10, columns3, ragged)
			if len(v) > 0 {
				s.label(bandOf(m), stSmall, cx+v[0].Width+7, cy+17.5, columns3, ragged)
			}
		})
	}
}

// find gives a measure that has a value; phase "" matches any.
func find(c motion.Clip, name string, phase motion.PhaseName) (motion.Measure, bool) {
	for _, m := range c.Measures {
		if m.Name == name && (phase == "" || m.Phase == phase) && m.NotMeasured == "" {
			return m, true
		}
	}
	return motion.Measure{}, false
}

const legendH = 22.0

// legend explains the colours of the skeleton.
func (s *sheet) legend() {
	s.page.Tag("P", func() {
		x := left
		for _, e := range []struct {
			c pdf.Colour
			t string
		}{{armC, "bowling arm"}, {legC, "front leg"}, {white, "rest of the body"}, {ink, "dotted: hidden or uncertain"}} {
			if e.c == ink {
				s.page.Line(pdf.Pen{Colour: faint, Width: 1.4, Dash: []float64{0.1, 2.6}, Round: true}, pdf.XY{X: x, Y: s.y + 6}, pdf.XY{X: x + 12, Y: s.y + 6})
			} else {
				s.page.Line(pdf.Pen{Colour: ink, Width: 4.2, Round: true}, pdf.XY{X: x + 1, Y: s.y + 6}, pdf.XY{X: x + 11, Y: s.y + 6})
				s.page.Line(pdf.Pen{Colour: e.c, Width: 2.4, Round: true}, pdf.XY{X: x + 1, Y: s.y + 6}, pdf.XY{X: x + 11, Y: s.y + 6})
			}
			ls := s.lines(e.t, stSmall, 0)
			s.place(ls, x+17, s.y, 200, ragged)
			if len(ls) > 0 {
				x += 17 + ls[0].Width + 16
			}
		}
	})
	s.y += legendH
}
