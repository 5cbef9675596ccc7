package engine

// #include "difference.h"
import "C"

import "math"

// thumbnail is a small grey picture from which the camera's movement is read.
type thumbnail struct {
	w, h int
	lum  []uint8
}

const thumbnailWidth = 128

// thumbnailOf looks at every second pixel across and down of all of a picture.
func thumbnailOf(p picture) thumbnail {
	t := thumbnail{w: thumbnailWidth, h: max(1, p.h*thumbnailWidth/p.w)}
	t.lum = make([]uint8, t.w*t.h)
	for y := range t.h {
		y0, y1 := y*p.h/t.h, max(y*p.h/t.h+1, (y+1)*p.h/t.h)
		for x := range t.w {
			x0, x1 := x*p.w/t.w, max(x*p.w/t.w+1, (x+1)*p.w/t.w)
			sum, n := 0, 0
			for yy := y0; yy < y1; yy += 2 {
				for xx := x0; xx < x1; xx += 2 {
					sum += int(p.pix[p.depth*(yy*p.w+xx)+1]) // green carries most of the light
					n++
				}
			}
			t.lum[y*t.w+x] = uint8(sum / n)
		}
	}
	return t
}

// How far the scene may have moved between two looks, in pixels of a thumbnail, and
// the most that one pixel counts.
const (
	shiftX, shiftY = 40, 8
	shiftMost      = 24
)

// shiftFrom tells how far the scene moved since an earlier picture, in widths:
// the whole shift with the smallest mean difference, where big differences
// (people) count for little. Of equals, as on a blank wall, it is the smallest shift.
func (t thumbnail) shiftFrom(old thumbnail) (dx, dy float64) {
	if old.w != t.w || old.h != t.h {
		return 0, 0
	}
	// Most shifts are seen to be worse than one of few before all rows are compared,
	// the sooner the better that one is: the search begins where a pan would lie.
	bound := math.Inf(1)
	for sx := -shiftX; sx <= shiftX; sx++ {
		bound = min(bound, t.difference(old, sx, 0, bound))
	}
	best := math.Inf(1)
	for sy := -shiftY; sy <= shiftY; sy++ {
		for sx := -shiftX; sx <= shiftX; sx++ {
			if m := t.difference(old, sx, sy, min(best, bound)); m < best && m <= bound {
				best, dx, dy = m, float64(sx), float64(sy)
			}
		}
	}
	return dx / float64(t.w), dy / float64(t.w)
}

// difference is the mean difference under a shift, with a little for its size; once
// it is seen to be above bound, anything above it.
func (t thumbnail) difference(old thumbnail, sx, sy int, bound float64) float64 {
	from, to := max(0, sx), min(t.w, t.w+sx)
	first, last := max(0, sy), min(t.h, t.h+sy)
	n := (to - from) * ((last - first + 1) / 2)
	if n <= 0 {
		return math.Inf(1)
	}
	size := 0.002 * (math.Abs(float64(sx)) + math.Abs(float64(sy)))
	if size > bound {
		return math.Inf(1)
	}
	most := C.ulong(min((bound-size)*float64(n)+1, shiftMost*float64(n)))
	sum := C.difference((*C.uint8_t)(&t.lum[first*t.w+from]), (*C.uint8_t)(&old.lum[(first-sy)*t.w+from-sx]),
		C.long(t.w), C.long(to-from), C.long(last-first), shiftMost, most)
	return float64(sum)/float64(n) + size
}
