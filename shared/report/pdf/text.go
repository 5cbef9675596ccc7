package pdf

import (
	"fmt"
	"math"

	"fastbowlinglab/shared/report/typeset"
)

// Text draws a line of text with its baseline starting at (x, y).
func (p *Page) Text(l typeset.Line, x, y float64) {
	for _, r := range l.Runs {
		if len(r.Glyphs) > 0 {
			p.run(r, x+r.X, y)
		}
	}
}

// runWriter is where a run's writing stands: PDF moves by the font's own advances, so
// that what shaping changed is owed and paid as adjustments.
type runWriter struct {
	p    *Page
	f    *Font
	size float64
	owed float64 // thousandths of an em
	rise float64 // points
}

// run writes one run, cluster by cluster.
func (p *Page) run(r typeset.Run, x, y float64) {
	w := runWriter{p: p, f: p.doc.font(r.Face), size: r.Style.Size}
	p.op("BT %s /F%d %s Tf 1 0 0 1 %s Tm", rgb(r.Style.Colour, "rg"), w.f.index, num(w.size), nums(x, p.H-y))
	p.buf.WriteString("[")
	for i := 0; i < len(r.Glyphs); {
		j := i + 1
		for j < len(r.Glyphs) && r.Glyphs[j].Cluster == r.Glyphs[i].Cluster {
			j++
		}
		w.cluster(r.Glyphs[i:j])
		i = j
	}
	p.buf.WriteString("] TJ ")
	if w.rise != 0 {
		p.buf.WriteString("0 Ts ")
	}
	p.op("ET")
}

// cluster writes the glyphs of one cluster. Where several of them take up room
// their common text is given for the whole: readers that look at one glyph at a
// time would see a gap beside the one that holds it.
func (w *runWriter) cluster(gs []typeset.Glyph) {
	wide, text := 0, ""
	for _, g := range gs {
		text += g.Text
		if g.Advance > 0 {
			wide++
		}
	}
	if wide > 1 {
		gs = marksFirst(gs)
		fmt.Fprintf(&w.p.buf, "] TJ /Span <</ActualText %s>> BDC [", utf16Text(text))
	}
	for i, g := range gs {
		u := use{g.ID, g.Text, w.f.width(g.ID)}
		if wide > 1 && i == len(gs)-1 {
			// the text's end is where this glyph's width ends, so shaping's own
			// advance must be in it
			u.width = math.Round((g.Advance - g.DX) / w.size * 1000)
		}
		w.glyph(g, u)
	}
	if wide > 1 {
		w.p.buf.WriteString("] TJ EMC [")
	}
}

// marksFirst moves glyphs without an advance from the end of a cluster to
// before its last wide one, at the same place on the page: some readers take
// the end of the last glyph for the end of the whole.
func marksFirst(gs []typeset.Glyph) []typeset.Glyph {
	last := len(gs) - 1
	for last > 0 && gs[last].Advance <= 0 {
		last--
	}
	out := append([]typeset.Glyph{}, gs[:last]...)
	for _, g := range gs[last+1:] {
		g.DX += gs[last].Advance
		out = append(out, g)
	}
	return append(out, gs[last])
}

func (w *runWriter) glyph(g typeset.Glyph, u use) {
	if math.Abs(g.DY-w.rise) > 0.005 {
		w.rise = g.DY
		fmt.Fprintf(&w.p.buf, "] TJ %s Ts [", num(w.rise))
	}
	w.owed += g.DX / w.size * 1000
	if a := math.Round(w.owed); a != 0 {
		fmt.Fprintf(&w.p.buf, "%d", int(-a))
		w.owed -= a
	}
	fmt.Fprintf(&w.p.buf, "<%04X>", w.f.code(u))
	w.owed += (g.Advance-g.DX)/w.size*1000 - u.width
}
