package engine

import (
	"math"

	"fastbowlinglab/shared/media"
)

// target is the way of the bowler through the clip, as the pass uses it: where
// to look in a frame, and what is too far away to be the same person.
type target struct {
	Seen []sighting `json:"seen"`
	Side int        `json:"side"` // of the pictures that the pass decodes: their longer side

	OtherRuns int `json:"other_runs,omitempty"` // run-ups before and after this one
}

const (
	beforeFirst = 0.3 // seconds that a way is carried on before it is first seen
	afterLast   = 1.0 // and after it is last seen, as long as the landmarks hold
	cropPixels  = 300 // side of the bowler's region in the pictures decoded
	leastSide   = 512
	mostSide    = 2560
	sameSide    = 7 // tenths of the survey's size above which the pictures kept of it are taken as they are
)

// aim makes a target of a way. The pictures are decoded at the size at which
// the bowler just fills the landmark model's input: less loses detail, more
// costs time and makes a coarse sampling of them.
func aim(w way, width, height int) target {
	t := target{Seen: w, Side: leastSide}
	if len(w) == 0 {
		return t
	}
	least := math.Inf(1)
	for _, s := range w {
		least = min(least, 2*margin*s.Radius)
	}
	long := float64(max(width, height)) / float64(width) // longer side in widths
	t.Side = max(int(cropPixels/least*long), leastSide)
	if t.Side < scoutSide && t.Side*10 > scoutSide*sameSide {
		t.Side = scoutSide
	}
	t.Side = min(t.Side, mostSide, max(width, height))
	return t
}

// at tells where the bowler should be at time t, in widths, from the sightings
// around it; false when it is too far from any. gap is the time to the nearest.
func (g target) at(t float64) (r region, gap float64, ok bool) {
	n := len(g.Seen)
	if n == 0 || t < g.Seen[0].Time-beforeFirst || t > g.Seen[n-1].Time+afterLast {
		return region{}, 0, false
	}
	i := 0
	for i < n && g.Seen[i].Time <= t {
		i++
	}
	switch {
	case i == 0:
		r, gap = g.beyond(0, 1, t), g.Seen[0].Time-t
	case i == n:
		r, gap = g.beyond(n-1, n-2, t), t-g.Seen[n-1].Time
	default:
		a, b := g.Seen[i-1], g.Seen[i]
		f := (t - a.Time) / (b.Time - a.Time)
		r = blend(a.region(), b.region(), f)
		gap = min(t-a.Time, b.Time-t)
	}
	return r, gap, true
}

// window is when the bowler is looked for; no picture is needed outside it.
func (g target) window() *media.Window {
	if n := len(g.Seen); n > 0 {
		return &media.Window{From: g.Seen[0].Time - beforeFirst, To: g.Seen[n-1].Time + afterLast}
	}
	return &media.Window{From: 1, To: 0}
}

// beyond carries the way on past its end i, with j the sighting beside it.
func (g target) beyond(i, j int, t float64) region {
	a := g.Seen[i]
	r := a.region()
	if j < 0 || j >= len(g.Seen) {
		return r
	}
	b := g.Seen[j]
	if dt := a.Time - b.Time; math.Abs(dt) < 2*linkGap {
		f := (t - a.Time) / dt
		r.X, r.Y = r.X+(a.X-b.X)*f, r.Y+(a.Y-b.Y)*f
	}
	return r
}

func (s sighting) region() region {
	return region{X: s.X, Y: s.Y, Side: 2 * margin * s.Radius, Angle: s.Angle}
}

func blend(a, b region, f float64) region {
	return region{
		X: a.X + (b.X-a.X)*f, Y: a.Y + (b.Y-a.Y)*f,
		Side: a.Side + (b.Side-a.Side)*f, Angle: a.Angle + turn(b.Angle-a.Angle)*f,
	}
}

// turn brings an angle into (-pi, pi].
func turn(a float64) float64 { return math.Remainder(a, 2*math.Pi) }

func (r region) scaled(f float64) region {
	return region{X: r.X * f, Y: r.Y * f, Side: r.Side * f, Angle: r.Angle}
}

// fits reports whether a region can be the bowler's, who should be in want: not
// further off than a share of the body's size, which grows with the time since
// it was seen, and not much larger or smaller.
func (r region) fits(want region, gap float64) bool {
	reach := want.Side / 2 / margin * (0.5 + gap)
	return math.Hypot(r.X-want.X, r.Y-want.Y) <= reach &&
		r.Side > want.Side/1.7 && r.Side < want.Side*1.7
}
