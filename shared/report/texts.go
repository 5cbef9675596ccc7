package report

import (
	"strings"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/report/pdf"
	"fastbowlinglab/shared/report/typeset"
)

// kindWords are the labels of the kinds of findings.
var kindWords = map[aitask.Kind]struct {
	word   string
	colour pdf.Colour
}{
	aitask.Strength:    {"KEEP", trunkC},
	aitask.WorkOn:      {"WORK ON", armC},
	aitask.Observation: {"NOTE", legC},
	aitask.Limits:      {"LIMIT", muted},
}

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
		k := kindWords[it.Kind]
		if k.word == "" {
			k.colour = legC
		}
		s.entry(i+1, it.Title, k.word, k.colour, func(x, w float64) {
			s.paragraphs(it.Detail, stBody, x, w)
			if len(it.Evidence) > 0 {
				s.y += 2
				s.paragraph(restsOn(it.Evidence), stSmall, x, w)
			}
		})
	}
	s.y += 10
}

// restsOn makes one sentence of evidence, which comes in sentences or in parts.
func restsOn(evidence []string) string {
	parts := make([]string, len(evidence))
	for i, e := range evidence {
		parts[i] = strings.TrimRight(e, ".;")
	}
	return "Rests on: " + strings.Join(parts, "; ") + "."
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
		s.unbroken(d)
		s.entry(i+1, d.Title, "", trunkC, func(x, w float64) {
			s.paragraphs(d.Purpose, stBody, x, w)
			for _, st := range d.Steps {
				s.bullet(st, x, w)
			}
			s.y += 1
			s.paragraph(d.Dose, stSmallB, x, w)
			if d.Finding != "" {
				s.paragraph("Answers: "+d.Finding, stSmall, x, w)
			}
		})
	}
	if c.Safety != "" {
		s.paragraphs(c.Safety, stCellB, left, contentW)
	}
	s.y += 10
}

// unbroken starts a new page for a drill that would be cut by the end of this one,
// unless it is so long that much of the page would stay empty.
func (s *sheet) unbroken(d aitask.Drill) {
	const most, indent, between = 200.0, 24.0, 14.0
	h := between
	for _, t := range append([]string{d.Title, d.Purpose, d.Dose, d.Finding}, d.Steps...) {
		h += height(s.lines(t, stBody, contentW-indent-11))
	}
	if h <= most {
		s.room(h)
	}
}

// paragraphs writes text whose paragraphs are on lines of their own.
func (s *sheet) paragraphs(text string, st typeset.Style, x, w float64) {
	for _, p := range strings.Split(text, "\n") {
		s.paragraph(p, st, x, w)
	}
}

func (s *sheet) byline(a aitask.Author) {
	s.paragraph(credit(a), stSmall, left, contentW)
	s.y += 6
}

func (s *sheet) summary(text string) {
	if text == "" {
		return
	}
	s.paragraphs(text, stBody, left, contentW)
	s.y += 6
}

// entry writes a numbered item: the title stays with the first lines of what
// follows.
func (s *sheet) entry(n int, title, kind string, c pdf.Colour, body func(x, w float64)) {
	const indent, kindW = 24.0, 60.0
	if title == "" {
		title = "Untitled"
	}
	width := contentW - indent
	if kind != "" {
		width -= kindW
	}
	ls := s.lines(title, stH2, width)
	if h := height(ls); h < bottom-top-60 {
		s.room(h + 36)
	}
	if len(ls) > 0 {
		s.page.Artifact(func() { s.badge(n, left+8, s.y+leading(ls[0])/2, 8, c) })
	}
	if kind != "" {
		s.page.Tag("P", func() { s.label(kind, coloured(stLabel, c), left, s.y+2.4, contentW, end) })
	}
	s.flowAs("H2", ls, left+indent, width)
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
