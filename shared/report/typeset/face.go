package typeset

import (
	"bytes"
	"fmt"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/harfbuzz"
	"github.com/go-text/typesetting/language"
)

// Face is one font file, ready to shape with. It is not safe for concurrent
// use.
type Face struct {
	Name string // PostScript-like name, unique among the faces of a Fonts
	Data []byte // the TrueType file
	// Scale multiplies the size at which the face is set, for families whose
	// letters look smaller than the base font's; 1 after Parse.
	Scale float64

	face *font.Face
	hb   *harfbuzz.Font
	upem float64
}

// Parse reads a TrueType font.
func Parse(name string, data []byte) (*Face, error) {
	f, err := font.ParseTTF(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("parse font %s: %w", name, err)
	}
	if f.Upem() == 0 {
		return nil, fmt.Errorf("parse font %s: no units per em", name)
	}
	return &Face{Name: name, Data: data, Scale: 1, face: f, hb: harfbuzz.NewFont(f), upem: float64(f.Upem())}, nil
}

// Has reports whether the font has a glyph of its own for r.
func (f *Face) Has(r rune) bool {
	_, ok := f.face.NominalGlyph(r)
	return ok
}

// Extents gives ascent and descent of a line in ems, both positive.
func (f *Face) Extents() (ascent, descent float64) {
	e, ok := f.face.FontHExtents()
	if !ok {
		return 1, 0.3
	}
	return float64(e.Ascender) / f.upem, -float64(e.Descender) / f.upem
}

// Weight is how heavy a font is.
type Weight uint8

// The weights.
const (
	Regular Weight = iota
	SemiBold
)

// Fonts finds faces. Implementations may read files.
type Fonts interface {
	// Find gives the preferred face that has a glyph for every rune of q.Text,
	// nil when there is none.
	Find(q Query) (*Face, error)
}

// Query is what a face is wanted for.
type Query struct {
	Script language.Script // language.Common for digits, punctuation and symbols
	Weight Weight
	Emoji  bool   // the text asks for a pictograph
	CJK    Locale // which ideographs the paragraph wants
	Text   []rune // one grapheme without joiners and variation selectors
}

// Locale tells apart the writing systems that share Han characters.
type Locale uint8

// The locales. Han without kana or Hangul around it is taken as Chinese.
const (
	Chinese Locale = iota
	Japanese
	Korean
)
