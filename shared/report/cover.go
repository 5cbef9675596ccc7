package report

import (
	"fmt"
	"strings"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/report/pdf"
	"fastbowlinglab/shared/report/typeset"
)

// cover writes the head of the first page.
func (s *sheet) cover(best, usable int) {
	s.y = 36
	s.page.Artifact(func() {
		s.label("FASTBOWLINGLAB", stBrand, left, s.y, contentW, ragged)
	})
	s.page.Tag("P", func() { s.label(when(s.in.Submitted, s.in.TimeZone), stSmall, left, s.y+0.5, contentW, end) })
	s.y += 20
	s.title()
	s.page.Tag("P", func() {
		s.y = s.place(s.lines(s.strapline(best, usable), stMuted, contentW), left, s.y, contentW, ragged)
	})
	if s.in.Revision > 0 {
		s.page.Tag("P", func() {
			s.y = s.place(s.lines(revisionLine(s.in.Revision, s.in.Changed), stMuted, contentW), left, s.y, contentW, ragged)
		})
	}
	s.y += 10
	if best < 0 {
		s.paragraph("None of the clips could be analysed. The list below says why.", stBody, left, contentW)
	}
}

// revisionLine tells a revision from the report that was delivered.
func revisionLine(number int, changed string) string {
	said := fmt.Sprintf("Revision %d of this report.", number)
	if changed != "" {
		said += " " + changed
	}
	return said
}

// title writes the name as large as it fits on two lines; a very long one gets
// smaller and more lines, and nothing of it is lost.
func (s *sheet) title() {
	name := s.in.Athlete
	if name == "" {
		name = "Your bowling action"
	}
	var ls []typeset.Line
	for _, size := range []float64{25, 19, 14, 10} {
		st := stTitle
		st.Size = size
		if ls = s.lines(name, st, contentW); len(ls) <= 2 {
			break
		}
	}
	s.doc.Bookmark("Pictures", s.page, 0)
	s.page.Tag("H1", func() { s.y = s.place(ls, left, s.y, contentW, ragged) })
}

// strapline says whose action it is and which clip is shown.
func (s *sheet) strapline(b, usable int) string {
	clips := s.in.Result.Clips
	if b < 0 {
		return "Fast bowling report"
	}
	c := clips[b]
	parts := []string{armWord(c.Arm)}
	switch {
	case usable > 1:
		parts = append(parts, fmt.Sprintf("clip %d of %d, the clearest", c.Index+1, len(clips)))
	case len(clips) > 1:
		parts = append(parts, fmt.Sprintf("clip %d of %d; the others could not be used", c.Index+1, len(clips)))
	}
	if c.FrameRate > 0 {
		parts = append(parts, rate(c.FrameRate))
	}
	return "Fast bowling report. " + strings.Join(parts, "  ·  ")
}

// clipHead is the head of a further clip's first page.
func (s *sheet) clipHead(c motion.Clip) {
	s.heading(fmt.Sprintf("Clip %d", c.Index+1), 100)
	s.y -= 6
	parts := []string{s.clipName(c.Index), armWord(c.Arm)}
	if c.FrameRate > 0 {
		parts = append(parts, rate(c.FrameRate))
	}
	s.paragraph(strings.Join(parts, "  ·  "), stMuted, left, contentW)
	s.y += 8
}

// ruleLine draws a hairline over the content's width.
func (s *sheet) ruleLine(y float64) {
	s.page.Line(pdf.Pen{Colour: rule, Width: 0.6}, pdf.XY{X: left, Y: y}, pdf.XY{X: left + contentW, Y: y})
}
