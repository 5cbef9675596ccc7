package report

import (
	"fmt"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/report/pdf"
)

const timelineH = 74.0

// timeline draws the instants of a delivery to scale, with the time between
// neighbours, and their names in even columns below so that none collide.
func (s *sheet) timeline(c motion.Clip) {
	ps := orderedPhases(c)
	if len(ps) < 2 || ps[len(ps)-1].Time <= ps[0].Time {
		return
	}
	s.room(timelineH)
	y := s.y + 24
	first, last := ps[0].Time, ps[len(ps)-1].Time
	x := func(t float64) float64 { return left + 8 + (contentW-16)*(t-first)/(last-first) }
	alt := "Timeline:"
	for _, p := range ps {
		alt += fmt.Sprintf(" %s at %s;", phaseWord(p.Name), relative(c, p))
	}
	s.page.Figure(alt, func() {
		s.page.Line(pdf.Pen{Colour: rule, Width: 5, Round: true}, pdf.XY{X: x(first), Y: y}, pdf.XY{X: x(last), Y: y})
		s.intervals(c, ps, x, y)
		col := contentW / float64(len(ps))
		for i, p := range ps {
			mid := left + col*(float64(i)+0.5)
			s.page.Line(pdf.Pen{Colour: faint, Width: 0.6}, pdf.XY{X: x(p.Time), Y: y}, pdf.XY{X: x(p.Time), Y: y + 10}, pdf.XY{X: mid, Y: y + 20}, pdf.XY{X: mid, Y: y + 23})
		}
		for i, p := range ps {
			mid := left + col*(float64(i)+0.5)
			colour := ink
			if p.Name == motion.Release {
				colour = armC
			}
			s.badge(phaseNumber(p.Name), x(p.Time), y, 6.2, colour)
			s.label(phaseWord(p.Name), stSmallB, mid-col/2, y+22, col, centre)
			s.label(relative(c, p), stSmall, mid-col/2, y+33, col, centre)
		}
	})
	s.y += timelineH
}

// intervals shades the two intervals that matter most and writes durations
// above the line where there is room.
func (s *sheet) intervals(c motion.Clip, ps []motion.Phase, x func(float64) float64, y float64) {
	clear := 0.0
	for i := 1; i < len(ps); i++ {
		a, b := x(ps[i-1].Time), x(ps[i].Time)
		switch ps[i].Name {
		case motion.FrontFootContact:
			s.page.Line(pdf.Pen{Colour: trunkC, Width: 5}, pdf.XY{X: a, Y: y}, pdf.XY{X: b, Y: y})
		case motion.Release:
			s.page.Line(pdf.Pen{Colour: armC, Width: 5}, pdf.XY{X: a, Y: y}, pdf.XY{X: b, Y: y})
		}
		ls := s.lines(motion.Number(c.Between(ps[i-1], ps[i]), 2)+" s", stSmall, 0)
		if len(ls) == 0 {
			continue
		}
		at := (a+b)/2 - ls[0].Width/2
		if at < clear {
			at = clear
		}
		clear = at + ls[0].Width + 6
		s.place(ls, at, y-21, 100, ragged)
	}
}
