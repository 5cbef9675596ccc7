package media

import "math"

// Colours say how luma and colour differences become red, green and blue, with the
// arithmetic of swscale's vector code, to the bit: sixteen-bit products of which the
// low half is dropped. With part(d, c) = d*8*c >> 16, Y = part(luma-Black, Luma),
// u = Cb-128 and v = Cr-128, they are Y + part(v, RedCr), Y + part(u, GreenCb) +
// part(v, GreenCr) and Y + part(u, BlueCb), brought to a byte's range.
type Colours struct {
	Black, Luma, RedCr, GreenCb, GreenCr, BlueCb int16
}

func (i Info) toRGB() Colours {
	kr, kb := i.primaries()
	kg := 1 - kr - kb
	// Of 65536ths: colour differences for the studio's range, as the standards give them.
	of := func(f float64) int64 { return int64(math.Round(f * 255 / 224 * 65536)) }
	redCr, blueCb, greenCb, greenCr := of(2*(1-kr)), of(2*(1-kb)), -of(2*kb*(1-kb)/kg), -of(2*kr*(1-kr)/kg)
	luma, black := int64(1<<16)*255/219, int16(16)
	if i.fullRange() {
		luma, black = 1<<16, 0
		redCr, blueCb, greenCb, greenCr = redCr*224/255, blueCb*224/255, greenCb*224/255, greenCr*224/255
	}
	// Eighths of 65536ths: the three bits by which part shifts a difference up.
	short := func(c int64) int16 { return int16((c<<13 + 1<<15) >> 16) }
	return Colours{Black: black, Luma: short(luma), RedCr: short(redCr), GreenCb: short(greenCb), GreenCr: short(greenCr), BlueCb: short(blueCb)}
}
