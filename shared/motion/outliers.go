package motion

import (
	"math"

	"fastbowlinglab/shared/pose"
)

// Limits on a landmark's path against the trunk, in torso lengths.
const (
	strayFloor = 0.25 // off the line between its neighbours, at high frame rates
	strayTurn  = 0.5  // more at 30 frames a second, where the arm's path is bent
	boneRatio  = 1.45 // a segment longer than this against its usual greatest length is wrong
	strayTurns = 3    // passes
)

// bones are the segments whose length is checked: nearer end, farther end.
var bones = [...][2]int{
	{pose.LeftShoulder, pose.LeftElbow}, {pose.RightShoulder, pose.RightElbow},
	{pose.LeftElbow, pose.LeftWrist}, {pose.RightElbow, pose.RightWrist},
	{pose.LeftHip, pose.LeftKnee}, {pose.RightHip, pose.RightKnee},
	{pose.LeftKnee, pose.LeftAnkle}, {pose.RightKnee, pose.RightAnkle},
}

// cutOutliers makes absent what jumps away and back, or stretches a limb.
func (b *body) cutOutliers() {
	for k := pose.LeftShoulder; k < pose.Landmarks; k++ {
		for range strayTurns {
			if !b.cutStray(k) {
				break
			}
		}
	}
	for _, e := range bones {
		b.cutStretched(e[0], e[1])
	}
}

// cutStray removes the samples of landmark k that lie farthest, and too far,
// from the line between their neighbours in time.
func (b *body) cutStray(k int) bool {
	var idx []int
	var rel []vec
	for i := range b.f {
		if c, ok := b.f[i].centre(); ok && b.f[i].p[k].ok {
			idx, rel = append(idx, i), append(rel, b.f[i].p[k].vec.sub(c))
		}
	}
	dev := make([]float64, len(idx))
	for n := 1; n+1 < len(idx); n++ {
		t0, t, t1 := b.f[idx[n-1]].t, b.f[idx[n]].t, b.f[idx[n+1]].t
		if t1-t0 > 0.2 {
			continue
		}
		u := (t - t0) / (t1 - t0)
		line := rel[n-1].mul(1 - u).add(rel[n+1].mul(u))
		step := math.Max(t-t0, t1-t) * 30
		limit := strayFloor + strayTurn*math.Min(1, step*step)
		dev[n] = rel[n].sub(line).length() / b.torso / limit
	}
	cut := false
	for n := 1; n+1 < len(idx); n++ {
		if dev[n] > 1 && dev[n] >= dev[n-1] && dev[n] >= dev[n+1] {
			b.f[idx[n]].p[k] = joint{}
			cut = true
		}
	}
	return cut
}

// cutStretched removes the farther end of a segment that is too long.
func (b *body) cutStretched(near, far int) {
	var d []float64
	for i := range b.f {
		if p, q := b.f[i].p[near], b.f[i].p[far]; p.ok && q.ok {
			d = append(d, p.vec.sub(q.vec).length())
		}
	}
	limit := boneRatio * quantile(d, 0.9)
	for i := range b.f {
		if p, q := b.f[i].p[near], b.f[i].p[far]; p.ok && q.ok && p.vec.sub(q.vec).length() > limit {
			b.f[i].p[far] = joint{}
		}
	}
}

// bridgeGaps fills absences of at most maxGap seconds by a straight line
// between the samples on both sides, at half their visibility.
func (b *body) bridgeGaps() {
	for k := range pose.Landmarks {
		last := -1
		for i := range b.f {
			if !b.f[i].p[k].ok {
				continue
			}
			if last >= 0 && i-last > 1 && b.f[i].t-b.f[last].t <= maxGap+b.dt/2 {
				b.bridge(k, last, i)
			}
			last = i
		}
	}
}

func (b *body) bridge(k, from, to int) {
	p, q := b.f[from].p[k], b.f[to].p[k]
	for i := from + 1; i < to; i++ {
		u := (b.f[i].t - b.f[from].t) / (b.f[to].t - b.f[from].t)
		b.f[i].p[k] = joint{p.vec.mul(1 - u).add(q.vec.mul(u)), math.Min(p.v, q.v) / 2, true}
	}
}
