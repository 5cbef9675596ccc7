package typeset

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/segmenter"
	"github.com/go-text/typesetting/unicodedata"
	"golang.org/x/text/unicode/norm"
)

// item is a stretch of a paragraph that is shaped as one: same level, script,
// face and style.
type item struct {
	start, end int // runes of the paragraph
	level      uint8
	script     language.Script
	face       *Face
	style      int // index of the span
}

// para is a paragraph ready to be broken into lines.
type para struct {
	runes    []rune
	items    []item
	base     uint8
	lang     map[language.Script]language.Language
	canBreak []bool // a line may end before this rune
	grapheme []bool // a grapheme starts at this rune
	advance  []float64
	spans    []Span
}

// grapheme is one user-perceived character with what is chosen for it.
type grapheme struct {
	text   []rune
	style  int
	script language.Script
	face   *Face
}

// analyse picks faces and directions. Text must be clean.
func (s *Setter) analyse(spans []Span, base Base) (*para, error) {
	gs := split(spans)
	resolveScripts(gs)
	gs, err := s.chooseFaces(gs, locale(gs), spans)
	if err != nil {
		return nil, err
	}
	p := &para{spans: spans}
	for _, g := range gs {
		p.runes = append(p.runes, g.text...)
	}
	p.base = baseLevel(p.runes, base)
	p.lang = languages(p.runes, locale(gs))
	lv := levels(p.runes, p.base)
	p.grapheme = make([]bool, len(p.runes)+1)
	at := 0
	for _, g := range gs {
		p.grapheme[at] = true
		for range g.text {
			it := item{at, at + 1, lv[at], g.script, g.face, g.style}
			if n := len(p.items); n > 0 && joins(p.items[n-1], it) {
				p.items[n-1].end++
			} else {
				p.items = append(p.items, it)
			}
			at++
		}
	}
	p.canBreak = breaks(p.runes)
	return p, nil
}

func joins(a, b item) bool {
	return a.level == b.level && a.script == b.script && a.face == b.face && a.style == b.style
}

func split(spans []Span) []grapheme {
	var out []grapheme
	var seg segmenter.Segmenter
	for i, sp := range spans {
		rs := []rune(sp.Text)
		if len(rs) == 0 {
			continue
		}
		seg.Init(rs)
		for it := seg.GraphemeIterator(); it.Next(); {
			g := it.Grapheme() // its Text is the segmenter's and changes with the next span
			out = append(out, grapheme{text: rs[g.Offset : g.Offset+len(g.Text)], style: i})
		}
	}
	return out
}

func breaks(rs []rune) []bool {
	out := make([]bool, len(rs)+1)
	if len(rs) == 0 {
		return out
	}
	var seg segmenter.Segmenter
	seg.Init(rs)
	for it := seg.LineIterator(); it.Next(); {
		out[it.Line().Offset] = true
	}
	out[len(rs)] = true
	return out
}

// resolveScripts gives graphemes without a script of their own that of the text
// before them, or after them at the start.
func resolveScripts(gs []grapheme) {
	last := language.Common
	for i := range gs {
		if sc := language.LookupScript(gs[i].text[0]); sc.Strong() {
			last = sc
		}
		gs[i].script = last
	}
	for i := range gs {
		if gs[i].script != language.Common {
			for j := range i {
				gs[j].script = gs[i].script
			}
			return
		}
	}
	for i := range gs {
		gs[i].script = language.Latin
	}
}

func locale(gs []grapheme) Locale {
	loc := Chinese
	for _, g := range gs {
		switch g.script {
		case language.Hiragana, language.Katakana:
			return Japanese
		case language.Hangul:
			loc = Korean
		}
	}
	return loc
}

// urdu holds letters that Urdu uses and Arabic does not; fonts shape some
// letters by language.
const urdu = "ٹڈڑںھہۃۂےۓ"

func languages(rs []rune, loc Locale) map[language.Script]language.Language {
	arabic := language.NewLanguage("ar")
	for _, r := range rs {
		if strings.ContainsRune(urdu, r) {
			arabic = language.NewLanguage("ur")
			break
		}
	}
	han := language.NewLanguage([]string{"zh", "ja", "ko"}[loc])
	return map[language.Script]language.Language{
		language.Arabic: arabic, language.Han: han, language.Hiragana: han, language.Katakana: han,
	}
}

// chooseFaces sets every grapheme's face. What no font has is replaced by its
// compatibility form, and failing that by its code points in brackets: text is
// never shown as empty boxes.
func (s *Setter) chooseFaces(gs []grapheme, loc Locale, spans []Span) ([]grapheme, error) {
	out := make([]grapheme, 0, len(gs))
	for i := 0; i < len(gs); i++ {
		g := gs[i]
		w := spans[g.style].Style.Weight
		f, err := s.find(g, w, loc)
		if err != nil {
			return nil, err
		}
		if f == nil {
			sub, err := s.substitute(gs[i:], w, loc)
			if err != nil {
				return nil, err
			}
			i += sub.used - 1
			out = append(out, sub.as...)
			continue
		}
		g.face = f
		out = append(out, g)
	}
	return out, nil
}

type substitution struct {
	as   []grapheme
	used int
}

// substitute writes the leading graphemes of gs, which no font can show, in
// characters that one can.
func (s *Setter) substitute(gs []grapheme, w Weight, loc Locale) (substitution, error) {
	if c := norm.NFKC.String(string(gs[0].text)); c != string(gs[0].text) {
		as, all := make([]grapheme, 0, len(c)), true
		for _, g := range split([]Span{{Text: Clean(c)}}) {
			g.style, g.script = gs[0].style, language.Latin
			if sc := language.LookupScript(g.text[0]); sc.Strong() {
				g.script = sc
			}
			f, err := s.find(g, w, loc)
			if err != nil {
				return substitution{}, err
			}
			g.face, all = f, all && f != nil
			as = append(as, g)
		}
		if all && len(as) > 0 {
			return substitution{as, 1}, nil
		}
	}
	var codes []string
	n := 0
	for ; n < len(gs) && gs[n].style == gs[0].style; n++ {
		f, err := s.find(gs[n], w, loc)
		if err != nil {
			return substitution{}, err
		}
		if f != nil {
			break
		}
		for _, r := range gs[n].text {
			codes = append(codes, fmt.Sprintf("U+%04X", r))
		}
	}
	var as []grapheme
	for _, r := range "[" + strings.Join(codes, " ") + "]" {
		g := grapheme{text: []rune{r}, style: gs[0].style, script: language.Latin}
		f, err := s.find(g, w, loc)
		if err != nil {
			return substitution{}, err
		}
		if f == nil {
			return substitution{}, fmt.Errorf("no font has %q: the base font is missing or broken", r)
		}
		g.face = f
		as = append(as, g)
	}
	return substitution{as, n}, nil
}

// find asks the fonts, once per distinct question.
func (s *Setter) find(g grapheme, w Weight, loc Locale) (*Face, error) {
	q := Query{Script: g.script, Weight: w, CJK: loc, Emoji: pictograph(g.text)}
	for _, r := range g.text {
		if !ignorable(r) {
			q.Text = append(q.Text, r)
		}
	}
	if neutralPunctuation(g.text[0]) {
		q.Script = language.Common
	}
	if len(q.Text) == 0 {
		q.Text = []rune{' '} // a lone joiner is as invisible as a space
	}
	key := fmt.Sprintf("%d/%d/%d/%t/%s", q.Script, w, loc, q.Emoji, string(q.Text))
	if f, ok := s.found[key]; ok {
		return f, nil
	}
	f, err := s.Fonts.Find(q)
	if err != nil {
		return nil, err
	}
	s.found[key] = f
	return f, nil
}

// ignorable runes have no picture of their own.
func ignorable(r rune) bool {
	return r == zwj || r == zwnj || r >= 0xFE00 && r <= 0xFE0F || isTag(r)
}

// neutralPunctuation is set in the base font whatever script it stands in.
func neutralPunctuation(r rune) bool {
	return r < 0x00C0 && !unicode.IsLetter(r) || r >= 0x2010 && r <= 0x205E
}

// pictograph reports whether a grapheme is shown as an emoji by default.
func pictograph(g []rune) bool {
	for _, r := range g {
		if r == 0xFE0F || r >= 0x1F000 && unicode.Is(unicodedata.Extended_Pictographic, r) || r >= 0x1F1E6 && r <= 0x1F1FF {
			return true
		}
	}
	return false
}
