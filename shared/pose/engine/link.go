package engine

import (
	"math"
	"slices"
	"sort"
)

// Linking joins sightings into ways of one person each.
const (
	linkGrowth = 1.5  // ratio of sizes
	linkGap    = 0.7  // seconds unseen
	joinGap    = 2.0  // seconds between two ways that are taken for one person's
	mostJoin   = 3.0  // body radii between their ends
	motionBase = 0.45 // seconds over which movement is taken
)

// reach is how far from the expected place someone may be seen after dt seconds,
// in body radii (a sprinter makes five or six a second). Without a speed to go
// by, the expected place is the last one.
func reach(dt float64, known bool) float64 {
	if known {
		return 0.6 + 3*dt
	}
	return 0.4 + 6*dt
}

// way is one person's sightings, in order.
type way []sighting

// expect tells where the person will be on the ground at time t, and whether
// their speed is known.
func (w way) expect(t float64) (gx, gy float64, known bool) {
	last := w[len(w)-1]
	gx, gy = last.GX, last.GY
	for i := len(w) - 2; i >= 0; i-- {
		if dt := last.Time - w[i].Time; math.Abs(dt) >= 0.1 { // negative in a way that is read backwards
			f := (t - last.Time) / dt
			return gx + (last.GX-w[i].GX)*f, gy + (last.GY-w[i].GY)*f, true
		}
	}
	return gx, gy, false
}

// link joins the sightings of a clip into ways, nearest first at every look.
func link(looks [][]sighting) []way {
	var open, done []way
	for _, seen := range looks {
		if len(seen) == 0 {
			continue
		}
		now := seen[0].Time
		var live []way
		for _, w := range open {
			if now-w[len(w)-1].Time > linkGap {
				done = append(done, w)
			} else {
				live = append(live, w)
			}
		}
		open = match(live, seen)
	}
	return append(done, open...)
}

func match(open []way, seen []sighting) []way {
	type pair struct {
		way, seen int
		cost      float64
	}
	var pairs []pair
	for i, w := range open {
		for j, s := range seen {
			gx, gy, known := w.expect(s.Time)
			last := w[len(w)-1]
			size := math.Sqrt(last.Radius * s.Radius)
			cost := math.Hypot(s.GX-gx, s.GY-gy) / size
			if grown := math.Abs(math.Log(s.Radius / last.Radius)); grown < math.Log(linkGrowth) && cost < reach(s.Time-last.Time, known) {
				pairs = append(pairs, pair{i, j, cost + grown})
			}
		}
	}
	sort.SliceStable(pairs, func(a, b int) bool { return pairs[a].cost < pairs[b].cost })
	usedWay, usedSeen := make([]bool, len(open)), make([]bool, len(seen))
	for _, p := range pairs {
		if !usedWay[p.way] && !usedSeen[p.seen] {
			usedWay[p.way], usedSeen[p.seen] = true, true
			open[p.way] = append(open[p.way], seen[p.seen])
		}
	}
	for j, s := range seen {
		if !usedSeen[j] {
			open = append(open, way{s})
		}
	}
	return open
}

// run measures how far a person ran, in body radii over the ground or towards
// the camera, each stretch weighted by the detector's score. Standing about
// adds next to nothing: movement is taken over motionBase seconds.
func (w way) run() float64 {
	sum := 0.0
	for i, from := 0, 0; i < len(w); i++ {
		for from < i && w[i].Time-w[from+1].Time >= motionBase {
			from++
		}
		dt := w[i].Time - w[from].Time
		if i == 0 || dt < motionBase/2 {
			continue
		}
		size := math.Sqrt(w[i].Radius * w[from].Radius)
		moved := math.Hypot(w[i].GX-w[from].GX, w[i].GY-w[from].GY) / size
		nearer := 3 * math.Abs(math.Log(w[i].Radius/w[from].Radius))
		speed := math.Hypot(moved, nearer) / dt
		sum += max(0, speed-standing) * (w[i].Time - w[i-1].Time) * w[i].Score
	}
	return sum
}

// standing is the apparent speed, in radii a second, of someone who stands:
// the detector's unrest.
const standing = 0.4

// weight is how much of a bowler a way is: how far it ran, and how large the
// person is in the picture. Who never moves still counts a little, so that a
// clip in which nobody runs is followed and found to be no bowling.
func (w way) weight() float64 {
	size, seconds := 0.0, w[len(w)-1].Time-w[0].Time
	for _, s := range w {
		size += s.Radius * s.Score / float64(len(w))
	}
	return (w.run() + 0.02*seconds + 0.001) * size
}

// bowler picks the way of the bowler, with the pieces of it that went lost in
// between joined on. It is empty when nobody is there.
func bowler(ways []way) way {
	best, most := -1, 0.0
	for i, w := range ways {
		if v := w.weight(); v > most {
			best, most = i, v
		}
	}
	if best < 0 {
		return nil
	}
	out := ways[best]
	rest := append([]way{}, ways[:best]...)
	rest = append(rest, ways[best+1:]...)
	for {
		i := nearestEnd(out, rest)
		if i < 0 {
			return out
		}
		if rest[i][0].Time > out[len(out)-1].Time {
			out = append(append(way{}, out...), rest[i]...)
		} else {
			out = append(append(way{}, rest[i]...), out...)
		}
		rest = append(rest[:i], rest[i+1:]...)
	}
}

// nearestEnd finds the way that best goes on after w ends or leads up to it;
// -1 for none.
func nearestEnd(w way, rest []way) int {
	best, least := -1, math.Inf(1)
	for i, r := range rest {
		gap, first, second := r[0].Time-w[len(w)-1].Time, w, r
		if gap <= 0 {
			gap, first, second = w[0].Time-r[len(r)-1].Time, r, w
		}
		if gap <= 0 || gap > joinGap {
			continue
		}
		a, b := first[len(first)-1], second[0]
		gx, gy, known := first.expect(b.Time)
		off := math.Hypot(b.GX-gx, b.GY-gy) / math.Sqrt(a.Radius*b.Radius)
		grown := math.Abs(math.Log(b.Radius / a.Radius))
		if off > min(reach(gap, known), mostJoin) || grown > math.Log(linkGrowth) {
			continue
		}
		if cost := off + gap + grown; cost < least {
			best, least = i, cost
		}
	}
	return best
}

// alsoRan is the share of the bowler's run from which somebody else's, at
// another time, is taken for a run-up too.
const alsoRan = 0.5

// otherRuns counts the run-ups before and after the bowler's way w: those of a
// clip of several deliveries. Who runs while the bowler does is a batter.
func otherRuns(w way, ways []way) int {
	if len(w) == 0 {
		return 0
	}
	var found []way
	for _, r := range ways {
		apart := func(q way) bool {
			return r[0].Time > q[len(q)-1].Time+linkGap || r[len(r)-1].Time < q[0].Time-linkGap
		}
		if !apart(w) || r.run() < alsoRan*w.run() || r.weight() < alsoRan*w.weight() {
			continue
		}
		if slices.ContainsFunc(found, func(q way) bool { return !apart(q) }) {
			continue
		}
		found = append(found, r)
	}
	return len(found)
}
