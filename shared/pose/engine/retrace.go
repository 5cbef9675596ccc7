package engine

import (
	"math"
	"slices"
)

// clearer is by how much, in body radii, another sighting must be nearer to where a
// way leads back to than the way's own: more than the detector's unrest.
const clearer = 0.3

// retraced is a way read backwards once more. Where two people overlap the detector
// sees one of them. The way of who stood there may then go on with somebody who runs
// past and whose speed nobody knew yet, as at the beginning of a clip; from the runner's
// later sightings it is plain which of the earlier ones are theirs.
func (w way) retraced(looks [][]sighting) way {
	at := map[float64][]sighting{}
	for _, seen := range looks {
		if len(seen) > 0 {
			at[seen[0].Time] = seen
		}
	}
	back := make(way, 0, len(w))
	for i := len(w) - 1; i >= 0; i-- {
		own := w[i]
		if len(back) > 1 {
			own = back.closest(own, at[own.Time])
		}
		back = append(back, own)
	}
	slices.Reverse(back)
	return back
}

// closest is the sighting of one look that fits best to where the way leads: own,
// unless another one of about the size is clearly nearer.
func (w way) closest(own sighting, seen []sighting) sighting {
	last := w[len(w)-1]
	gx, gy, known := w.expect(own.Time)
	if !known {
		return own
	}
	off := func(s sighting) float64 { return math.Hypot(s.GX-gx, s.GY-gy) / math.Sqrt(last.Radius*s.Radius) }
	best, least := own, off(own)-clearer
	for _, s := range seen {
		if d := off(s); d < least && math.Abs(math.Log(s.Radius/last.Radius)) < math.Log(linkGrowth) {
			best, least = s, d
		}
	}
	return best
}
