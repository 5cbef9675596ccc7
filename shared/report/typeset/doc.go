// Package typeset turns strings of any script into positioned glyphs: it makes
// text safe to show, orders mixed directions (UAX #9), picks a font for each
// run, shapes with HarfBuzz's algorithm, and breaks lines (UAX #14), at the
// grapheme when a word is wider than the line.
//
// It knows nothing of PDF; package pdf draws its lines.
package typeset
