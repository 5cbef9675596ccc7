package engine

import (
	"context"
	"fmt"

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
		p := rgbOf(f)
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
