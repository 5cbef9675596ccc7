package engine

import (
	"context"
	"fmt"
	"math"

	"fastbowlinglab/shared/media"
)

// The scout looks through the whole clip before the pass, at a few frames a
// second, to find out who the bowler is: nobody can tell from the first second.
const (
	scoutEvery  = 0.12 // seconds between looks
	scoutMost   = 400  // looks at a clip; a long one is looked at less often,
	scoutSeldom = 0.2  // but so often that a runner is still the same person at the next
	scoutSide   = 1280 // pixels, longer side
)

// sighting is a person at one look, in fractions of the displayed width (both
// axes, so that distances are true), with the camera's movement taken out of
// GX and GY.
type sighting struct {
	Look   int     `json:"-"`
	Time   float64 `json:"t"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Radius float64 `json:"r"`
	Angle  float64 `json:"a"`
	Score  float64 `json:"s"`
	GX     float64 `json:"-"`
	GY     float64 `json:"-"`
}

// scout finds the people at every look.
func (e *Engine) scout(ctx context.Context, src string, info media.Info) ([][]sighting, error) {
	t, err := e.detector.team(e.threads)
	if err != nil {
		return nil, fmt.Errorf("scout: %w", err)
	}
	defer t.close()
	var looks [][]sighting
	var before thumbnail
	var cx, cy float64 // camera's way so far, in widths
	every := min(max(scoutEvery, info.Duration/scoutMost), scoutSeldom)
	look := func(f media.Frame) error {
		p := picture{w: f.Width, h: f.Height, pix: f.Pix}
		now := thumbnailOf(p)
		if len(looks) > 0 {
			dx, dy := now.shiftFrom(before)
			cx, cy = cx+dx, cy+dy
		}
		before = now
		people, err := t.detectAll(p, detectorMin)
		if err != nil {
			return fmt.Errorf("scout: %w", err)
		}
		seen := make([]sighting, 0, len(people))
		w := float64(p.w)
		for _, q := range people {
			s := sighting{Look: len(looks), Time: f.Time, X: q.X / w, Y: q.Y / w, Radius: q.Radius / w, Angle: q.Angle, Score: q.Score}
			s.GX, s.GY = s.X-cx, s.Y-cy
			seen = append(seen, s)
		}
		looks = append(looks, seen)
		return nil
	}
	err = ahead(ctx, look, func(ctx context.Context, alloc func(int) []byte, give func(media.Frame) error) error {
		return media.Survey(ctx, src, info, every, media.Options{MaxSide: scoutSide, Alloc: alloc}, give)
	})
	return looks, err
}

// thumbnail is a small grey picture from which the camera's movement is read.
type thumbnail struct {
	w, h int
	lum  []uint8
}

const thumbnailWidth = 128

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
					sum += int(p.pix[3*(yy*p.w+xx)+1]) // green carries most of the light
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
	sum := 0
	for y := first; y < last; y += 2 {
		a, b := t.lum[y*t.w+from:y*t.w+to], old.lum[(y-sy)*t.w+from-sx:(y-sy)*t.w+to-sx]
		for x, v := range a {
			sum += int(capped[int(v)-int(b[x])+255])
		}
		if float64(sum)/float64(n)+size > bound {
			return math.Inf(1)
		}
	}
	return float64(sum)/float64(n) + size
}

// capped is the amount of a difference of two bytes, at most shiftMost; 255 is none.
var capped = func() (c [511]uint8) {
	for i := range c {
		c[i] = uint8(min(max(i-255, 255-i), shiftMost))
	}
	return c
}()
