package engine

import (
	"math"

	"fastbowlinglab/shared/pose"
)

// Repair chooses, over a stretch of frames at once, which reading of the arms
// and which of the legs is the right one in each frame, and whether left and
// right are exchanged in it: the choice under which the limbs move most evenly
// (Viterbi, second order). All costs are in torso lengths summed over the joints
// of a limb; a cap keeps one wild joint from deciding.
const (
	turnCap   = 1.5  // change of velocity, a frame
	speedCap  = 2.0  // velocity, a frame
	speedCost = 0.3  // of velocity against change of velocity
	swapCost  = 0.05 // of taking a reading with its sides exchanged
	mostGap   = 0.25 // seconds without the bowler after which a stretch is on its own
)

// choice is one way to take a limb in a frame.
type choice struct {
	reading int
	swapped bool
}

// choices lists the ways to take a limb of a frame.
func (o observation) choices() []choice {
	out := make([]choice, 0, 2*len(o.readings))
	for i := range o.readings {
		out = append(out, choice{i, false}, choice{i, true})
	}
	return out
}

func (o observation) point(c choice, k int) pose.Point {
	if c.swapped {
		k = pose.Opposite(k)
	}
	return o.readings[c.reading][k]
}

// repair gives one body for each observation that has readings. fixed are
// observations of frames before, decided already: each has one reading, which
// is taken as it is. Unbroken stretches are decided one by one.
func repair(fixed, obs []observation) []reading {
	all := append(append([]observation{}, fixed...), obs...)
	out := make([]reading, len(all))
	for from := 0; from < len(all); {
		if len(all[from].readings) == 0 {
			from++
			continue
		}
		to := from + 1
		last := all[from].time
		for to < len(all) && all[to].time-last <= mostGap {
			if len(all[to].readings) > 0 {
				last = all[to].time
			}
			to++
		}
		repairStretch(all[from:to], max(0, len(fixed)-from), out[from:to])
		from = to
	}
	return out[len(fixed):]
}

// repairStretch decides frames that follow on each other; some may be empty.
func repairStretch(obs []observation, fixed int, out []reading) {
	var tracked []observation
	var at []int
	nFixed := 0
	for i, o := range obs {
		if len(o.readings) > 0 {
			if i < fixed {
				nFixed++
			}
			tracked, at = append(tracked, o), append(at, i)
			out[i] = o.readings[0]
		}
	}
	for _, limb := range [...][]int{arms, legs} {
		for i, c := range newTrellis(tracked, nFixed, limb).best() {
			if i >= nFixed {
				tracked[i].settle(c, limb, &out[at[i]])
			}
		}
	}
	for i, o := range tracked {
		if i >= nFixed {
			o.settleHead(&out[at[i]])
		}
	}
}

// settle writes a limb as chosen: the mean of the readings that agree with the
// choice. A joint on which no other reading agrees is less visible than it says.
func (o observation) settle(c choice, limb []int, out *reading) {
	near := agree * o.readings[0].torso()
	for _, k := range limb {
		p := o.point(c, k)
		sum, n := p, 1.0
		for i := range o.readings {
			if i == c.reading {
				continue
			}
			for _, swapped := range [...]bool{c.swapped, !c.swapped} {
				if q := o.point(choice{i, swapped}, k); distance(p, q) < near {
					sum.X, sum.Y, sum.Visibility, n = sum.X+q.X, sum.Y+q.Y, sum.Visibility+q.Visibility, n+1
					break
				}
			}
		}
		v := sum.Visibility / n
		if n == 1 && len(o.readings) > 1 {
			v *= alone
		}
		out[k] = pose.Point{X: sum.X / n, Y: sum.Y / n, Visibility: v}
	}
}

// alone scales the visibility of a joint that only one reading puts there.
const alone = 0.5

// settleHead takes the mean of the first two readings.
func (o observation) settleHead(out *reading) {
	for k := pose.Nose; k < pose.LeftShoulder; k++ {
		p := o.readings[0][k]
		if len(o.readings) > 1 {
			q := o.readings[1][k]
			p = pose.Point{X: (p.X + q.X) / 2, Y: (p.Y + q.Y) / 2, Visibility: (p.Visibility + q.Visibility) / 2}
		}
		out[k] = p
	}
}

// trellis is the choice of one limb over a stretch of frames.
type trellis struct {
	obs     []observation
	joints  []int // those whose movement decides: not fingers and toes
	choices [][]choice
	cx, cy  []float64 // middle of the trunk: limbs move about it
	torso   float64
}

func newTrellis(obs []observation, fixed int, limb []int) *trellis {
	t := &trellis{obs: obs, joints: limb[:6]}
	for i, o := range obs {
		cs := o.choices()
		if i < fixed {
			cs = cs[:1]
		}
		t.choices = append(t.choices, cs)
		var x, y float64
		for _, r := range o.readings {
			for _, k := range [...]int{pose.LeftShoulder, pose.RightShoulder, pose.LeftHip, pose.RightHip} {
				x, y = x+r[k].X/4, y+r[k].Y/4
			}
		}
		n := float64(len(o.readings))
		t.cx, t.cy = append(t.cx, x/n), append(t.cy, y/n)
		t.torso += o.readings[0].torso() / float64(len(obs))
	}
	return t
}

// at gives a joint about the trunk, in torso lengths.
func (t *trellis) at(i int, c choice, k int) (x, y float64) {
	p := t.obs[i].point(c, k)
	return (p.X - t.cx[i]) / t.torso, (p.Y - t.cy[i]) / t.torso
}

func (t *trellis) own(c choice) float64 {
	if c.swapped {
		return swapCost
	}
	return 0
}

// step is the cost of moving from choice a in frame i-1 to b in frame i.
func (t *trellis) step(i int, a, b choice) float64 {
	sum := 0.0
	for _, k := range t.joints {
		x0, y0 := t.at(i-1, a, k)
		x1, y1 := t.at(i, b, k)
		sum += speedCost * min(speedCap, math.Hypot(x1-x0, y1-y0))
	}
	return sum
}

// bend is the cost of the change of velocity over three frames.
func (t *trellis) bend(i int, a, b, c choice) float64 {
	sum := 0.0
	for _, k := range t.joints {
		x0, y0 := t.at(i-2, a, k)
		x1, y1 := t.at(i-1, b, k)
		x2, y2 := t.at(i, c, k)
		sum += min(turnCap, math.Hypot(x2-2*x1+x0, y2-2*y1+y0))
	}
	return sum
}

// best gives the cheapest choices, one a frame.
func (t *trellis) best() []choice {
	n := len(t.obs)
	if n == 1 {
		return []choice{t.choices[0][0]}
	}
	// cost[b][c]: the cheapest way to choices b and c in the last two frames.
	cost := make([][]float64, len(t.choices[0]))
	for b, cb := range t.choices[0] {
		cost[b] = make([]float64, len(t.choices[1]))
		for c, cc := range t.choices[1] {
			cost[b][c] = t.own(cb) + t.own(cc) + t.step(1, cb, cc)
		}
	}
	back := make([][][]int, n)
	for i := 2; i < n; i++ {
		cost, back[i] = t.advance(i, cost)
	}
	b, c := cheapest(cost)
	idx := make([]int, n)
	idx[n-2], idx[n-1] = b, c
	for i := n - 1; i >= 2; i-- {
		idx[i-2] = back[i][idx[i-1]][idx[i]]
	}
	out := make([]choice, n)
	for i := range out {
		out[i] = t.choices[i][idx[i]]
	}
	return out
}

func (t *trellis) advance(i int, cost [][]float64) (next [][]float64, back [][]int) {
	next, back = make([][]float64, len(t.choices[i-1])), make([][]int, len(t.choices[i-1]))
	for b, cb := range t.choices[i-1] {
		next[b], back[b] = make([]float64, len(t.choices[i])), make([]int, len(t.choices[i]))
		for c, cc := range t.choices[i] {
			least, from := math.Inf(1), 0
			for a, ca := range t.choices[i-2] {
				if cost[a][b] >= least {
					continue
				}
				if v := cost[a][b] + t.bend(i, ca, cb, cc); v < least {
					least, from = v, a
				}
			}
			next[b][c] = least + t.step(i, cb, cc) + t.own(cc)
			back[b][c] = from
		}
	}
	return next, back
}

func cheapest(cost [][]float64) (b, c int) {
	least := math.Inf(1)
	for i := range cost {
		for j, v := range cost[i] {
			if v < least {
				least, b, c = v, i, j
			}
		}
	}
	return b, c
}
