package motion

import (
	"math"

	"fastbowlinglab/shared/pose"
)

// Limits of following one person. Lengths are in torso lengths (mid-hip to
// mid-shoulder, about half a metre), so that they hold at any distance.
const (
	jumpTorso   = 0.9  // about a body's width: more in one frame is another person
	fastTorso   = 14.0 // a second: faster than anybody runs
	sizeRatio   = 1.5  // sudden change of size: another person
	linkSeconds = 1.0  // longest absence after which it may be the same person
)

// run is a stretch of frames in which the trunk moves without a jump.
type run struct{ from, to int } // frames, inclusive

// follow keeps the frames of one person, the one who moves, and makes the rest
// absent: a jump to the umpire is cut, never smoothed.
func (b *body) follow() {
	runs := b.runs()
	if len(runs) == 0 {
		return
	}
	best := make([]float64, len(runs))
	from := make([]int, len(runs))
	top := 0
	for j := range runs {
		own := b.activity(runs[j])
		best[j], from[j] = own, -1
		for i := j - 1; i >= 0 && b.f[runs[j].from].t-b.f[runs[i].to].t <= linkSeconds; i-- {
			if best[i]+own > best[j] && b.same(runs[i], runs[j]) {
				best[j], from[j] = best[i]+own, i
			}
		}
		if best[j] > best[top] {
			top = j
		}
	}
	keep := make([]bool, len(b.f))
	for j := top; j >= 0; j = from[j] {
		for i := runs[j].from; i <= runs[j].to; i++ {
			keep[i] = true
		}
	}
	for i := range b.f {
		_, tracked := b.f[i].centre()
		if !keep[i] || !tracked {
			b.cut++
			b.f[i].clear()
		}
	}
}

// runs splits the tracked frames where the trunk jumps or changes size.
func (b *body) runs() []run {
	var out []run
	last := -1
	for i := range b.f {
		h, s, ok := b.f[i].trunk()
		if !ok {
			continue
		}
		if last >= 0 && b.continuous(last, mid(h, s), h.sub(s).length(), b.f[i].t) {
			out[len(out)-1].to = i
		} else {
			out = append(out, run{i, i})
		}
		last = i
	}
	return out
}

func (b *body) continuous(last int, c vec, size, t float64) bool {
	h, s, _ := b.f[last].trunk()
	dt := t - b.f[last].t
	if dt > 0.25 {
		return false
	}
	was := h.sub(s).length()
	if ratio := size / was; !(ratio < sizeRatio && ratio > 1/sizeRatio) {
		return false
	}
	return c.sub(mid(h, s)).length() <= b.torso*math.Max(jumpTorso, fastTorso*dt)
}

// same reports whether run q can be the person of the earlier run p: about
// where p was heading, and of p's size.
func (b *body) same(p, q run) bool {
	dt := b.f[q.from].t - b.f[p.to].t
	end, v := b.lineAt(p, p.to)
	start, w := b.lineAt(q, q.from)
	meanV := mid(v, w)
	miss := start.sub(end.add(meanV.mul(dt))).length()
	hp, sp, _ := b.f[p.to].trunk()
	hq, sq, _ := b.f[q.from].trunk()
	ratio := hq.sub(sq).length() / hp.sub(sp).length()
	return miss <= b.torso*(jumpTorso+2*dt) && ratio < sizeRatio && ratio > 1/sizeRatio
}

// lineAt gives place and velocity of the trunk at one end of a run.
func (b *body) lineAt(r run, at int) (vec, vec) {
	var t, x, y []float64
	for i := r.from; i <= r.to; i++ {
		if c, ok := b.f[i].centre(); ok && math.Abs(b.f[i].t-b.f[at].t) < 0.3 {
			t, x, y = append(t, b.f[i].t), append(x, c.x), append(y, c.y)
		}
	}
	c, _ := b.f[at].centre()
	ex, ok1 := fitAt(t, x, b.f[at].t, 0.31, 1)
	ey, ok2 := fitAt(t, y, b.f[at].t, 0.31, 1)
	if !ok1 || !ok2 {
		return c, vec{}
	}
	return vec{ex.value, ey.value}, vec{ex.slope, ey.slope}
}

// activity weighs a run by its length and by how much hands and feet move
// against the trunk, so that a still umpire loses against a bowler.
func (b *body) activity(r run) float64 {
	total, n := 0.0, 0
	for i := r.from + 1; i <= r.to; i++ {
		c0, ok0 := b.f[i-1].centre()
		c1, ok1 := b.f[i].centre()
		dt := b.f[i].t - b.f[i-1].t
		if !ok0 || !ok1 || dt <= 0 {
			continue
		}
		for _, k := range [...]int{pose.LeftWrist, pose.RightWrist, pose.LeftAnkle, pose.RightAnkle} {
			p, q := b.f[i-1].p[k], b.f[i].p[k]
			if p.ok && q.ok {
				total += math.Min(10, q.vec.sub(c1).sub(p.vec.sub(c0)).length()/dt/b.torso)
				n++
			}
		}
	}
	mean := 0.0
	if n > 0 {
		mean = total / float64(n)
	}
	return float64(r.to-r.from+1) * (0.25 + math.Min(1, mean/4))
}
