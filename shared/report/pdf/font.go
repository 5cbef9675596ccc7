package pdf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"fastbowlinglab/shared/report/typeset"
)

// Font is a face in the document. Character codes are given out as they are
// used, one for each pair of glyph and text: the text of a code is exact even
// where a glyph stands for several characters or for different ones at
// different places, which a map from glyphs to characters cannot say.
type Font struct {
	ref   ref
	index int
	face  *typeset.Face
	sfnt  *sfnt
	err   error
	codes map[use]uint16
	uses  []use // by code; code 0 is .notdef
}

type use struct {
	glyph uint16
	text  string
	width float64 // thousandths of an em
}

// font finds or adds a face.
func (d *Doc) font(face *typeset.Face) *Font {
	if f, ok := d.byName[face.Name]; ok {
		return f
	}
	f := &Font{ref: d.obj.reserve(), index: len(d.fonts), face: face, codes: map[use]uint16{}}
	f.sfnt, f.err = parseSFNT(face.Data)
	f.uses = []use{{width: f.width(0)}}
	d.byName[face.Name] = f
	d.fonts = append(d.fonts, f)
	return f
}

func (f *Font) code(u use) uint16 {
	if c, ok := f.codes[u]; ok {
		return c
	}
	if len(f.uses) == 0xFFFF {
		return 0
	}
	c := uint16(len(f.uses))
	f.codes[u] = c
	f.uses = append(f.uses, u)
	return c
}

// width is a glyph's advance in thousandths of an em, as /W has it.
func (f *Font) width(glyph uint16) float64 {
	if f.err != nil {
		return 0
	}
	return float64(int(f.sfnt.advance(glyph)*1000 + 0.5))
}

func (f *Font) write(o *objects) error {
	if f.err != nil {
		return fmt.Errorf("pdf: font %s: %w", f.face.Name, f.err)
	}
	keep := make([]uint16, 0, len(f.uses))
	for _, u := range f.uses {
		keep = append(keep, u.glyph)
	}
	program, err := f.sfnt.subset(keep)
	if err != nil {
		return fmt.Errorf("pdf: font %s: %w", f.face.Name, err)
	}
	file := o.stream(fmt.Sprintf("/Length1 %d", len(program)), program)
	name := subsetTag(f.index) + "+" + f.face.Name
	m := f.sfnt.metrics()
	desc := o.add(fmt.Sprintf("<</Type /FontDescriptor /FontName /%s /Flags 4 /FontBBox [%s] /ItalicAngle 0 /Ascent %s /Descent %s /CapHeight %s /StemV 80 /FontFile2 %v>>",
		name, nums(m.box[:]...), num(m.ascent), num(m.descent), num(m.ascent), file))
	cid := o.add(fmt.Sprintf("<</Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo <</Registry (Adobe) /Ordering (Identity) /Supplement 0>> /FontDescriptor %v /DW 0 /W [0 [%s]] /CIDToGIDMap %v>>",
		name, desc, f.widths(), o.stream("", f.glyphMap())))
	o.set(f.ref, fmt.Sprintf("<</Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts [%v] /ToUnicode %v>>",
		name, cid, o.stream("", f.toUnicode())))
	return nil
}

func (f *Font) widths() string {
	w := make([]string, len(f.uses))
	for i, u := range f.uses {
		w[i] = num(u.width)
	}
	return strings.Join(w, " ")
}

func (f *Font) glyphMap() []byte {
	m := make([]byte, 2*len(f.uses))
	for i, u := range f.uses {
		m[2*i], m[2*i+1] = byte(u.glyph>>8), byte(u.glyph)
	}
	return m
}

// toUnicode writes the map from codes to text, at most 100 lines a block as the
// format asks.
func (f *Font) toUnicode() []byte {
	var lines []string
	for c, u := range f.uses {
		if c == 0 || u.text == "" {
			continue
		}
		var hex strings.Builder
		for _, x := range utf16.Encode([]rune(u.text)) {
			fmt.Fprintf(&hex, "%04X", x)
		}
		lines = append(lines, fmt.Sprintf("<%04X> <%s>", c, hex.String()))
	}
	var b strings.Builder
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n" +
		"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n")
	for part := range slices.Chunk(lines, 100) {
		fmt.Fprintf(&b, "%d beginbfchar\n%s\nendbfchar\n", len(part), strings.Join(part, "\n"))
	}
	b.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	return []byte(b.String())
}

// subsetTag is the six-letter prefix of a subset's name.
func subsetTag(i int) string {
	return fmt.Sprintf("FBLA%c%c", 'A'+i/26%26, 'A'+i%26)
}

// sortedUnique sorts s and drops repeats.
func sortedUnique[T cmp.Ordered](s []T) []T {
	slices.Sort(s)
	return slices.Compact(s)
}
