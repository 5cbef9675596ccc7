package motion

import (
	"math"
	"slices"
	"testing"

	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/reason"
)

func TestRising(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name  string
		times []float64
		want  []int
	}{
		{"Rising", []float64{0, 1, 2}, []int{0, 1, 2}},
		{"Repeated", []float64{0, 1, 1, 2}, []int{0, 1, 3}},
		{"Backward", []float64{0, 1, 0.5, 2}, nil}, // either of the middle ones
		{"FarAheadCostsOneFrame", []float64{0, 900, 1, 2, 3}, []int{0, 2, 3, 4}},
		{"NotANumber", []float64{nan, 0, nan, 1, inf, 2, nan}, []int{1, 3, 5}},
		{"Negative", []float64{-1, 0, 1}, []int{1, 2}},
		{"Years", []float64{0, 1, 1e9}, []int{0, 1}},
		{"AllTheSame", []float64{5, 5, 5}, []int{0}},
		{"None", nil, []int{}},
	} {
		var fs []pose.Frame
		for _, x := range c.times {
			fs = append(fs, pose.Frame{Time: x})
		}
		got := rising(fs)
		if c.want == nil {
			if len(got) != 3 {
				t.Errorf("%s: kept %v, want three frames", c.name, got)
			}
			continue
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: kept %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAbsentPoints(t *testing.T) {
	for _, c := range []struct {
		name string
		p    pose.Point
		want bool
	}{
		{"Seen", pose.Point{X: 50, Y: 50, Visibility: 0.9}, true},
		{"LittleOutside", pose.Point{X: 105, Y: 50, Visibility: 0.9}, true},
		{"FarOutside", pose.Point{X: 150, Y: 50, Visibility: 0.9}, false},
		{"HardlyVisible", pose.Point{X: 50, Y: 50, Visibility: 0.12}, false},
		{"VisibilityIsNoNumber", pose.Point{X: 50, Y: 50, Visibility: math.NaN()}, false},
		{"Zero", pose.Point{Visibility: 0.9}, false},
		{"NotANumber", pose.Point{X: math.NaN(), Y: 50, Visibility: 0.9}, false},
		{"Infinite", pose.Point{X: 50, Y: math.Inf(-1), Visibility: 0.9}, false},
	} {
		tr := pose.Track{Width: 100, Height: 100, Frames: []pose.Frame{{Score: 1, Points: make([]pose.Point, pose.Landmarks)}}}
		tr.Frames[0].Points[pose.LeftKnee] = c.p
		if got := takeFrame(tr, 0).p[pose.LeftKnee].ok; got != c.want {
			t.Errorf("%s: present %v, want %v", c.name, got, c.want)
		}
	}
}

func mustClean(t *testing.T, tr pose.Track) *body {
	t.Helper()
	b, why := clean(tr)
	if why != reason.Code("") {
		t.Fatalf("refused: %s", why)
	}
	return b
}

func TestAnotherPersonIsCut(t *testing.T) {
	b := mustClean(t, each(jointsOf(t, "bowler"), func(i int, fr *pose.Frame) {
		if i >= 40 && i < 60 {
			for k := range fr.Points {
				fr.Points[k].X -= 300
			}
		}
	}))
	for i := range b.f {
		_, seen := b.f[i].centre()
		if want := i < 40 || i >= 60; seen != want {
			t.Errorf("frame %d: kept %v, want %v", i, seen, want)
		}
	}
}

func TestStrayPointIsCutAndBridged(t *testing.T) {
	clean := jointsOf(t, "bowler")
	b := mustClean(t, each(clean, func(i int, fr *pose.Frame) {
		if i == 30 {
			fr.Points[pose.LeftAnkle].Y -= 60
		}
	}))
	b.cutOutliers()
	if b.f[30].p[pose.LeftAnkle].ok {
		t.Fatal("an ankle that jumps away and back is still believed")
	}
	for _, i := range []int{29, 31} {
		if !b.f[i].p[pose.LeftAnkle].ok {
			t.Errorf("its neighbour in frame %d was cut too", i)
		}
	}
	b.bridgeGaps()
	j, want := b.f[30].p[pose.LeftAnkle], clean.Frames[30].Points[pose.LeftAnkle]
	if !j.ok || math.Hypot(j.x-want.X, j.y-want.Y) > 4 {
		t.Errorf("bridged to %.1f,%.1f (%v), truth %.1f,%.1f", j.x, j.y, j.ok, want.X, want.Y)
	}
}

func TestLongGapsStayGaps(t *testing.T) {
	b := mustClean(t, each(jointsOf(t, "bowler"), func(i int, fr *pose.Frame) {
		if i >= 30 && i < 36 { // 0.1 s
			fr.Points[pose.LeftAnkle].Visibility = 0
		}
	})).settle(swapPriors[0])
	for i := 30; i < 36; i++ {
		if b.f[i].p[pose.LeftAnkle].ok {
			t.Errorf("frame %d: a gap of 0.1 s was bridged", i)
		}
	}
}
