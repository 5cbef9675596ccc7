package engine

import (
	"math"
	"math/rand/v2"
	"slices"
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

// TestThumbnailOfEitherDepth: the same picture has the same thumbnail, however many bytes
// a pixel has.
func TestThumbnailOfEitherDepth(t *testing.T) {
	const w, h = 200, 150
	rnd := rand.New(rand.NewPCG(9, 10))
	rgb, canvas := picture{w: w, h: h, depth: rgbDepth}, picture{w: w, h: h, depth: canvasDepth}
	for range w * h {
		r, g, b := byte(rnd.IntN(256)), byte(rnd.IntN(256)), byte(rnd.IntN(256))
		rgb.pix, canvas.pix = append(rgb.pix, r, g, b), append(canvas.pix, r, g, b, 0)
	}
	if a, b := thumbnailOf(rgb), thumbnailOf(canvas); a.w != b.w || a.h != b.h || !slices.Equal(a.lum, b.lum) {
		t.Error("the thumbnails differ")
	}
}

// TestDifferenceIsPlain compares the difference of two thumbnails with the same in plain
// words, at every shift, and with a bound.
func TestDifferenceIsPlain(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 10 {
		w, h := 20+rnd.IntN(120), 1+rnd.IntN(80)
		a, b := thumbnail{w: w, h: h, lum: make([]uint8, w*h)}, thumbnail{w: w, h: h, lum: make([]uint8, w*h)}
		for i := range a.lum {
			a.lum[i], b.lum[i] = uint8(rnd.IntN(256)), uint8(rnd.IntN(256))
			if rnd.IntN(2) == 0 {
				b.lum[i] = a.lum[i] + uint8(rnd.IntN(40))
			}
		}
		for sy := -shiftY; sy <= shiftY; sy++ {
			for sx := -shiftX; sx <= shiftX; sx++ {
				sum, n := 0, 0
				for y := max(0, sy); y < min(h, h+sy); y += 2 {
					for x := max(0, sx); x < min(w, w+sx); x++ {
						d := int(a.lum[y*w+x]) - int(b.lum[(y-sy)*w+x-sx])
						sum, n = sum+min(max(d, -d), shiftMost), n+1
					}
				}
				want := float64(sum)/float64(n) + 0.002*(math.Abs(float64(sx))+math.Abs(float64(sy)))
				if n == 0 {
					want = math.Inf(1)
				}
				if got := a.difference(b, sx, sy, math.Inf(1)); got != want {
					t.Fatalf("%dx%d shifted by %d, %d: %g, want %g", w, h, sx, sy, got, want)
				}
				if got := a.difference(b, sx, sy, want); got != want {
					t.Fatalf("%dx%d shifted by %d, %d, bound at itself: %g, want %g", w, h, sx, sy, got, want)
				}
				if got := a.difference(b, sx, sy, want*0.9); n > 0 && !(got > want*0.9) {
					t.Fatalf("%dx%d shifted by %d, %d, bound below: %g", w, h, sx, sy, got)
				}
			}
		}
	}
}
