package engine

import (
	"math"
	"math/rand/v2"
	"testing"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/pose"
)

// scene makes looks, ten a second, of people whose places are functions of time.
// pan is the camera's speed in widths a second.
func scene(seconds, pan float64, people ...func(t float64) (x, radius float64)) [][]sighting {
	var looks [][]sighting
	for i := 0; float64(i)/10 < seconds; i++ {
		t := float64(i) / 10
		var seen []sighting
		for _, p := range people {
			gx, r := p(t)
			if x := gx - pan*t; x >= 0 && x <= 1 {
				seen = append(seen, sighting{Look: i, Time: t, X: x, Y: 0.3, Radius: r, Score: 0.9, GX: gx, GY: 0.3})
			}
		}
		looks = append(looks, seen)
	}
	return looks
}

func at(x, r float64) func(float64) (float64, float64) {
	return func(float64) (float64, float64) { return x, r }
}

func running(from, speed, r float64) func(float64) (float64, float64) {
	return func(t float64) (float64, float64) { return from + speed*t, r }
}

func TestTheRunnerIsTheBowler(t *testing.T) {
	runner := running(0.05, 0.25, 0.06)
	for _, c := range []struct {
		name  string
		looks [][]sighting
	}{
		{"Alone", scene(3, 0, runner)},
		{"LargerUmpireListedFirst", scene(3, 0, at(0.5, 0.11), runner)},
		{"UmpireAndBatter", scene(3, 0, at(0.45, 0.08), runner, at(0.9, 0.07))},
		{"CameraPansAlong", scene(3, 0.2, at(0.5, 0.1), runner, at(0.7, 0.08))},
		{"SlowWalkerNearer", scene(3, 0, running(0.2, 0.03, 0.09), runner)},
		{"ComesLate", func() [][]sighting {
			l := scene(6, 0, at(0.5, 0.1), func(t float64) (float64, float64) { return 0.25*t - 0.75, 0.06 })
			return l
		}()},
	} {
		w := bowler(link(c.looks))
		if len(w) < 20 {
			t.Errorf("%s: %d sightings", c.name, len(w))
			continue
		}
		for _, s := range w {
			if s.Radius != 0.06 {
				t.Errorf("%s: at %.1f s it is someone else, at %.2f", c.name, s.Time, s.X)
				break
			}
		}
	}
}

// TestSeldomLooksKeepTheRunner takes every second look away: a long clip.
func TestSeldomLooksKeepTheRunner(t *testing.T) {
	var looks [][]sighting
	for i, l := range scene(4, 0, at(0.5, 0.1), running(0.02, 0.24, 0.06)) {
		if i%2 == 0 {
			looks = append(looks, l)
		}
	}
	if w := bowler(link(looks)); len(w) != 20 || w[0].Radius != 0.06 {
		t.Errorf("%d sightings, radius %g", len(w), w[0].Radius)
	}
}

func TestRunningTowardsTheCamera(t *testing.T) {
	grows := func(t float64) (float64, float64) { return 0.5, 0.03 * math.Exp(0.35*t) }
	w := bowler(link(scene(3, 0, at(0.8, 0.06), grows)))
	if len(w) == 0 || w[0].GX != 0.5 {
		t.Errorf("%+v", w)
	}
}

func TestLostForAMomentIsJoined(t *testing.T) {
	looks := scene(4, 0, at(0.5, 0.1), running(0.05, 0.2, 0.06))
	for i := range looks {
		if i > 14 && i < 26 { // 1.1 s
			looks[i] = looks[i][:1]
		}
	}
	w := bowler(link(looks))
	if len(w) != 40-11 || w[0].Time != 0 || w[len(w)-1].Time != 3.9 {
		t.Errorf("%d sightings from %g to %g", len(w), w[0].Time, w[len(w)-1].Time)
	}
}

// One clip, three deliveries, the bowler out of the picture between them.
func TestOtherRunUpsAreCounted(t *testing.T) {
	balls := func(t float64) (float64, float64) { return 0.25*math.Mod(t, 9) + 0.05, 0.06 }
	for _, c := range []struct {
		name  string
		looks [][]sighting
		want  int
	}{
		{"OneDelivery", scene(3, 0, at(0.5, 0.1), running(0.05, 0.25, 0.06)), 0},
		{"ThreeDeliveries", scene(25, 0, at(0.5, 0.1), balls), 2},
		{"TheBatterRunsToo", scene(3, 0, running(0.9, -0.2, 0.06), running(0.05, 0.25, 0.06)), 0},
		{"SomebodyWalksLater", scene(12, 0, func(t float64) (float64, float64) {
			if t < 3 {
				return 0.05 + 0.25*t, 0.06
			}
			return 0.06*t - 0.4, 0.06
		}), 0},
	} {
		ways := link(c.looks)
		if got := otherRuns(bowler(ways), ways); got != c.want {
			t.Errorf("%s: %d other run-ups, want %d", c.name, got, c.want)
		}
	}
}

func TestNobodyIsNoBowler(t *testing.T) {
	if w := bowler(link(make([][]sighting, 30))); w != nil {
		t.Errorf("%v", w)
	}
	if _, _, ok := aim(nil, 1280, 720).at(1); ok {
		t.Error("a target of nobody is somewhere")
	}
}

func TestTargetLeadsBetweenAndBeyondSightings(t *testing.T) {
	g := aim(bowler(link(scene(2, 0, running(0.2, 0.2, 0.06)))), 1280, 720)
	for _, c := range []struct {
		t, x float64
		ok   bool
	}{{0.55, 0.31, true}, {-0.1, 0.18, true}, {2.2, 0.64, true}, {-1, 0, false}, {4, 0, false}} {
		r, _, ok := g.at(c.t)
		if ok != c.ok || ok && math.Abs(r.X-c.x) > 0.005 {
			t.Errorf("at %g s: %.3f, %t, want %.3f", c.t, r.X, ok, c.x)
		}
	}
	if g.Side < leastSide || g.Side > 1280 {
		t.Errorf("pictures of %d pixels", g.Side)
	}
}

// TestShiftFrom moves a random picture and asks by how much.
func TestShiftFrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const w, h = 128, 72
	scenery := make([]uint8, 300*200)
	for i := range scenery {
		scenery[i] = uint8(rng.IntN(256))
	}
	shot := func(x0, y0 int) thumbnail {
		th := thumbnail{w: w, h: h}
		for y := range h {
			th.lum = append(th.lum, scenery[(y0+y)*300+x0:(y0+y)*300+x0+w]...)
		}
		return th
	}
	dx, dy := shot(80, 40).shiftFrom(shot(95, 44)) // the camera went left and up
	if math.Abs(dx-15.0/w) > 1e-9 || math.Abs(dy-4.0/w) > 1e-9 {
		t.Errorf("moved by %g, %g", dx*w, dy*w)
	}
	flat := thumbnail{w: w, h: h, lum: make([]uint8, w*h)}
	if dx, dy := flat.shiftFrom(flat); dx != 0 || dy != 0 {
		t.Errorf("a blank wall moved by %g, %g", dx, dy)
	}
}

// windmill is a body whose arms turn opposite each other and whose legs swing.
func windmill(i int) reading {
	var r reading
	for k := range r {
		r[k] = pose.Point{X: 300 + 4*float64(i), Y: 200, Visibility: 0.9}
	}
	put := func(k int, dx, dy float64) { r[k].X, r[k].Y = r[k].X+dx, r[k].Y+dy }
	put(pose.LeftShoulder, -4, -40)
	put(pose.RightShoulder, 4, -40)
	put(pose.LeftHip, -4, 40)
	put(pose.RightHip, 4, 40)
	a := 0.28 * float64(i)
	for arm, k := range [...]int{pose.LeftElbow, pose.RightElbow} {
		s, c := math.Sincos(a + math.Pi*float64(arm))
		put(k, 40*s, -40+40*c)
		put(k+2, 80*s, -40+80*c)
	}
	swing := 40 * math.Sin(0.2*float64(i))
	put(pose.LeftKnee, swing/2, 80)
	put(pose.RightKnee, -swing/2, 80)
	put(pose.LeftAnkle, swing, 120)
	put(pose.RightAnkle, -swing, 120)
	return r
}

func exchanged(r reading, limb []int) reading {
	out := r
	for _, k := range limb {
		out[k] = r[pose.Opposite(k)]
	}
	return out
}

// TestRepairUndoesExchangedSides exchanges arms or legs in stretches of frames.
func TestRepairUndoesExchangedSides(t *testing.T) {
	var obs []observation
	for i := range 60 {
		r := windmill(i)
		a := r
		if i >= 20 && i < 27 {
			a = exchanged(a, arms)
		}
		if i >= 40 && i < 43 {
			a = exchanged(a, legs)
		}
		obs = append(obs, observation{index: i, time: float64(i) / 60, score: 1, readings: []reading{a, a}})
	}
	for i, r := range repair(nil, obs) {
		want := windmill(i)
		for _, k := range [...]int{pose.LeftElbow, pose.RightWrist, pose.LeftKnee, pose.RightAnkle} {
			if distance(r[k], want[k]) > 1 {
				t.Errorf("frame %d: %s is %.0f px off", i, pose.Name(k), distance(r[k], want[k]))
			}
		}
	}
}

// TestRepairTakesTheReadingThatMovesEvenly has one wrong reading a frame, now to
// this side and now to that.
func TestRepairTakesTheReadingThatMovesEvenly(t *testing.T) {
	var obs []observation
	for i := range 40 {
		good, bad := windmill(i), windmill(i)
		side := float64(i%2*2 - 1)
		bad[pose.RightWrist].X += 90 * side
		bad[pose.RightElbow].X += 50 * side
		rs := []reading{good, bad}
		if i%3 == 0 {
			rs[0], rs[1] = rs[1], rs[0]
		}
		obs = append(obs, observation{index: i, time: float64(i) / 60, score: 1, readings: rs})
	}
	for i, r := range repair(nil, obs) {
		w := windmill(i)[pose.RightWrist]
		if distance(r[pose.RightWrist], w) > 1 {
			t.Errorf("frame %d: the wrist is %.0f px off", i, distance(r[pose.RightWrist], w))
		}
		if v := r[pose.RightWrist].Visibility; v > 0.5 {
			t.Errorf("frame %d: a wrist on which the readings differ is %.2f visible", i, v)
		}
	}
}

func TestRepairKeepsWhatIsSettled(t *testing.T) {
	settled := exchanged(windmill(9), arms) // wrong, but decided and given out
	fixed := []observation{{index: 8, time: 8.0 / 60, readings: []reading{exchanged(windmill(8), arms)}},
		{index: 9, time: 9.0 / 60, readings: []reading{settled}}}
	obs := []observation{{index: 10, time: 10.0 / 60}, {index: 11, time: 11.0 / 60, readings: []reading{windmill(11)}}}
	out := repair(fixed, obs)
	if len(out) != 2 {
		t.Fatalf("%d bodies", len(out))
	}
	if d := distance(out[1][pose.LeftWrist], exchanged(windmill(11), arms)[pose.LeftWrist]); d > 1 {
		t.Errorf("the sides change by %.0f px at the seam of two chunks", d)
	}
}

func TestJumpsAreCut(t *testing.T) {
	body := func(i int, x, t float64) pose.Frame {
		r := windmill(0)
		for k := range r {
			r[k].X += x
		}
		return pose.Frame{Index: i, Time: t, Points: r[:]}
	}
	for _, c := range []struct {
		name    string
		move, t float64
		want    bool
	}{
		{"Runs", 20, 1.0 / 30, false},
		{"TurnsIntoTheUmpire", 200, 1.0 / 30, true},
		{"AfterAGap", 200, 0.5, false},
	} {
		if got := jumped([]pose.Frame{body(0, 0, 0)}, body(1, c.move, c.t)); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
	if jumped(nil, body(0, 0, 0)) {
		t.Error("the first frame is a jump")
	}
}

func TestOppositeIsItsOwnInverse(t *testing.T) {
	for k := range pose.Landmarks {
		o := pose.Opposite(k)
		if pose.Opposite(o) != k {
			t.Errorf("%s and %s", pose.Name(k), pose.Name(o))
		}
		if a, b := pose.Name(k), pose.Name(o); k != pose.Nose && a == b {
			t.Errorf("%s is its own opposite", a)
		}
	}
}

func TestAFrameThatJumpsIsEmittedWithoutPoints(t *testing.T) {
	var got pose.Chunk
	tr := tracker{info: media.Info{Width: 1280, Height: 720}, emit: func(c pose.Chunk) error { got = c; return nil }}
	for i, x := range []float64{0, 5, 400, 15} {
		r := windmill(0)
		for k := range r {
			r[k].X += x
		}
		tr.pending = append(tr.pending, observation{index: i, time: float64(i) / 30, score: 1, readings: []reading{r}})
		tr.regions = append(tr.regions, nil)
	}
	if err := tr.settle(4, true); err != nil {
		t.Fatal(err)
	}
	for i, f := range got.Frames {
		if absent := len(f.Points) == 0; absent != (i == 2) {
			t.Errorf("frame %d: %d points", i, len(f.Points))
		}
	}
}
