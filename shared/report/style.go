package report

import (
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/report/pdf"
	"fastbowlinglab/shared/report/typeset"
)

// The page: A4, in points.
const (
	pageW, pageH = 595.28, 841.89
	left, right  = 45.0, 45.0
	contentW     = pageW - left - right
	top          = 58.0         // of the content on pages after the first
	bottom       = pageH - 58.0 // content ends above this
	gutter       = 12.0         // between columns
	columns3     = (contentW - 2*gutter) / 3
	columns2     = (contentW - 2*gutter) / 2
)

// Colours. The four accents are Okabe and Ito's, told apart by colour-blind
// readers; no meaning is carried by colour alone.
var (
	ink     = pdf.Colour{0x1B, 0x24, 0x30}
	muted   = pdf.Colour{0x5A, 0x66, 0x75}
	faint   = pdf.Colour{0x8A, 0x95, 0xA3}
	rule    = pdf.Colour{0xD7, 0xDD, 0xE5}
	panel   = pdf.Colour{0xF4, 0xF6, 0xF9}
	white   = pdf.Colour{0xFF, 0xFF, 0xFF}
	armC    = pdf.Colour{0xD5, 0x5E, 0x00}
	legC    = pdf.Colour{0x00, 0x72, 0xB2}
	trunkC  = pdf.Colour{0x00, 0x9E, 0x73}
	purpleC = pdf.Colour{0xA8, 0x4F, 0x84}
)

// Text styles.
var (
	stTitle   = typeset.Style{Size: 25, Weight: typeset.SemiBold, Colour: ink}
	stH1      = typeset.Style{Size: 17, Weight: typeset.SemiBold, Colour: ink}
	stH2      = typeset.Style{Size: 11.5, Weight: typeset.SemiBold, Colour: ink}
	stBody    = typeset.Style{Size: 9.6, Colour: ink}
	stMuted   = typeset.Style{Size: 9.6, Colour: muted}
	stCell    = typeset.Style{Size: 9, Colour: ink}
	stCellB   = typeset.Style{Size: 9, Weight: typeset.SemiBold, Colour: ink}
	stCellM   = typeset.Style{Size: 9, Colour: muted}
	stSmall   = typeset.Style{Size: 8, Colour: muted}
	stSmallB  = typeset.Style{Size: 8, Weight: typeset.SemiBold, Colour: ink}
	stCaption = typeset.Style{Size: 8.6, Weight: typeset.SemiBold, Colour: ink}
	stLabel   = typeset.Style{Size: 7.2, Weight: typeset.SemiBold, Colour: muted, Tracking: 0.7}
	stBrand   = typeset.Style{Size: 8.4, Weight: typeset.SemiBold, Colour: armC, Tracking: 1.4}
	stBig     = typeset.Style{Size: 16, Weight: typeset.SemiBold, Colour: ink}
	stTick    = typeset.Style{Size: 6.6, Colour: muted}
	stPill    = typeset.Style{Size: 8.4, Weight: typeset.SemiBold, Colour: ink}
	stBadge   = typeset.Style{Size: 6.8, Weight: typeset.SemiBold, Colour: white}
)

func coloured(st typeset.Style, c pdf.Colour) typeset.Style {
	st.Colour = c
	return st
}

// accent is the colour of a measure or series.
func accent(name string) pdf.Colour {
	switch name {
	case motion.ElbowAngle, motion.ElbowExtension:
		return armC
	case motion.FrontKneeAngle:
		return legC
	case motion.TrunkForward, motion.TrunkSide:
		return trunkC
	}
	return purpleC
}
