package engine

import (
	"image"
	"math"
)

// picture is an RGB picture, three bytes a pixel.
type picture struct {
	w, h int
	pix  []byte
	fill func(image.Rectangle) // makes a part readable, nil when all of it is
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
// What lies outside the picture is black. With mirror the result is flipped
// left to right.
func (p picture) crop(r region, n int, mul, add float32, mirror bool, out []float32) {
	s, c := math.Sincos(r.Angle)
	step := r.Side / float64(n)
	ux, uy, vx, vy := c*step, s*step, -s*step, c*step
	half := float64(n-1) / 2
	x0, y0 := r.X-0.5-half*(ux+vx), r.Y-0.5-half*(uy+vy)
	if mirror {
		x0, y0 = x0+float64(n-1)*ux, y0+float64(n-1)*uy
		ux, uy = -ux, -uy
	}
	lastX, lastY := float64(p.w-1), float64(p.h-1)
	o := 0
	for row := range n {
		x, y := x0+float64(row)*vx, y0+float64(row)*vy
		for range n {
			if x >= 0 && y >= 0 && x < lastX && y < lastY {
				p.between(x, y, mul, add, (*[3]float32)(out[o:]))
			} else {
				p.sample(x, y, mul, add, out[o:o+3:o+3])
			}
			o += 3
			x, y = x+ux, y+uy
		}
	}
}

// between is sample where all four pixels around the place lie in the picture, which
// is nearly everywhere: this is the work of the pass beside the models.
func (p picture) between(x, y float64, mul, add float32, out *[3]float32) {
	ix, iy := int(x), int(y)
	dx, dy := float32(x-float64(ix)), float32(y-float64(iy))
	at := 3 * (iy*p.w + ix)
	a, c := (*[6]byte)(p.pix[at:]), (*[6]byte)(p.pix[at+3*p.w:])
	a0, a1, a2 := asFloat[a[0]], asFloat[a[1]], asFloat[a[2]]
	c0, c1, c2 := asFloat[c[0]], asFloat[c[1]], asFloat[c[2]]
	top0, low0 := a0+(asFloat[a[3]]-a0)*dx, c0+(asFloat[c[3]]-c0)*dx
	top1, low1 := a1+(asFloat[a[4]]-a1)*dx, c1+(asFloat[c[4]]-c1)*dx
	top2, low2 := a2+(asFloat[a[5]]-a2)*dx, c2+(asFloat[c[5]]-c2)*dx
	out[0] = (top0+(low0-top0)*dy)*mul + add
	out[1] = (top1+(low1-top1)*dy)*mul + add
	out[2] = (top2+(low2-top2)*dy)*mul + add
}

// asFloat is quicker to look up than a byte is to convert.
var asFloat = func() (f [256]float32) {
	for i := range f {
		f[i] = float32(i)
	}
	return f
}()

// sample reads the picture between its pixels; (0, 0) is the centre of the first.
func (p picture) sample(x, y float64, mul, add float32, out []float32) {
	fx, fy := math.Floor(x), math.Floor(y)
	ix, iy := int(fx), int(fy)
	if ix < -1 || iy < -1 || ix >= p.w || iy >= p.h {
		out[0], out[1], out[2] = add, add, add
		return
	}
	dx, dy := float32(x-fx), float32(y-fy)
	xa, xb := max(ix, 0)*3, min(ix+1, p.w-1)*3
	ya, yb := max(iy, 0)*p.w*3, min(iy+1, p.h-1)*p.w*3
	a, b := p.pix[ya+xa:ya+xa+3], p.pix[ya+xb:ya+xb+3]
	c, d := p.pix[yb+xa:yb+xa+3], p.pix[yb+xb:yb+xb+3]
	for k := range 3 {
		top := float32(a[k]) + (float32(b[k])-float32(a[k]))*dx
		low := float32(c[k]) + (float32(d[k])-float32(c[k]))*dx
		out[k] = (top+(low-top)*dy)*mul + add
	}
}
