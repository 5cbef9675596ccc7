package engine

import "testing"

// someone is a person at one look.
func someone(look int, x, r float64) sighting {
	return sighting{Look: look, Time: float64(look) / 8, X: x, Y: 0.3, Radius: r, Score: 0.95, GX: x, GY: 0.3}
}

// A runner goes past somebody who stands there as the clip begins; the detector
// sees one of the two while they overlap. Radii are a tenth of the width.
func TestWhoStandsInTheWayIsNotTheRunner(t *testing.T) {
	runner := func(i int) sighting { return someone(i, 0.44+0.045*float64(i), 0.1) }
	for _, c := range []struct {
		name   string
		stands sighting
		hidden func(look int) bool // who stands there is not seen
	}{
		{"FromTheFirstLookOn", someone(0, 0.498, 0.1), func(i int) bool { return i > 0 }},
		{"AndIsSeenAgainAfterwards", someone(0, 0.498, 0.1), func(i int) bool { return i == 1 || i == 2 }},
	} {
		var looks [][]sighting
		for i := range 10 {
			seen := []sighting{runner(i)}
			if !c.hidden(i) {
				s := c.stands
				s.Look, s.Time = i, seen[0].Time
				seen = append([]sighting{s}, seen...)
			}
			looks = append(looks, seen)
		}
		w := bowler(link(looks)).retraced(looks)
		if len(w) != len(looks) {
			t.Errorf("%s: %d sightings of %d", c.name, len(w), len(looks))
			continue
		}
		for i, s := range w {
			if s != runner(i) {
				t.Errorf("%s: at look %d it is who stands there, at %.3f and not %.3f", c.name, i, s.X, runner(i).X)
			}
		}
	}
}

// A way that is right stays as it is, unrest, pan and other people or not.
func TestARightWayIsRetracedUnchanged(t *testing.T) {
	unrest := func(x, r float64) func(float64) (float64, float64) {
		sign := 1.0
		return func(s float64) (float64, float64) {
			sign = -sign
			return x + 0.24*s + sign*0.1*r, r
		}
	}
	for name, looks := range map[string][][]sighting{
		"Alone":           scene(3, 0, running(0.05, 0.25, 0.06)),
		"UmpireAndBatter": scene(3, 0, at(0.45, 0.08), unrest(0.02, 0.06), at(0.9, 0.07)),
		"CameraPansAlong": scene(3, 0.2, at(0.5, 0.06), running(0.05, 0.25, 0.06), at(0.7, 0.06)),
		"StartsToRun":     scene(3, 0, at(0.3, 0.06), func(s float64) (float64, float64) { return 0.2 + 0.08*s*s, 0.06 }),
	} {
		w := bowler(link(looks))
		for i, s := range w.retraced(looks) {
			if s != w[i] {
				t.Errorf("%s: at %.1f s %.3f became %.3f", name, s.Time, w[i].X, s.X)
			}
		}
	}
	if w := (way)(nil).retraced(nil); len(w) != 0 {
		t.Errorf("a way of nobody became %v", w)
	}
}
