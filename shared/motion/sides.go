package motion

import (
	"math"

	"fastbowlinglab/shared/pose"
)

// limb is a pair of limbs whose sides a pose model may exchange: arms or legs.
// Landmarks come in pairs, left at l, right at l+1.
type limb struct {
	moved []int // left indices of all landmarks that change sides together
	judge []int // left indices by whose paths an exchange is seen
	about [2]int
}

var limbs = [...]limb{
	{[]int{pose.LeftShoulder, pose.LeftElbow, pose.LeftWrist, pose.LeftPinky, pose.LeftIndex, pose.LeftThumb},
		[]int{pose.LeftElbow, pose.LeftWrist}, [2]int{pose.LeftShoulder, pose.RightShoulder}},
	{[]int{pose.LeftHip, pose.LeftKnee, pose.LeftAnkle, pose.LeftHeel, pose.LeftFootIndex},
		[]int{pose.LeftKnee, pose.LeftAnkle, pose.LeftFootIndex}, [2]int{pose.LeftHip, pose.RightHip}},
}

const (
	swapPrior  = 0.03 // cost of believing one frame exchanged, torso lengths
	skipCost   = 1.3  // cost of believing one frame no frame of this person
	skipMost   = 3    // frames between two believed ones, plus one
	swapReach  = 0.15 // seconds over which paths are continued
	reachCost  = 0.6  // cost of a step that reaches farther
	swapBadCap = 0.8  // cost cap of one landmark, torso lengths: a lost landmark decides nothing
)

// repairSides exchanges left and right where, over the whole clip, the paths of
// both limbs become smoother by it, and makes limbs absent that fit neither way
// (models draw both arms half-way when they cannot decide).
func (b *body) repairSides() {
	for _, l := range limbs {
		b.repairLimb(l)
	}
}

// step is a state of the search: frame n is believed, exchanged or not, and so
// is the frame before it, back frames earlier.
type step struct{ n, back, swap, was int }

// place numbers the states of one frame.
func (s step) place() int { return (s.back-1)*4 + s.swap*2 + s.was }

// reached is the cheapest way to a state.
type reached struct {
	cost float64
	from step
	ok   bool
}

// repairLimb finds the cheapest path through the frames, each kept, exchanged or
// skipped, judged by how far each landmark is from where its last two believed
// places led (a second-order Viterbi search).
func (b *body) repairLimb(l limb) {
	var idx []int // frames in which the pair can be judged
	for i := range b.f {
		if b.judgeable(&b.f[i], l) {
			idx = append(idx, i)
		}
	}
	if len(idx) < 3 {
		return
	}
	best := make([][skipMost * 4]reached, len(idx))
	offer := func(s step, r reached) {
		if p := &best[s.n][s.place()]; !p.ok || r.cost < p.cost {
			*p = r
		}
	}
	for n := 1; n < len(idx); n++ {
		for back := 1; back <= min(n, skipMost); back++ {
			for swaps := range 4 {
				s := step{n, back, swaps >> 1, swaps & 1}
				if n-back < skipMost { // a path may begin here
					offer(s, reached{swapPrior*float64(s.swap+s.was) + skipCost*float64(n-1), step{}, true})
				}
			}
		}
		for place := range best[n] {
			r := best[n][place]
			if !r.ok {
				continue
			}
			s := step{n, place/4 + 1, place >> 1 & 1, place & 1}
			b.extend(l, idx, s, r.cost, offer)
		}
	}
	b.applySides(l, idx, best)
}

// extend offers every state that can follow s.
func (b *body) extend(l limb, idx []int, s step, cost float64, offer func(step, reached)) {
	for ahead := 1; ahead <= skipMost && s.n+ahead < len(idx); ahead++ {
		for swap := range 2 {
			c := cost + swapPrior*float64(swap) + skipCost*float64(ahead-1) +
				b.bend(l, idx[s.n-s.back], idx[s.n], idx[s.n+ahead], s.was, s.swap, swap)
			offer(step{s.n + ahead, ahead, swap, s.swap}, reached{c, s, true})
		}
	}
}

// applySides walks the cheapest path back and exchanges or clears limbs by it.
func (b *body) applySides(l limb, idx []int, best [][skipMost * 4]reached) {
	var end step
	lowest := math.Inf(1)
	for n := max(1, len(idx)-skipMost); n < len(idx); n++ {
		for place, r := range best[n] {
			if c := r.cost + skipCost*float64(len(idx)-1-n); r.ok && c < lowest {
				lowest, end = c, step{n, place/4 + 1, place >> 1 & 1, place & 1}
			}
		}
	}
	believed := make([]int, len(idx)) // 0 skipped, 1 kept, 2 exchanged
	for s := end; s.n > 0; {
		believed[s.n], believed[s.n-s.back] = 1+s.swap, 1+s.was
		s = best[s.n][s.place()].from
	}
	for n, i := range idx {
		switch believed[n] {
		case 0:
			b.f[i].drop(l)
		case 2:
			b.f[i].exchange(l)
		}
	}
}

// drop makes the limbs absent but for their roots, which the trunk needs.
func (f *frame) drop(l limb) {
	for _, k := range l.moved {
		if k != l.about[0] {
			f.p[k], f.p[k+1] = joint{}, joint{}
		}
	}
}

func (b *body) judgeable(f *frame, l limb) bool {
	for _, k := range l.judge {
		if !f.p[k].ok && !f.p[k+1].ok {
			return false
		}
	}
	return f.p[l.about[0]].ok && f.p[l.about[1]].ok
}

func (f *frame) exchange(l limb) {
	for _, k := range l.moved {
		f.p[k], f.p[k+1] = f.p[k+1], f.p[k]
	}
}

// bend is how far the landmarks of frame c lie from where frames a and b led,
// in torso lengths, each frame taken as it is (0) or exchanged (1).
func (b *body) bend(l limb, ia, ib, ic, sa, sb, sc int) float64 {
	fa, fb, fc := &b.f[ia], &b.f[ib], &b.f[ic]
	da, dc := fb.t-fa.t, fc.t-fb.t
	if da > swapReach || dc > swapReach {
		return reachCost
	}
	oa, ob, oc := mid(fa.p[l.about[0]].vec, fa.p[l.about[1]].vec),
		mid(fb.p[l.about[0]].vec, fb.p[l.about[1]].vec), mid(fc.p[l.about[0]].vec, fc.p[l.about[1]].vec)
	total := 0.0
	for _, k := range l.judge {
		for side := range 2 {
			pa, pb, pc := fa.p[k+(side^sa)], fb.p[k+(side^sb)], fc.p[k+(side^sc)]
			if !pa.ok || !pb.ok || !pc.ok {
				continue
			}
			want := continued(pa.vec.sub(oa), pb.vec.sub(ob), dc/da)
			total += math.Min(swapBadCap, pc.vec.sub(oc).sub(want).length()/b.torso)
		}
	}
	return total
}

// continued goes on from a through b for ratio times as long. A limb turns
// about its root, so angle and length are continued and not the straight line:
// at 30 frames a second a bowling arm turns 50 degrees a frame.
func continued(a, b vec, ratio float64) vec {
	ra, rb := a.length(), b.length()
	turn := math.Atan2(a.x*b.y-a.y*b.x, a.dot(b))
	if ra == 0 || rb == 0 || math.Abs(turn) > 1.6 {
		return b.add(b.sub(a).mul(ratio))
	}
	r := math.Max(0, rb+(rb-ra)*ratio)
	s, c := math.Sincos(turn * ratio)
	return vec{b.x*c - b.y*s, b.x*s + b.y*c}.mul(r / rb)
}
