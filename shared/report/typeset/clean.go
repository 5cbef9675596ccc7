package typeset

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks one base character may carry. Real
// orthographies stay well under it; stacked marks would cover other lines.
const maxMarks = 8

const (
	zwnj      = '\u200c'
	zwj       = '\u200d'
	blackFlag = '\U0001F3F4' // base of the flags of England, Scotland and Wales
)

// Clean makes s safe to show on one paragraph: line breaks, tabs and every kind
// of space run become one space, control characters, bidi controls, byte-order
// marks, noncharacters, private-use and invalid bytes are dropped, and marks
// stacked beyond reason are cut. Joiners stay: Sinhala, Persian and emoji need
// them. No text can change the direction of, or hide in, what stands around it.
func Clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space, marks, inFlag := true, 0, false // space: leading spaces are dropped
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		bad := r == utf8.RuneError && n == 1
		s = s[n:]
		switch {
		case bad || dropped(r, inFlag):
			continue
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
			if !space {
				b.WriteByte(' ')
			}
			space, marks, inFlag = true, 0, false
			continue
		case unicode.Is(unicode.M, r):
			if marks++; marks > maxMarks {
				continue
			}
		case r != zwj && r != zwnj:
			marks, inFlag = 0, r == blackFlag || inFlag && isTag(r)
		}
		b.WriteRune(r)
		space = false
	}
	return strings.TrimRight(b.String(), " ")
}

// CleanLines is Clean for text of several paragraphs: it splits s at its line
// breaks and drops empty lines.
func CleanLines(s string) []string {
	var out []string
	for _, l := range strings.FieldsFunc(s, func(r rune) bool {
		return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '\v' || r == '\f'
	}) {
		if l = Clean(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

func isTag(r rune) bool { return r >= 0xE0020 && r <= 0xE007F }

func dropped(r rune, inFlag bool) bool {
	switch {
	case r == zwj || r == zwnj:
		return false
	case isTag(r):
		return !inFlag
	case r >= 0xFE00 && r <= 0xFE0F: // variation selectors choose emoji or text
		return false
	case unicode.IsSpace(r):
		return false
	}
	// Cc and Cf (bidi controls, soft hyphen, byte-order mark, invisible
	// operators), Co, Cs, interlinear and object characters, noncharacters,
	// other default-ignorables.
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) ||
		r >= 0xFFF9 && r <= 0xFFFD || r&0xFFFE == 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF ||
		r == 0x034F || r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0 || r == 0x2800 ||
		r >= 0xE0000 && r <= 0xE0FFF
}
