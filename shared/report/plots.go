package report

import (
	"fmt"
	"math"
	"slices"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/report/pdf"
)

// Heights of a plot, between which it takes the room that a page's table leaves.
const (
	minPlotH = 94.0
	maxPlotH = 132.0
	plotGap  = 8.0
)

// plots draws every series over time, two in a row, all on one time axis. Below
// is the height of what should find room on the same page.
func (s *sheet) plots(c motion.Clip, below float64) {
	var ss []motion.Series
	for _, one := range c.Series {
		if countValues(one) >= 2 {
			ss = append(ss, one)
		}
	}
	if len(ss) == 0 {
		s.subheading("Angles over time", 20)
		s.paragraph("There is no curve for this clip: too little of it could be followed.", stMuted, left, contentW)
		s.y += 8
		return
	}
	s.subheading("Angles over time", 30+minPlotH)
	s.paragraph("Seconds from release, with the 95 % error band. The numbers are those of the pictures; a gap is where nothing could be measured.", stSmall, left, contentW)
	s.y += 6
	rows := (len(ss) + 1) / 2
	plotH := min(max((bottom-s.y-below)/float64(rows)-plotGap, minPlotH), maxPlotH)
	from, to := timeRange(c, ss)
	for i := 0; i < len(ss); i += 2 {
		s.room(plotH + plotGap)
		for j := i; j < min(i+2, len(ss)); j++ {
			newPlot(c, ss[j], from, to, left+float64(j-i)*(columns2+gutter), s.y, plotH).draw(s)
		}
		s.y += plotH + plotGap
	}
}

func countValues(ss motion.Series) (n int) {
	for _, v := range ss.Values {
		if v != nil {
			n++
		}
	}
	return n
}

// timeRange is the stretch of time that the plots show: the delivery with a
// little on both sides, or all there is.
func timeRange(c motion.Clip, ss []motion.Series) (from, to float64) {
	from, to = math.Inf(1), math.Inf(-1)
	for _, one := range ss {
		from, to = min(from, one.Times[0]), max(to, one.Times[len(one.Times)-1])
	}
	if ps := orderedPhases(c); len(ps) >= 2 {
		if a, b := ps[0].Time-0.15, ps[len(ps)-1].Time+0.15; b > a {
			from, to = max(from, a), min(to, b)
		}
	}
	if to-from < 0.05 {
		to = from + 0.05
	}
	return from, to
}

// plot maps a series to the page.
type plot struct {
	clip       motion.Clip
	series     motion.Series
	zero       float64 // the time written as 0
	from, to   float64
	low, high  float64
	step       float64
	x, y, w, h float64 // of the axes
}

func newPlot(c motion.Clip, ss motion.Series, from, to, x, y, height float64) plot {
	p := plot{clip: c, series: ss, from: from, to: to, x: x + 27, y: y + 27, w: columns2 - 27, h: height - 42}
	p.zero, _ = phaseTime(c, motion.Release)
	p.low, p.high = math.Inf(1), math.Inf(-1)
	for i, v := range ss.Values {
		if v != nil && ss.Times[i] >= from && ss.Times[i] <= to {
			p.low, p.high = min(p.low, *v-ss.Band), max(p.high, *v+ss.Band)
		}
	}
	if p.low > p.high {
		p.low, p.high = 0, 1
	}
	if straight(ss.Name) { // what lies beyond straight cannot be
		p.high = min(p.high, 180)
	}
	p.step = niceStep((p.high - p.low) / 4)
	if ss.Unit == motion.Degrees {
		p.step = degreeStep(p.high - p.low)
	}
	p.low = math.Floor(p.low/p.step) * p.step
	p.high = math.Ceil(p.high/p.step) * p.step
	if p.high <= p.low {
		p.high = p.low + p.step
	}
	return p
}

// straight reports whether 180 degrees is the largest value of a joint angle.
func straight(name string) bool { return name == motion.SeriesElbow || name == motion.SeriesKnee }

// degreeStep divides a range of degrees into at most six familiar steps.
func degreeStep(span float64) float64 {
	for _, step := range []float64{1, 2, 5, 10, 15, 30, 45, 90, 180} {
		if span/step <= 6 {
			return step
		}
	}
	return niceStep(span / 4)
}

// niceStep rounds a step up to 1, 2 or 5 times a power of ten.
func niceStep(raw float64) float64 {
	if raw <= 0 {
		return 1
	}
	pow := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*pow >= raw {
			return m * pow
		}
	}
	return 10 * pow
}

func (p plot) px(t float64) float64 { return p.x + p.w*(t-p.from)/(p.to-p.from) }
func (p plot) py(v float64) float64 { return p.y + p.h*(p.high-v)/(p.high-p.low) }

func (p plot) draw(s *sheet) {
	suffix, dec := unit(p.series.Unit)
	alt := fmt.Sprintf("%s over time, %d values, error band ± %s", measureWord(p.series.Name), countValues(p.series), motion.Number(p.series.Band, dec)+suffix)
	s.page.Figure(alt, func() {
		title := s.lines(measureWord(p.series.Name), stCaption, 0)
		s.place(title, p.x-27, p.y-29, columns2, ragged)
		if len(title) > 0 {
			x := p.x - 27 + title[0].Width + 6
			hint := measureHint(p.series.Name)
			s.place(s.one(hint, stTick, p.x+p.w-x), x, p.y-27.2, columns2, ragged)
		}
		p.axes(s, suffix, dec)
		s.page.Push()
		s.page.ClipRect(p.x, p.y, p.w, p.h, 0)
		for _, run := range p.runs() {
			p.curve(s, run)
		}
		s.page.Pop()
		p.phases(s)
	})
}

func (p plot) axes(s *sheet, suffix string, dec int) {
	if p.step >= 1 {
		dec = 0
	}
	for i := 0; ; i++ {
		v := p.low + float64(i)*p.step
		if v > p.high+p.step/2 || i > 12 {
			break
		}
		y := p.py(v)
		s.page.Line(pdf.Pen{Colour: rule, Width: 0.5}, pdf.XY{X: p.x, Y: y}, pdf.XY{X: p.x + p.w, Y: y})
		s.label(motion.Number(v, dec)+suffix, stTick, p.x-30, y-4.8, 26, end)
	}
	step := niceStep((p.to - p.from) / 6)
	decT := 1
	if step < 0.1 {
		decT = 2
	}
	for t := math.Ceil((p.from-p.zero)/step) * step; t <= p.to-p.zero+1e-9; t += step {
		x := p.px(t + p.zero)
		s.page.Line(pdf.Pen{Colour: rule, Width: 0.5}, pdf.XY{X: x, Y: p.y + p.h}, pdf.XY{X: x, Y: p.y + p.h + 3})
		if x < p.x+p.w-6 && x > p.x+4 {
			s.label(motion.Number(t, decT), stTick, x-15, p.y+p.h+2.5, 30, centre)
		}
	}
}

// phases draws the instants as lines across the plot; badges that would touch
// step up.
func (p plot) phases(s *sheet) {
	lastX, level := math.Inf(-1), 0
	for _, ph := range orderedPhases(p.clip) {
		x := p.px(ph.Time)
		if x < p.x-0.5 || x > p.x+p.w+0.5 {
			continue
		}
		if x-lastX < 10 {
			level++
		} else {
			level = 0
		}
		lastX = x
		up := 3.2 + 8.4*float64(level%2)
		c := muted
		if ph.Name == motion.Release {
			c = armC
		}
		s.page.Line(pdf.Pen{Colour: c, Width: 0.6, Dash: []float64{1.8, 1.6}}, pdf.XY{X: x, Y: p.y - up}, pdf.XY{X: x, Y: p.y + p.h})
		s.badge(phaseNumber(ph.Name), x, p.y-up-1.2, 4.3, c)
	}
}

// runs splits the series at its gaps.
func (p plot) runs() [][]pdf.XY {
	var out [][]pdf.XY
	var cur []pdf.XY
	for i, v := range p.series.Values {
		if v == nil {
			if len(cur) > 0 {
				out = append(out, cur)
			}
			cur = nil
			continue
		}
		cur = append(cur, pdf.XY{X: p.px(p.series.Times[i]), Y: p.py(*v)})
	}
	if len(cur) > 0 {
		out = append(out, cur)
	}
	return out
}

func (p plot) curve(s *sheet, run []pdf.XY) {
	c := accent(p.series.Name)
	if len(run) == 1 {
		s.page.Circle(run[0].X, run[0].Y, 1.2, c)
		return
	}
	if half := p.series.Band / (p.high - p.low) * p.h; half > 0 {
		var edge []pdf.XY
		for _, q := range run {
			edge = append(edge, pdf.XY{X: q.X, Y: q.Y - half})
		}
		for _, q := range slices.Backward(run) {
			edge = append(edge, pdf.XY{X: q.X, Y: q.Y + half})
		}
		s.page.Push()
		s.page.Alpha(0.16)
		s.page.Polygon(c, edge...)
		s.page.Pop()
	}
	s.page.Line(pdf.Pen{Colour: c, Width: 1.5, Round: true}, run...)
}
