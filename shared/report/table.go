package report

import (
	"fmt"
	"slices"
	"strings"

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

const cellPad = 2.6

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
	for i, r := range rows {
		h := rowHeight(r)
		// a page gets at least the last two rows
		if two := h + rowHeight(after(rows, i)); s.y+h > bottom || i == len(rows)-2 && i > 0 && s.y+two > bottom {
			s.newPage()
			s.tableHead(cols)
		}
		s.row(cols, r, h)
	}
}

const headH = 15.0

func after(rows [][]cell, i int) []cell {
	if i+1 < len(rows) {
		return rows[i+1]
	}
	return nil
}

func rowHeight(r []cell) float64 {
	h := 0.0
	for _, c := range r {
		h = max(h, height(c.lines))
	}
	return h + 2*cellPad
}

func tableHeight(rows [][]cell) float64 {
	h := headH
	for _, r := range rows {
		h += rowHeight(r)
	}
	return h
}

func (s *sheet) tableHead(cols []column) {
	s.doc.Begin("TR")
	x := left
	for _, c := range cols {
		s.page.Header("Column", func() { s.label(c.title, stLabel, x+1, s.y, c.w-8, c.align) })
		x += c.w
	}
	s.doc.End()
	s.y += headH
	s.page.Artifact(func() {
		s.page.Line(pdf.Pen{Colour: ink, Width: 0.8}, pdf.XY{X: left, Y: s.y}, pdf.XY{X: x, Y: s.y})
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

// measureColumns are the columns of the table of measures.
var measureColumns = []column{{"MEASURE", contentW - 334, start}, {"AT", 92, start}, {"VALUE", 84, end}, {"95 % BAND", 86, end}, {"CONFIDENCE", 72, start}}

// measuresHead is the height of what stands above the table's rows.
const measuresHead = 44.0

// measures draws the table of a clip's measures.
func (s *sheet) measures(rows [][]cell) {
	s.subheading("What was measured", 80)
	if len(rows) == 0 {
		s.paragraph("Nothing was measured in this clip.", stMuted, left, contentW)
		return
	}
	s.paragraph("The band is meant to hold the true value in 95 of 100 cases. In brackets: where a definition comes from, listed at the end.", stSmall, left, contentW)
	s.y += 3
	s.table(measureColumns, rows)
	s.y += 10
}

func (s *sheet) measureRows(c motion.Clip) [][]cell {
	cols := measureColumns
	var rows [][]cell
	for _, m := range c.Measures {
		at := ""
		if m.Phase != "" {
			at = phaseWord(m.Phase)
		}
		r := []cell{{lines: s.measureName(m, cols[0].w-8)}, {lines: s.lines(at, stCellM, cols[1].w-8)}}
		if m.NotMeasured != "" {
			why := s.lines("Not measured: "+m.NotMeasured, stCellM, cols[2].w+cols[3].w+cols[4].w-8)
			rows = append(rows, append(r, cell{lines: why, span: 3}))
			continue
		}
		conf := m.Confidence
		rows = append(rows, append(r,
			cell{lines: s.lines(value(m), stCellB, 0)},
			cell{lines: s.lines(band(m), stCellM, 0)},
			cell{draw: func(x, y float64) { s.confidence(conf, x+6, y) }}))
	}
	return rows
}

// measureName writes a measure's name with the mark of its source, and below it
// how to read it.
func (s *sheet) measureName(m motion.Measure, w float64) []typeset.Line {
	sp := []typeset.Span{{Text: measureWord(m.Name), Style: stCell}}
	if c := s.cite(m.Source); c != "" {
		sp = append(sp, typeset.Span{Text: " " + c, Style: stTick})
	}
	ls := s.spans(sp, w)
	if h := measureHint(m.Name); h != "" {
		ls = append(ls, s.lines(h, stTick, w)...)
	}
	return ls
}

// confidence draws a bar and a word.
func (s *sheet) confidence(c, x, y float64) {
	s.page.FillRect(x, y+4.2, 30, 3.6, 1.8, rule)
	if c > 0.02 {
		s.page.FillRect(x, y+4.2, 30*c, 3.6, 1.8, muted)
	}
	s.label(motion.ConfidenceWord(c), stSmall, x+35, y+0.6, 50, ragged)
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
		name := s.lines(measureWord(k.name), stCell, cols[0].w-8)
		if n := compareNote(clips, k.name, k.phase); n != "" {
			name = append(name, s.lines(n, stTick, cols[0].w-8)...)
		}
		r := []cell{{lines: name}}
		for _, c := range clips {
			text := s.lines("not measured", stTick, w-8)
			for _, m := range c.Measures {
				if m.Name == k.name && m.Phase == k.phase && m.NotMeasured == "" {
					text = append(s.lines(bare(m), stCell, w-8), s.lines(bandOf(m), stTick, w-8)...)
				}
			}
			r = append(r, cell{lines: text})
		}
		rows = append(rows, r)
	}
	s.table(cols, rows)
	s.y += 18
}

// compareNote says when a measure was taken, and in which unit where its values
// stand without one.
func compareNote(clips []motion.Clip, name string, phase motion.PhaseName) string {
	var parts []string
	if phase != "" {
		parts = append(parts, phaseWord(phase))
	}
	for _, c := range clips {
		if m, ok := find(c, name, phase); ok {
			if suffix, _ := unit(m.Unit); strings.HasPrefix(suffix, " ") {
				parts = append(parts, "in"+suffix)
			}
			break
		}
	}
	return strings.Join(parts, ", ")
}
