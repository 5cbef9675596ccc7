package engine

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

// TestBoundsHoldWhatIsSampled: no pixel outside a region's bounds comes to be read.
func TestBoundsHoldWhatIsSampled(t *testing.T) {
	const n = 32
	rnd := rand.New(rand.NewPCG(1, 2))
	p := picture{w: 200, h: 120, pix: make([]byte, 3*200*120)}
	out := make([]float32, 3*n*n)
	for range 300 {
		r := region{X: 240*rnd.Float64() - 20, Y: 160*rnd.Float64() - 20, Side: 4 + 100*rnd.Float64(), Angle: 2 * math.Pi * rnd.Float64()}
		for i := range p.pix {
			p.pix[i] = 255 // what was not filled
		}
		p.fill = func(b image.Rectangle) {
			b = b.Intersect(image.Rect(0, 0, p.w, p.h))
			for y := b.Min.Y; y < b.Max.Y; y++ {
				clear(p.pix[3*(y*p.w+b.Min.X) : 3*(y*p.w+b.Max.X)])
			}
		}
		p.show(r)
		p.crop(r, n, 1, 0, rnd.IntN(2) == 0, out)
		for i, v := range out {
			if v != 0 {
				t.Fatalf("%+v: value %d is of a pixel outside %v", r, i, r.bounds())
			}
		}
	}
}
