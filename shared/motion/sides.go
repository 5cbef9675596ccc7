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
	skipCost   = 1.1   // cost of believing one frame no frame of this person
	skipMost   = 12    // steps between two believed frames
	skipTime   = 0.085 // seconds between them
	swapReach  = 0.15  // seconds over which paths are continued
	hopeless   = 5.0   // cost above the cheapest state of a frame beyond which one is given up
	reachCost  = 0.6   // cost of a step that reaches farther
	swapBadCap = 0.8   // cost cap of one landmark, torso lengths: a lost landmark decides nothing
)

// swapPriors are the costs of believing one frame exchanged, in torso lengths,
// in the order in which they are tried until a delivery is plain to see: how
// often a model exchanges sides differs from clip to clip. The last one believes
// the model.
var swapPriors = [...]float64{0.25, 0.05, math.Inf(1)}

// repairSides exchanges left and right where, over the whole clip, the paths of
// both limbs become smoother by it, and makes limbs absent that fit neither way
// (models draw both arms half-way when they cannot decide).
func (b *body) repairSides(prior float64) {
	if math.IsInf(prior, 1) {
		return
	}
	for _, l := range limbs {
		b.repairLimb(l, prior)
	}
}

// step is a state of the search: frame n is believed, exchanged or not, and so
// is the frame before it, back frames earlier.
type step struct{ n, back, swap, was int }

// place numbers the states of one frame.
func (s step) place() int { return (s.back-1)*4 + s.swap*2 + s.was }

// reached is the cheapest way to a state: its cost, and the place of the state
// before it among those of its own frame. seen is false where there is none.
type reached struct {
	cost float32
	from int8
	seen bool
}

// search finds the cheapest path through the frames that can be judged, each
// kept, exchanged or skipped, judged by how far each landmark is from where its
// last two believed places led (a second-order Viterbi search).
type search struct {
	b     *body
	l     limb
	prior float64
	idx   []int                   // frames
	views []view                  // of them
	best  [][skipMost * 4]reached // by step.n and step.place
}

func (b *body) repairLimb(l limb, prior float64) {
	s := search{b: b, l: l, prior: prior}
	for i := range b.f {
		if b.judgeable(&b.f[i], l) {
			s.idx = append(s.idx, i)
			s.views = append(s.views, b.viewOf(&b.f[i], l))
		}
	}
	if len(s.idx) < 3 {
		return
	}
	s.best = make([][skipMost * 4]reached, len(s.idx))
	for n := 1; n < len(s.idx); n++ {
		for back := 1; back <= min(n, skipMost) && n-back < 3; back++ { // a path may begin here
			for swaps := range 4 {
				t := step{n, back, swaps >> 1, swaps & 1}
				s.offer(t, s.prior*float64(t.swap+t.was)+skipCost*float64(n-1), beginning)
			}
		}
		least := float32(math.Inf(1))
		for _, r := range s.best[n] {
			if r.seen {
				least = min(least, r.cost)
			}
		}
		for place, r := range s.best[n] {
			if r.seen && r.cost <= least+hopeless {
				s.extend(stepAt(n, place), float64(r.cost))
			}
		}
	}
	s.apply()
}

// beginning stands for "no state before".
const beginning = -1

func stepAt(n, place int) step { return step{n, place/4 + 1, place >> 1 & 1, place & 1} }

func (s *search) offer(to step, cost float64, from int) {
	if p := &s.best[to.n][to.place()]; !p.seen || float32(cost) < p.cost {
		*p = reached{float32(cost), int8(from), true}
	}
}

// extend offers every state that can follow t.
func (s *search) extend(t step, cost float64) {
	for ahead := 1; ahead <= skipMost && t.n+ahead < len(s.idx); ahead++ {
		if ahead > 2 && s.views[t.n+ahead].t-s.views[t.n].t > skipTime {
			break
		}
		for swap := range 2 {
			c := cost + s.prior*float64(swap) + skipCost*float64(ahead-1) +
				s.bend(&s.views[t.n-t.back], &s.views[t.n], &s.views[t.n+ahead], t.was, t.swap, swap)
			s.offer(step{t.n + ahead, ahead, swap, t.swap}, c, t.place())
		}
	}
}

// apply walks the cheapest path back and exchanges or clears limbs by it.
func (s *search) apply() {
	var end step
	lowest := math.Inf(1)
	for n := max(1, len(s.idx)-skipMost); n < len(s.idx); n++ {
		for place, r := range s.best[n] {
			if c := float64(r.cost) + skipCost*float64(len(s.idx)-1-n); r.seen && c < lowest {
				lowest, end = c, stepAt(n, place)
			}
		}
	}
	believed := make([]int, len(s.idx)) // 0 skipped, 1 kept, 2 exchanged
	for t := end; ; {
		believed[t.n], believed[t.n-t.back] = 1+t.swap, 1+t.was
		from := int(s.best[t.n][t.place()].from)
		if from == beginning {
			break
		}
		t = stepAt(t.n-t.back, from)
	}
	for n, i := range s.idx {
		switch believed[n] {
		case 0:
			s.b.f[i].drop(s.l)
		case 2:
			s.b.f[i].exchange(s.l)
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

// view is a limb in one frame, seen from its root: left and right of each
// judged landmark.
type view struct {
	t float64
	p [6]vec
	s [6]bool
}

func (b *body) viewOf(f *frame, l limb) view {
	v := view{t: f.t}
	root := mid(f.p[l.about[0]].vec, f.p[l.about[1]].vec)
	for n, k := range l.judge {
		for side := range 2 {
			j := f.p[k+side]
			v.p[2*n+side], v.s[2*n+side] = j.vec.sub(root), j.ok
		}
	}
	return v
}

// bend is how far the landmarks of view c lie from where views x and y led, in
// torso lengths, each taken as it is (0) or exchanged (1).
func (s *search) bend(x, y, c *view, sx, sy, sc int) float64 {
	d0, d1 := y.t-x.t, c.t-y.t
	if d0 > swapReach || d1 > swapReach {
		return reachCost
	}
	total := 0.0
	for n := range s.l.judge {
		for side := range 2 {
			i, j, k := 2*n+(side^sx), 2*n+(side^sy), 2*n+(side^sc)
			if !x.s[i] || !y.s[j] || !c.s[k] {
				continue
			}
			want := continued(x.p[i], y.p[j], d1/d0)
			total += math.Min(swapBadCap, c.p[k].sub(want).length()/s.b.torso)
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
