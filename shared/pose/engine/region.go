package engine

// #cgo CFLAGS: -O3
// #cgo LDFLAGS: -lm
// #include "crop.h"
import "C"

import (
	"image"
	"math"
)

// picture is an RGB picture.
type picture struct {
	w, h  int
	depth int // bytes a pixel: rgbDepth or canvasDepth
	pix   []byte
	fill  func(image.Rectangle) // makes a part readable, nil when all of it is
}

// show makes what regions are sampled from readable.
func (p picture) show(rs ...region) {
	if p.fill == nil {
		return
	}
	for _, r := range rs {
		p.fill(r.bounds())
	}
}

// bounds are the pixels that sampling a region may read.
func (r region) bounds() image.Rectangle {
	s, c := math.Sincos(r.Angle)
	reach := r.Side/2*(math.Abs(s)+math.Abs(c)) + 2 // bilinear: a pixel around it, and one for rounding
	const most = 1 << 20                            // a region can be anything, a rectangle only what an int holds
	at := func(f float64) int { return int(min(max(f, -most), most)) }
	return image.Rect(at(r.X-reach), at(r.Y-reach), at(r.X+reach)+1, at(r.Y+reach)+1)
}

// region is a square of a picture: centre and side in pixels (centre of the
// first pixel at 0.5), turned clockwise by angle (radians).
type region struct {
	X, Y, Side, Angle float64
}

// point maps (u, v), in the region's own coordinates from 0 to 1, to the picture.
func (r region) point(u, v float64) (x, y float64) {
	s, c := math.Sincos(r.Angle)
	du, dv := (u-0.5)*r.Side, (v-0.5)*r.Side
	return r.X + du*c - dv*s, r.Y + du*s + dv*c
}

// around gives the region of a person from two points that the models predict:
// the middle of the hips, and a point above the head that gives the body's
// size and direction. The factor is BlazePose's margin.
func around(hipX, hipY, topX, topY float64) region {
	dx, dy := topX-hipX, topY-hipY
	return region{X: hipX, Y: hipY, Side: 2 * margin * math.Hypot(dx, dy), Angle: math.Atan2(dx, -dy)}
}

const margin = 1.25

// crop samples the region to n x n pixels as floats value*mul+add, bilinearly.
// What lies outside the picture is black. It is the work of the pass beside the
// models, and in C because there the colours of four pixels are mixed at once.
func (p picture) crop(r region, n int, mul, add float32, out []float32) {
	sin, cos := math.Sincos(r.Angle)
	step, half := r.Side/float64(n), float64(n-1)/2
	ux, uy, vx, vy := cos*step, sin*step, -sin*step, cos*step
	s := C.struct_sampling{
		x: C.double(r.X - 0.5 - half*(ux+vx)), y: C.double(r.Y - 0.5 - half*(uy+vy)),
		ux: C.double(ux), uy: C.double(uy), vx: C.double(vx), vy: C.double(vy),
		w: C.int(p.w), h: C.int(p.h), size: C.int(p.depth), n: C.int(n), mul: C.float(mul), add: C.float(add),
	}
	pix, out := p.pix[:p.depth*p.w*p.h], out[:3*n*n]
	C.crop((*C.uint8_t)(&pix[0]), &s, (*C.float)(&out[0]))
}

// mirror flips an n x n sample left to right.
func mirror(v []float32, n int) {
	v = v[:3*n*n]
	C.mirror((*C.float)(&v[0]), C.int(n))
}
