package engine

import (
	"math"
	"math/rand/v2"
	"testing"
)

// plainShift is shiftFrom without its shortcuts.
func plainShift(t, old thumbnail) (dx, dy float64) {
	best := math.Inf(1)
	for sy := -shiftY; sy <= shiftY; sy++ {
		for sx := -shiftX; sx <= shiftX; sx++ {
			if m := t.difference(old, sx, sy, math.Inf(1)); m < best {
				best, dx, dy = m, float64(sx), float64(sy)
			}
		}
	}
	return dx / float64(t.w), dy / float64(t.w)
}

// TestShiftIsTheLeastDifferent compares the search that gives up early with one
// that compares everything, on pans, noise and a blank wall.
func TestShiftIsTheLeastDifferent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	scene := func(x, y int) uint8 { return uint8(128 + 90*math.Sin(float64(x)/5)*math.Cos(float64(y)/7)) }
	for i := range 40 {
		a, b := thumbnail{w: 128, h: 72}, thumbnail{w: 128, h: 72}
		px, py, noise := rnd.IntN(61)-30, rnd.IntN(13)-6, 1+rnd.IntN(60)
		for y := range 72 {
			for x := range 128 {
				switch {
				case i%5 == 4: // a blank wall
					a.lum, b.lum = append(a.lum, 90), append(b.lum, 90)
				default:
					a.lum = append(a.lum, scene(x, y)/2+uint8(rnd.IntN(noise)))
					b.lum = append(b.lum, scene(x+px, y+py)/2+uint8(rnd.IntN(noise)))
				}
			}
		}
		gx, gy := a.shiftFrom(b)
		if wx, wy := plainShift(a, b); gx != wx || gy != wy {
			t.Errorf("pan %d,%d noise %d: %g,%g, want %g,%g", px, py, noise, gx*128, gy*128, wx*128, wy*128)
		}
	}
}
