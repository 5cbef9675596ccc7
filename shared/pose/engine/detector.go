package engine

import (
	"math"
	"slices"
	"sort"

	"fastbowlinglab/shared/pose"
)

const (
	detectorSide = 224
	detectorMin  = 0.5  // score of a person
	maxTilt      = 1.2  // radians from upright: beyond, it is no bowler but a thing on the ground
	sameBody     = 0.35 // two detections whose centres are closer than this share of their size are one
)

// anchors are the centres of the detector's 2,254 anchors in [0,1]: three grids
// with strides 8, 16 and (three times) 32, two anchors a cell and layer.
var anchors = func() (a [][2]float64) {
	for _, grid := range [...]struct{ cells, anchors int }{{28, 2}, {14, 2}, {7, 6}} {
		for y := range grid.cells {
			for x := range grid.cells {
				for range grid.anchors {
					a = append(a, [2]float64{(float64(x) + 0.5) / float64(grid.cells), (float64(y) + 0.5) / float64(grid.cells)})
				}
			}
		}
	}
	return a
}()

// detect looks for people with at least a score in one square window.
func (b *bench) detect(p picture, win region, least float64) ([]pose.Person, error) {
	p.crop(win, detectorSide, 2.0/255, -1, b.input())
	if err := b.run(); err != nil {
		return nil, err
	}
	boxes, scores := b.output(0), b.output(1)
	var found []pose.Person
	for i, logit := range scores {
		score := logistic(float64(logit))
		if score < least {
			continue
		}
		// 12 numbers an anchor: a box, then four points; point 0 is the middle
		// of the hips, point 1 lies above the head at the body's radius.
		q := boxes[12*i : 12*i+12]
		at := func(k int) (float64, float64) {
			return win.point(float64(q[k])/detectorSide+anchors[i][0], float64(q[k+1])/detectorSide+anchors[i][1])
		}
		hx, hy := at(4)
		tx, ty := at(6)
		r := around(hx, hy, tx, ty)
		if math.Abs(r.Angle) > maxTilt || r.Side <= 0 {
			continue
		}
		found = append(found, pose.Person{Score: score, X: hx, Y: hy, Radius: r.Side / 2 / margin, Angle: r.Angle})
	}
	return distinct(found), nil
}

// distinct keeps the best detection of each body.
func distinct(all []pose.Person) []pose.Person {
	sort.SliceStable(all, func(i, j int) bool { return all[i].Score > all[j].Score })
	var out []pose.Person
next:
	for _, p := range all {
		for _, q := range out {
			if math.Hypot(p.X-q.X, p.Y-q.Y) < sameBody*max(p.Radius, q.Radius) {
				continue next
			}
		}
		out = append(out, p)
	}
	return out
}

// detectAll looks in the whole picture and in square windows along its longer
// side, since a person far away is too small in the whole.
func (t *team) detectAll(p picture, least float64) ([]pose.Person, error) {
	wins := windows(p.w, p.h)
	found := make([][]pose.Person, len(wins))
	err := t.each(len(wins), func(b *bench, i int) (err error) {
		found[i], err = b.detect(p, wins[i], least)
		return err
	})
	if err != nil {
		return nil, err
	}
	return distinct(slices.Concat(found...)), nil
}

func windows(w, h int) []region {
	long, short := float64(max(w, h)), float64(min(w, h))
	wins := []region{{X: float64(w) / 2, Y: float64(h) / 2, Side: long}}
	if long <= 1.25*short {
		return wins
	}
	n := int(math.Ceil(2*(long-short)/short)) + 1 // overlapping by half or more
	for k := range n {
		at := short/2 + (long-short)*float64(k)/float64(n-1)
		if w >= h {
			wins = append(wins, region{X: at, Y: short / 2, Side: short})
		} else {
			wins = append(wins, region{X: short / 2, Y: at, Side: short})
		}
	}
	return wins
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
