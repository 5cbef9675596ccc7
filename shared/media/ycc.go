package media

import "math"

// ycc turns luma and colour differences to RGB with the arithmetic of swscale's
// vector code, to the bit: sixteen-bit products of which the low half is dropped.
//
// Red, green and blue are summed at once, each in its lane of a word; an entry of a
// table is what one sample adds to the three. A lane that is below 0 borrows from the
// next, and has bits of outOfByte as one above 255 has: without them all three are right.
type ycc struct{ y, u, v [256]int64 }

const (
	greenLane, blueLane = 21, 42 // bits up
	outOfByte           = 0x1fff00 | 0x1fff00<<greenLane | 0x1fff00<<blueLane
)

func lanes(r, g, b int32) int64 { return int64(r) + int64(g)<<greenLane + int64(b)<<blueLane }

func yccOf(info Info) *ycc {
	kr, kb := info.primaries()
	kg := 1 - kr - kb
	// Of 65536ths: colour differences for the studio's range, as the standards give them.
	of := func(f float64) int64 { return int64(math.Round(f * 255 / 224 * 65536)) }
	crv, cbu, cgu, cgv := of(2*(1-kr)), of(2*(1-kb)), -of(2*kb*(1-kb)/kg), -of(2*kr*(1-kr)/kg)
	cy, black := int64(1<<16)*255/219, int64(16)
	if info.fullRange() {
		cy, black = 1<<16, 0
		crv, cbu, cgu, cgv = crv*224/255, cbu*224/255, cgu*224/255, cgv*224/255
	}
	coefficient := func(c int64) int32 { return int32((c<<13 + 1<<15) >> 16) }
	product := func(v int64, c int64) int32 { return int32(v) * 8 * coefficient(c) >> 16 }
	m := &ycc{}
	for i := range int64(256) {
		l := product(i-black, cy)
		m.y[i] = lanes(l, l, l)
		m.u[i] = lanes(0, product(i-128, cgu), product(i-128, cbu))
		m.v[i] = lanes(product(i-128, crv), product(i-128, cgv), 0)
	}
	return m
}

// row turns neighbours, of which two share their colour differences. The first is
// out's o-th pixel, the next ones lie dx further on.
func (m *ycc) row(out, ys, us, vs []byte, o, dx int) {
	ys, vs = ys[:2*len(us)], vs[:len(us)]
	o, dx = 3*o, 3*dx
	for i, u := range us {
		c := m.u[u] + m.v[vs[i]]
		a, b := m.y[ys[2*i]]+c, m.y[ys[2*i+1]]+c
		if (a|b)&outOfByte != 0 {
			a, b = clippedLanes(a), clippedLanes(b)
		}
		p, q := (*[3]byte)(out[o:]), (*[3]byte)(out[o+dx:])
		p[0], p[1], p[2] = byte(a), byte(a>>greenLane), byte(a>>blueLane)
		q[0], q[1], q[2] = byte(b), byte(b>>greenLane), byte(b>>blueLane)
		o += 2 * dx
	}
}

// clippedLanes brings every lane to a byte's range.
func clippedLanes(s int64) int64 {
	lowest := func(s int64) int64 { return s << (64 - greenLane) >> (64 - greenLane) }
	r := lowest(s)
	s = (s - r) >> greenLane
	g := lowest(s)
	b := (s - g) >> greenLane
	return lanes(int32(clip8(int32(r))), int32(clip8(int32(g))), int32(clip8(int32(b))))
}
