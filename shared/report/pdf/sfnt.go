package pdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// sfnt is a TrueType file, read as far as a subset needs.
type sfnt struct {
	tables  map[string][]byte
	upem    int
	glyphs  int // how many
	long    bool
	metricN int
}

var be = binary.BigEndian

var errCut = errors.New("table is cut short")

func parseSFNT(data []byte) (*sfnt, error) {
	if len(data) < 12 || be.Uint32(data) != 0x00010000 && string(data[:4]) != "true" {
		return nil, errors.New("not a TrueType file")
	}
	s := &sfnt{tables: map[string][]byte{}}
	n := int(be.Uint16(data[4:]))
	if len(data) < 12+16*n {
		return nil, errCut
	}
	for i := range n {
		rec := data[12+16*i:]
		off, size := int(be.Uint32(rec[8:])), int(be.Uint32(rec[12:]))
		if off < 0 || size < 0 || off+size > len(data) {
			return nil, fmt.Errorf("%s: %w", rec[:4], errCut)
		}
		s.tables[string(rec[:4])] = data[off : off+size]
	}
	for tag, least := range map[string]int{"head": 54, "hhea": 36, "maxp": 6, "hmtx": 4, "loca": 4, "glyf": 0} {
		if t, ok := s.tables[tag]; !ok || len(t) < least {
			return nil, fmt.Errorf("%s: %w", tag, errCut)
		}
	}
	s.upem = int(be.Uint16(s.tables["head"][18:]))
	s.long = be.Uint16(s.tables["head"][50:]) == 1
	s.glyphs = int(be.Uint16(s.tables["maxp"][4:]))
	s.metricN = int(be.Uint16(s.tables["hhea"][34:]))
	width := 2
	if s.long {
		width = 4
	}
	if s.upem == 0 || s.metricN == 0 || len(s.tables["hmtx"]) < 4*s.metricN || len(s.tables["loca"]) < width*(s.glyphs+1) {
		return nil, errCut
	}
	return s, nil
}

// advance is a glyph's advance in ems.
func (s *sfnt) advance(g uint16) float64 {
	i := min(int(g), s.metricN-1)
	return float64(be.Uint16(s.tables["hmtx"][4*i:])) / float64(s.upem)
}

type metrics struct {
	box             [4]float64
	ascent, descent float64
}

// metrics gives the font descriptor's figures, in thousandths of an em.
func (s *sfnt) metrics() metrics {
	k := 1000 / float64(s.upem)
	at := func(table string, off int) float64 { return float64(int16(be.Uint16(s.tables[table][off:]))) * k }
	return metrics{
		box:     [4]float64{at("head", 36), at("head", 38), at("head", 40), at("head", 42)},
		ascent:  at("hhea", 4),
		descent: at("hhea", 6),
	}
}

func (s *sfnt) loca(i int) int {
	if s.long {
		return int(be.Uint32(s.tables["loca"][4*i:]))
	}
	return 2 * int(be.Uint16(s.tables["loca"][2*i:]))
}

func (s *sfnt) outline(g uint16) ([]byte, error) {
	if int(g) >= s.glyphs {
		return nil, fmt.Errorf("glyph %d of %d", g, s.glyphs)
	}
	a, b := s.loca(int(g)), s.loca(int(g)+1)
	if a > b || b > len(s.tables["glyf"]) {
		return nil, fmt.Errorf("glyph %d: %w", g, errCut)
	}
	return s.tables["glyf"][a:b], nil
}

// Flags of a composite glyph's component.
const (
	argsAreWords  = 0x0001
	haveScale     = 0x0008
	moreFollow    = 0x0020
	haveXYScale   = 0x0040
	haveTwoByTwo  = 0x0080
	maxComponents = 4096
)

// components lists the glyphs that a composite glyph is made of.
func components(outline []byte) ([]uint16, error) {
	if len(outline) < 10 || int16(be.Uint16(outline)) >= 0 {
		return nil, nil
	}
	var out []uint16
	for p := 10; ; {
		if p+4 > len(outline) || len(out) > maxComponents {
			return nil, errCut
		}
		flags := be.Uint16(outline[p:])
		out = append(out, be.Uint16(outline[p+2:]))
		p += 6
		if flags&argsAreWords != 0 {
			p += 2
		}
		switch {
		case flags&haveScale != 0:
			p += 2
		case flags&haveXYScale != 0:
			p += 4
		case flags&haveTwoByTwo != 0:
			p += 8
		}
		if flags&moreFollow == 0 {
			return out, nil
		}
	}
}

// subset keeps the outlines of the given glyphs, and of what they are made of,
// under their old numbers; everything else becomes empty, which deflates to
// almost nothing and keeps every reference valid.
func (s *sfnt) subset(keep []uint16) ([]byte, error) {
	todo := sortedUnique(append([]uint16{0}, keep...))
	have := map[uint16][]byte{}
	for len(todo) > 0 {
		g := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, ok := have[g]; ok {
			continue
		}
		o, err := s.outline(g)
		if err != nil {
			return nil, err
		}
		have[g] = o
		parts, err := components(o)
		if err != nil {
			return nil, fmt.Errorf("glyph %d: %w", g, err)
		}
		todo = append(todo, parts...)
	}
	var glyf bytes.Buffer
	loca := make([]byte, 4*(s.glyphs+1))
	hmtx := make([]byte, len(s.tables["hmtx"]))
	for g := range s.glyphs {
		be.PutUint32(loca[4*g:], uint32(glyf.Len()))
		o, ok := have[uint16(g)]
		if !ok {
			continue
		}
		glyf.Write(o)
		for glyf.Len()%4 != 0 {
			glyf.WriteByte(0)
		}
		s.copyMetric(hmtx, g)
	}
	be.PutUint32(loca[4*s.glyphs:], uint32(glyf.Len()))
	s.copyMetric(hmtx, s.metricN-1) // holds for all glyphs after it
	head := slices.Clone(s.tables["head"])
	be.PutUint32(head[8:], 0)  // checkSumAdjustment is set by assemble
	be.PutUint16(head[50:], 1) // long offsets
	out := map[string][]byte{"head": head, "hhea": s.tables["hhea"], "maxp": s.tables["maxp"],
		"hmtx": hmtx, "loca": loca, "glyf": glyf.Bytes()}
	for _, tag := range []string{"cvt ", "fpgm", "prep"} {
		if t, ok := s.tables[tag]; ok {
			out[tag] = t
		}
	}
	return assemble(out), nil
}

func (s *sfnt) copyMetric(dst []byte, g int) {
	src := s.tables["hmtx"]
	a, b := 4*g, 4*g+4
	if g >= s.metricN {
		a = 4*s.metricN + 2*(g-s.metricN)
		b = a + 2
	}
	if b <= len(src) {
		copy(dst[a:b], src[a:b])
	}
}

// assemble lays out a TrueType file with its checksums.
func assemble(tables map[string][]byte) []byte {
	tags := make([]string, 0, len(tables))
	for t := range tables {
		tags = append(tags, t)
	}
	slices.Sort(tags)
	n, power, log := len(tags), 1, 0
	for power*2 <= n {
		power, log = power*2, log+1
	}
	out := make([]byte, 12+16*n)
	be.PutUint32(out, 0x00010000)
	for i, v := range []int{n, power * 16, log, n*16 - power*16} {
		be.PutUint16(out[4+2*i:], uint16(v))
	}
	head := 0
	for i, tag := range tags {
		t := tables[tag]
		if tag == "head" {
			head = len(out)
		}
		rec := out[12+16*i:]
		copy(rec, tag)
		be.PutUint32(rec[8:], uint32(len(out)))
		be.PutUint32(rec[12:], uint32(len(t)))
		out = append(out, t...)
		for len(out)%4 != 0 {
			out = append(out, 0)
		}
		be.PutUint32(out[12+16*i+4:], checksum(out[be.Uint32(out[12+16*i+8:]):]))
	}
	be.PutUint32(out[head+8:], 0xB1B0AFBA-checksum(out))
	return out
}

func checksum(b []byte) uint32 {
	var sum uint32
	for len(b) >= 4 {
		sum += be.Uint32(b)
		b = b[4:]
	}
	return sum
}
