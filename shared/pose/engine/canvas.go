package engine

// #include "rgb.h"
import "C"

import (
	"image"
	"unsafe"

	"fastbowlinglab/shared/media"
)

// canvas is a picture of four bytes a pixel of which only those parts are painted that
// somebody reads: around a bowler, a tenth of it. It serves one picture after the other.
type canvas struct {
	planes *media.Planes
	pix    []byte
	width  int             // displayed
	done   image.Rectangle // what is painted, as displayed
	whole  image.Rectangle
}

// show gives the frame as a picture, which holds until the next one is shown.
func (c *canvas) show(f media.Frame) picture {
	if f.Planes == nil {
		return rgbOf(f)
	}
	if n := canvasDepth * f.Width * f.Height; len(c.pix) != n {
		c.pix = make([]byte, n)
	}
	c.planes, c.width, c.done, c.whole = f.Planes, f.Width, image.Rectangle{}, image.Rect(0, 0, f.Width, f.Height)
	return picture{w: f.Width, h: f.Height, depth: canvasDepth, pix: c.pix, fill: c.fill}
}

const canvasDepth, rgbDepth = 4, 3 // bytes a pixel

// rgbOf is a picture that came as one.
func rgbOf(f media.Frame) picture {
	return picture{w: f.Width, h: f.Height, depth: rgbDepth, pix: f.Pix}
}

// fill paints the part r, which may reach beyond the picture.
func (c *canvas) fill(r image.Rectangle) {
	if r = r.Intersect(c.whole); r.In(c.done) {
		return
	}
	p, k := c.planes, c.planes.Colours
	at, dx, dy := p.Turn.Walk(p.Width, p.Height, c.width)
	s := p.Turn.Stored(r, p.Width, p.Height)
	part := C.struct_part{
		width: C.int(p.Width), height: C.int(p.Height), y0: C.int(s.Min.Y), y1: C.int(s.Max.Y),
		x0: C.int(s.Min.X &^ 1), x1: C.int((s.Max.X + 1) &^ 1), // two neighbours share their colour differences
		black: C.int16_t(k.Black), luma: C.int16_t(k.Luma), red_cr: C.int16_t(k.RedCr),
		green_cb: C.int16_t(k.GreenCb), green_cr: C.int16_t(k.GreenCr), blue_cb: C.int16_t(k.BlueCb),
		at: C.long(at), dx: C.long(dx), dy: C.long(dy),
	}
	in, out := p.I420[:p.Width*p.Height*3/2], c.pix[:canvasDepth*c.whole.Dx()*c.whole.Dy()]
	C.to_rgb((*C.uint8_t)(&in[0]), &part, (*C.uint32_t)(unsafe.Pointer(&out[0])))
	c.done = r
}
