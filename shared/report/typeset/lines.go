package typeset

import (
	"fmt"

	"github.com/go-text/typesetting/harfbuzz"
	"github.com/go-text/typesetting/language"
)

// Colour is an sRGB colour.
type Colour [3]uint8

// Style is how a span looks. Tracking is extra space after each character, in
// points; it is ignored for scripts whose letters join.
type Style struct {
	Size     float64 // points
	Weight   Weight
	Colour   Colour
	Tracking float64
}

// Span is a piece of a paragraph in one style. Its text must be clean (Clean).
type Span struct {
	Text  string
	Style Style
}

// Glyph is one positioned glyph; lengths are in points. Text is what it stands
// for: the glyphs of a cluster share one text, which the widest of them holds.
type Glyph struct {
	ID      uint16
	Advance float64
	DX, DY  float64 // offset from the pen, DY upwards
	Text    string
	Cluster int // the same for all glyphs of one cluster, next to each other
}

// Run is a sequence of glyphs of one face, in visual order.
type Run struct {
	Face   *Face
	Style  Style
	X      float64 // from the line's left end
	Width  float64
	Glyphs []Glyph
}

// Line is one line, its runs in visual order from left to right.
type Line struct {
	Runs            []Run
	Width           float64
	Ascent, Descent float64 // of the tallest and deepest face, positive
	RTL             bool    // the paragraph's direction
	Text            string  // in logical order, without the trailing space
}

// Setter sets paragraphs. It is not safe for concurrent use.
type Setter struct {
	Fonts Fonts
	found map[string]*Face
	buf   *harfbuzz.Buffer
}

// NewSetter makes a Setter.
func NewSetter(f Fonts) *Setter {
	return &Setter{Fonts: f, found: map[string]*Face{}}
}

// maxRunes bounds a paragraph: more is cut, so that hostile input cannot take
// the process's time.
const maxRunes = 20000

// Paragraph breaks the spans into lines no wider than width points (0 for no
// limit). A word wider than that is broken between graphemes.
func (s *Setter) Paragraph(spans []Span, width float64, base Base) ([]Line, error) {
	n := 0
	for i := range spans {
		rs := []rune(spans[i].Text)
		if n += len(rs); n > maxRunes {
			return nil, fmt.Errorf("set a paragraph: more than %d characters", maxRunes)
		}
	}
	p, err := s.analyse(spans, base)
	if err != nil {
		return nil, err
	}
	if len(p.runes) == 0 {
		return nil, nil
	}
	s.measure(p)
	var out []Line
	for a := 0; a < len(p.runes); {
		b := p.fit(a, width)
		l := s.line(p, a, b)
		for width > 0 && l.Width > width+0.01 {
			c := p.back(a, b) // shaping at the cut made it wider
			if c == b {
				break
			}
			b = c
			l = s.line(p, a, b)
		}
		out = append(out, l)
		a = b
	}
	return out, nil
}

// measure shapes whole items to learn each cluster's advance.
func (s *Setter) measure(p *para) {
	p.advance = make([]float64, len(p.runes))
	for _, it := range p.items {
		for _, g := range s.shape(p, it) {
			p.advance[g.Cluster] += g.Advance
		}
	}
}

// fit finds where a line that starts at a must end.
func (p *para) fit(a int, width float64) int {
	if width <= 0 {
		return len(p.runes)
	}
	w, soft, hard := 0.0, -1, -1
	for i := a; i < len(p.runes); i++ {
		if i > a && p.canBreak[i] {
			soft = i
		}
		if i > a && p.grapheme[i] && p.advanceStarts(i) {
			hard = i
		}
		if p.runes[i] == ' ' { // a space at the end of a line hangs
			w += p.advance[i]
			continue
		}
		if w += p.advance[i]; w > width {
			switch {
			case soft > a:
				return soft
			case hard > a:
				return hard
			}
			// one grapheme alone is wider than the line: let it stick out
			for i++; i < len(p.runes) && !p.grapheme[i]; i++ {
			}
			return i
		}
	}
	return len(p.runes)
}

// advanceStarts reports whether a cluster starts at i: a cluster's whole
// advance lies on its first rune.
func (p *para) advanceStarts(i int) bool { return p.advance[i] > 0 }

// back gives the last place before b where a line from a may end.
func (p *para) back(a, b int) int {
	for i := b - 1; i > a; i-- {
		if p.canBreak[i] {
			return i
		}
	}
	for i := b - 1; i > a; i-- {
		if p.grapheme[i] && p.advanceStarts(i) {
			return i
		}
	}
	return b
}

// line shapes runes a to b for good, in visual order.
func (s *Setter) line(p *para, a, b int) Line {
	for b > a+1 && p.runes[b-1] == ' ' {
		b--
	}
	l := Line{RTL: p.base%2 == 1, Text: string(p.runes[a:b])}
	var cut []item
	var lv []uint8
	for _, it := range p.items {
		it.start, it.end = max(it.start, a), min(it.end, b)
		if it.start < it.end {
			cut = append(cut, it)
			lv = append(lv, it.level)
		}
	}
	order := visual(lv)
	for _, i := range order {
		it := cut[i]
		r := Run{Face: it.face, Style: p.spans[it.style].Style, X: l.Width}
		r.Style.Size *= it.face.Scale
		for _, g := range s.shape(p, it) {
			r.Glyphs = append(r.Glyphs, g)
			r.Width += g.Advance
		}
		l.Width += r.Width
		up, down := it.face.Extents()
		l.Ascent = max(l.Ascent, up*r.Style.Size)
		l.Descent = max(l.Descent, down*r.Style.Size)
		l.Runs = append(l.Runs, r)
	}
	for n := range order { // see mirrorLabel
		if cut[order[n]].level%2 == 1 {
			gs := l.Runs[n].Glyphs
			if n > 0 && cut[order[n-1]].level%2 == 0 {
				mirrorLabel(&gs[0])
			}
			if n+1 < len(order) && cut[order[n+1]].level%2 == 0 {
				mirrorLabel(&gs[len(gs)-1])
			}
		}
	}
	return l
}

// mirrorLabel names a bracket by its shape. One that stands in right-to-left
// text but beside a left-to-right word is read by text extractors as part of
// that word, in the order seen, and would come out the wrong way round.
func mirrorLabel(g *Glyph) {
	const pairs = "()[]{}<>«»"
	rs := []rune(pairs)
	for i, r := range rs {
		if g.Text == string(r) {
			g.Text = string(rs[i^1])
			return
		}
	}
}

// shape runs HarfBuzz over one item. A glyph's cluster is the index of the
// cluster's first rune in the paragraph.
func (s *Setter) shape(p *para, it item) []Glyph {
	if s.buf == nil {
		s.buf = harfbuzz.NewBuffer()
	}
	b := s.buf
	b.Clear()
	b.AddRunes(p.runes, it.start, it.end-it.start)
	b.Props.Script = it.script
	b.Props.Direction = harfbuzz.LeftToRight
	if it.level%2 == 1 {
		b.Props.Direction = harfbuzz.RightToLeft
	}
	b.Props.Language = language.NewLanguage("en") // never the process's own
	if lang, ok := p.lang[it.script]; ok {
		b.Props.Language = lang
	}
	b.Shape(it.face.hb, nil)

	st := p.spans[it.style].Style
	k := st.Size * it.face.Scale / it.face.upem
	out := make([]Glyph, len(b.Info))
	for i, info := range b.Info {
		pos := b.Pos[i]
		out[i] = Glyph{
			ID: uint16(info.Glyph), Advance: float64(pos.XAdvance) * k,
			DX: float64(pos.XOffset) * k, DY: float64(pos.YOffset) * k,
			Cluster: info.Cluster,
		}
	}
	label(out, p.runes, it)
	if st.Tracking != 0 && !joining(it.script) {
		for i := range out {
			if out[i].Text != "" {
				out[i].Advance += st.Tracking
			}
		}
	}
	return out
}

// label gives the widest glyph of each cluster the cluster's text.
func label(gs []Glyph, rs []rune, it item) {
	rtl := it.level%2 == 1
	for i := 0; i < len(gs); {
		j, widest := i, i
		for j < len(gs) && gs[j].Cluster == gs[i].Cluster {
			if gs[j].Advance > gs[widest].Advance {
				widest = j
			}
			j++
		}
		end := it.end // the next cluster in logical order
		if rtl && i > 0 {
			end = gs[i-1].Cluster
		} else if !rtl && j < len(gs) {
			end = gs[j].Cluster
		}
		gs[widest].Text = string(rs[gs[i].Cluster:end])
		i = j
	}
}

func joining(sc language.Script) bool {
	switch sc {
	case language.Latin, language.Greek, language.Cyrillic, language.Common:
		return false
	}
	return true
}
