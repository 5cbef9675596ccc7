package report

import (
	"fmt"
	"slices"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/report/pdf"
	"fastbowlinglab/shared/report/typeset"
)

// column is a column of a table.
type column struct {
	title string
	w     float64
	align align
}

// cell is a cell's lines, or something drawn.
type cell struct {
	lines []typeset.Line
	draw  func(x, y float64) // beside the lines, may be nil
	span  int                // columns it covers, 0 for one
}

const cellPad = 4.0

// table draws rows under a head that is repeated on every page. A row is never
// split unless it is taller than a page.
func (s *sheet) table(cols []column, rows [][]cell) {
	if s.err != nil {
		return
	}
	s.doc.Begin("Table")
	defer s.doc.End()
	s.room(60)
	s.tableHead(cols)
	for _, r := range rows {
		h := 0.0
		for _, c := range r {
			h = max(h, height(c.lines))
		}
		if h += 2 * cellPad; s.y+h > bottom {
			s.newPage()
			s.tableHead(cols)
		}
		s.row(cols, r, h)
	}
}

func (s *sheet) tableHead(cols []column) {
	s.doc.Begin("TR")
	x := left
	for _, c := range cols {
		s.page.Header("Column", func() { s.label(c.title, stLabel, x+1, s.y, c.w-8, c.align) })
		x += c.w
	}
	s.doc.End()
	s.y += 15
	s.page.Artifact(func() {
		s.page.Line(pdf.Pen{Colour: ink, Width: 0.8}, pdf.XY{X: left, Y: s.y}, pdf.XY{X: left + x - left, Y: s.y})
	})
}

func (s *sheet) row(cols []column, r []cell, h float64) {
	s.doc.Begin("TR")
	x, col := left, 0
	for _, c := range r {
		w := 0.0
		al := cols[col].align
		for range max(1, c.span) {
			w += cols[col].w
			col++
		}
		if c.span > 1 {
			al = start
		}
		s.page.Tag("TD", func() {
			s.place(c.lines, x+1, s.y+cellPad, w-8, al)
			if c.draw != nil {
				c.draw(x+1, s.y+cellPad)
			}
		})
		x += w
	}
	s.doc.End()
	s.y += h
	s.rule(left, s.y, x-left)
}

// cite numbers a source of the literature and gives its mark, for example [2].
func (s *sheet) cite(source string) string {
	if source == "" {
		return ""
	}
	i := slices.Index(s.sources, source)
	if i < 0 {
		i = len(s.sources)
		s.sources = append(s.sources, source)
	}
	return fmt.Sprintf("[%d]", i+1)
}

// measures draws the table of a clip's measures.
func (s *sheet) measures(c motion.Clip) {
	s.subheading("What was measured", 80)
	if len(c.Measures) == 0 {
		s.paragraph("Nothing was measured in this clip.", stMuted, left, contentW)
		return
	}
	cols := []column{{"MEASURE", 168, start}, {"AT", 90, start}, {"VALUE", 62, end}, {"95 % BAND", 76, end}, {"CONFIDENCE", 85, start}, {"", contentW - 481, end}}
	cols[4].w, cols[5].w = 80, contentW-476
	var rows [][]cell
	for _, m := range c.Measures {
		name := s.lines(measureWord(m.Name), stBody, 160)
		if h := measureHint(m.Name); h != "" {
			name = append(name, s.lines(h, stTick, 160)...)
		}
		at := ""
		if m.Phase != "" {
			at = phaseWord(m.Phase)
		}
		r := []cell{{lines: name}, {lines: s.lines(at, stMuted, 84)}}
		if m.NotMeasured != "" {
			why := s.lines("Not measured: "+m.NotMeasured, stMuted, contentW-258-40)
			r = append(r, cell{lines: why, span: 3}, cell{lines: s.lines(s.cite(m.Source), stSmall, 0)})
			rows = append(rows, r)
			continue
		}
		v := stBody
		v.Weight = typeset.SemiBold
		conf := m.Confidence
		r = append(r,
			cell{lines: s.lines(value(m), v, 0)},
			cell{lines: s.lines(band(m), stMuted, 0)},
			cell{lines: nil, draw: func(x, y float64) { s.confidence(conf, x+6, y) }},
			cell{lines: s.lines(s.cite(m.Source), stSmall, 0)})
		rows = append(rows, r)
	}
	s.table(cols, rows)
	s.y += 6
	s.paragraph("The band is meant to hold the true value in 95 of 100 cases; it was fitted on rendered clips whose true values are known. Numbers in brackets: where the definition comes from, listed at the end.", stSmall, left, contentW)
	s.y += 10
}

// confidence draws a bar and a word.
func (s *sheet) confidence(c, x, y float64) {
	s.page.FillRect(x, y+4.6, 30, 3.6, 1.8, rule)
	if c > 0.02 {
		s.page.FillRect(x, y+4.6, 30*c, 3.6, 1.8, muted)
	}
	s.label(confidenceWord(c), stSmall, x+35, y+0.8, 50, ragged)
}

// compare draws the values of all measured clips side by side.
func (s *sheet) compare(clips []motion.Clip) {
	type key struct {
		name  string
		phase motion.PhaseName
	}
	var keys []key
	for _, c := range clips {
		for _, m := range c.Measures {
			if k := (key{m.Name, m.Phase}); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	if len(keys) == 0 {
		return
	}
	s.heading("Clip by clip", 120)
	s.paragraph("The same measures in every clip that could be analysed. A difference smaller than the bands is no difference.", stMuted, left, contentW)
	s.y += 6
	first := 170.0
	w := min(110, (contentW-first)/float64(len(clips)))
	cols := []column{{"MEASURE", contentW - w*float64(len(clips)), start}}
	for _, c := range clips {
		cols = append(cols, column{fmt.Sprintf("CLIP %d", c.Index+1), w, end})
	}
	var rows [][]cell
	for _, k := range keys {
		name := s.lines(measureWord(k.name), stBody, cols[0].w-8)
		if k.phase != "" {
			name = append(name, s.lines(phaseWord(k.phase), stTick, cols[0].w-8)...)
		}
		r := []cell{{lines: name}}
		for _, c := range clips {
			text := s.lines("not measured", stTick, w-8)
			for _, m := range c.Measures {
				if m.Name == k.name && m.Phase == k.phase && m.NotMeasured == "" {
					text = append(s.lines(value(m), stBody, w-8), s.lines(band(m), stTick, w-8)...)
				}
			}
			r = append(r, cell{lines: text})
		}
		rows = append(rows, r)
	}
	s.table(cols, rows)
	s.y += 18
}
