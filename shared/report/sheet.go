package report

import (
	"context"
	"fmt"

	"fastbowlinglab/shared/report/pdf"
	"fastbowlinglab/shared/report/typeset"
)

// sheet is a document being laid out: a current page and how far down it is.
// The first error sticks and makes what follows do nothing.
type sheet struct {
	ctx  context.Context
	in   *Input
	doc  *pdf.Doc
	set  *typeset.Setter
	page *pdf.Page
	y    float64
	err  error

	sources []string // literature cited so far, numbered from 1
}

// newPage starts a page; its running head is drawn at the end (finish).
func (s *sheet) newPage() {
	s.page = s.doc.AddPage(pageW, pageH)
	s.y = top
}

// room makes sure that h points are left on the page.
func (s *sheet) room(h float64) {
	if s.y+h > bottom && s.y > top {
		s.newPage()
	}
}

// lines breaks text into lines of a style.
func (s *sheet) lines(text string, st typeset.Style, width float64) []typeset.Line {
	return s.spans([]typeset.Span{{Text: text, Style: st}}, width)
}

func (s *sheet) spans(sp []typeset.Span, width float64) []typeset.Line {
	if s.err != nil {
		return nil
	}
	ls, err := s.set.Paragraph(sp, width, typeset.Auto)
	if err != nil {
		s.err = fmt.Errorf("set text: %w", err)
	}
	return ls
}

// leading is the distance from one line to the next: generous for Latin text,
// and never less than what a taller script needs.
func leading(l typeset.Line) float64 {
	size := 0.0
	for _, r := range l.Runs {
		size = max(size, r.Style.Size/r.Face.Scale)
	}
	return max(size*1.42, l.Ascent+l.Descent)
}

func height(ls []typeset.Line) float64 {
	h := 0.0
	for _, l := range ls {
		h += leading(l)
	}
	return h
}

// Alignments of a line in its box.
type align uint8

const (
	start  align = iota // left, or right for a right-to-left paragraph
	centre              // in the middle
	end                 // right
	ragged              // left whatever the direction
)

// place draws lines in a box of the given width from (x, y) down, and returns
// the y below them.
func (s *sheet) place(ls []typeset.Line, x, y, width float64, a align) float64 {
	for _, l := range ls {
		lead := leading(l)
		base := y + (lead-l.Ascent-l.Descent)/2 + l.Ascent
		at := x
		switch {
		case a == centre:
			at = x + (width-l.Width)/2
		case a == end || a == start && l.RTL:
			at = x + width - l.Width
		}
		s.page.Text(l, at, base)
		y += lead
	}
	return y
}

// label draws one line that is not broken.
func (s *sheet) label(text string, st typeset.Style, x, y, width float64, a align) float64 {
	return s.place(s.lines(text, st, 0), x, y, width, a)
}

// one gives a single line, cut with an ellipsis to fit the width.
func (s *sheet) one(text string, st typeset.Style, width float64) []typeset.Line {
	ls := s.lines(text, st, 0)
	if len(ls) == 0 || ls[0].Width <= width {
		return ls
	}
	r := []rune(text)
	lo, hi := 0, len(r)
	for lo < hi { // the longest start that fits
		mid := (lo + hi + 1) / 2
		if l := s.lines(string(r[:mid])+"…", st, 0); len(l) == 1 && l[0].Width <= width {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return s.lines(string(r[:lo])+"…", st, 0)
}

// paragraph flows text down the page and over page breaks, never leaving one
// line of several alone on a page.
func (s *sheet) paragraph(text string, st typeset.Style, x, width float64) {
	s.flow(s.lines(text, st, width), x, width)
}

func (s *sheet) flow(ls []typeset.Line, x, width float64) { s.flowAs("P", ls, x, width) }

// flowAs is flow for text of another kind than a paragraph.
func (s *sheet) flowAs(tag string, ls []typeset.Line, x, width float64) {
	for len(ls) > 0 && s.err == nil {
		n, h := 0, 0.0
		for n < len(ls) && s.y+h+leading(ls[n]) <= bottom {
			h += leading(ls[n])
			n++
		}
		switch {
		case n == len(ls):
		case n < 2 && s.y > top: // an orphan, or nothing
			s.newPage()
			continue
		case n == 0:
			n = 1 // a line taller than a page: let it be cut
		case len(ls)-n == 1 && n > 2: // a widow
			n--
		}
		part := ls[:n]
		s.page.Tag(tag, func() { s.y = s.place(part, x, s.y, width, start) })
		if ls = ls[n:]; len(ls) > 0 {
			s.newPage()
		}
	}
}

// heading writes a section's heading and keeps it with at least keep points of
// what follows.
func (s *sheet) heading(text string, keep float64) {
	ls := s.lines(text, stH1, contentW)
	s.room(height(ls) + 10 + keep)
	s.doc.Bookmark(text, s.page, s.y)
	s.page.Tag("H1", func() { s.y = s.place(ls, left, s.y, contentW, start) })
	s.y += 8
}

// subheading is heading's smaller sister.
func (s *sheet) subheading(text string, keep float64) {
	ls := s.lines(text, stH2, contentW)
	s.room(height(ls) + 6 + keep)
	s.page.Tag("H2", func() { s.y = s.place(ls, left, s.y, contentW, start) })
	s.y += 3
}

func (s *sheet) rule(x, y, w float64) {
	s.page.Artifact(func() { s.page.Line(pdf.Pen{Colour: rule, Width: 0.6}, pdf.XY{X: x, Y: y}, pdf.XY{X: x + w, Y: y}) })
}

// badge draws a phase's number in a disc round (x, y).
func (s *sheet) badge(n int, x, y, r float64, c pdf.Colour) {
	s.page.Circle(x, y, r, c)
	ls := s.lines(fmt.Sprint(n), stBadge, 0)
	if len(ls) == 1 {
		s.page.Text(ls[0], x-ls[0].Width/2, y+stBadge.Size*0.36)
	}
}
