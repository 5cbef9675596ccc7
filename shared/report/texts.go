package report

import (
	"strings"

	"fastbowlinglab/shared/report/pdf"
)

// findings writes what was seen.
func (s *sheet) findings() {
	f := s.in.Findings
	s.heading("What we saw", 90)
	s.byline(f.Author)
	s.summary(f.Summary)
	if len(f.Items) == 0 && f.Summary == "" {
		s.paragraph("Nothing stands out in the values that could be measured.", stBody, left, contentW)
	}
	for i, it := range f.Items {
		s.entry(i+1, it.Title, armC, func(x, w float64) {
			for _, p := range strings.Split(it.Detail, "\n") {
				s.paragraph(p, stBody, x, w)
			}
			if len(it.Evidence) > 0 {
				s.y += 2
				s.paragraph("Rests on: "+strings.Join(it.Evidence, "; "), stSmall, x, w)
			}
		})
	}
	s.y += 10
}

// coaching writes what to do about it.
func (s *sheet) coaching() {
	c := s.in.Coaching
	s.heading("What to work on", 90)
	s.byline(c.Author)
	s.summary(c.Summary)
	if len(c.Drills) == 0 && c.Summary == "" {
		s.paragraph("No drill follows from the values that could be measured.", stBody, left, contentW)
	}
	for i, d := range c.Drills {
		s.entry(i+1, d.Title, trunkC, func(x, w float64) {
			for _, p := range strings.Split(d.Purpose, "\n") {
				s.paragraph(p, stBody, x, w)
			}
			for _, st := range d.Steps {
				s.bullet(st, x, w)
			}
			if d.Dose != "" {
				s.y += 1
				s.paragraph(d.Dose, stSmallB, x, w)
			}
		})
	}
	s.y += 10
}

func (s *sheet) byline(a Author) {
	s.paragraph(authorLine(a), stSmall, left, contentW)
	s.y += 6
}

func (s *sheet) summary(text string) {
	if text == "" {
		return
	}
	for _, p := range strings.Split(text, "\n") {
		s.paragraph(p, stBody, left, contentW)
	}
	s.y += 6
}

// entry writes a numbered item: the title stays with the first lines of what
// follows.
func (s *sheet) entry(n int, title string, c pdf.Colour, body func(x, w float64)) {
	const indent = 24.0
	if title == "" {
		title = "Untitled"
	}
	ls := s.lines(title, stH2, contentW-indent)
	if h := height(ls); h < bottom-top-60 {
		s.room(h + 36)
	}
	if len(ls) > 0 {
		s.page.Artifact(func() { s.badge(n, left+8, s.y+leading(ls[0])/2, 8, c) })
	}
	s.flowAs("H2", ls, left+indent, contentW-indent)
	s.y += 1
	body(left+indent, contentW-indent)
	s.y += 9
}

// bullet writes a step with a dot before its first line.
func (s *sheet) bullet(text string, x, w float64) {
	ls := s.lines(text, stBody, w-11)
	if len(ls) == 0 {
		return
	}
	s.room(height(ls[:min(2, len(ls))]))
	s.page.Artifact(func() { s.page.Circle(x+3, s.y+leading(ls[0])/2, 1.4, muted) })
	s.flow(ls, x+11, w-11)
}
