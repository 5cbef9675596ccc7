package motion

import (
	"math"
	"slices"

	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/reason"
)

// Limits of cleaning. Each is stated in the README.
const (
	minPresence = 0.5   // of the landmark model: below it the frame is untracked
	minTorsoPx  = 18    // a smaller bowler cannot be measured
	minFrames   = 8     // tracked frames
	maxGap      = 0.06  // seconds that interpolation may bridge
	maxFrames   = 60000 // eight minutes at 120 frames a second
)

// joint is a landmark of one frame; ok is false when it is absent.
type joint struct {
	vec
	v  float64
	ok bool
}

// frame is one cleaned frame.
type frame struct {
	t     float64
	index int // Frame.Index of the track
	p     [pose.Landmarks]joint
}

// body is a track after cleaning: one person, times strictly rising, sides kept
// apart over time, points that cannot be believed absent.
type body struct {
	f       []frame
	torso   float64 // median length from mid-hip to mid-shoulder, pixels
	dt      float64 // median time between frames, seconds
	dropped int     // frames whose time could not be used
	cut     int     // frames of somebody else, or of nobody

	mirrored      bool    // the picture is a mirror image
	width, height float64 // of the picture, pixels
}

// clean makes a body of a track, or says why it cannot. What comes back is one
// person with plausible times; sides and stray points are settled by settle.
func clean(t pose.Track) (*body, reason.Code) {
	if len(t.Frames) > maxFrames {
		return nil, reason.MediaTooLong
	}
	keep := rising(t.Frames)
	b := &body{dropped: len(t.Frames) - len(keep), mirrored: t.Mirrored,
		width: float64(t.Width), height: float64(t.Height)}
	if len(t.Frames) > 0 && b.dropped*2 > len(t.Frames) {
		return nil, reason.MediaUnreadable
	}
	for _, i := range keep {
		b.f = append(b.f, takeFrame(t, i))
	}
	if b.measureSize() < minFrames {
		return nil, reason.NoPerson
	}
	b.dt = b.medianStep()
	b.follow()
	if n := b.measureSize(); n < minFrames {
		return nil, reason.TooLittleBowler
	}
	if b.torso < minTorsoPx {
		return nil, reason.TooLittleBowler
	}
	return b, ""
}

// settle gives a copy of the body with its sides kept apart over time and its
// stray points absent.
func (b *body) settle(prior float64) *body {
	c := *b
	c.f = slices.Clone(b.f)
	c.repairSides(prior)
	c.cutOutliers()
	c.bridgeGaps()
	return &c
}

// takeFrame copies frame i without the points that cannot be believed.
func takeFrame(t pose.Track, i int) frame {
	src := t.Frames[i]
	f := frame{t: src.Time, index: src.Index}
	if len(src.Points) != pose.Landmarks || !(src.Score >= minPresence) {
		return f
	}
	const margin = 0.1 // landmarks a little outside the picture are extrapolated well
	w, h := float64(t.Width), float64(t.Height)
	for k, p := range src.Points {
		if t.Mirrored {
			k = pose.Opposite(k) // the athlete's own sides, not those of the mirror image
		}
		if !finite(p.X) || !finite(p.Y) || !p.Present() {
			continue
		}
		if p.X < -margin*w || p.X > (1+margin)*w || p.Y < -margin*h || p.Y > (1+margin)*h {
			continue
		}
		if p.X == 0 && p.Y == 0 { // how some trackers write "nothing"
			continue
		}
		f.p[k] = joint{vec{p.X, p.Y}, math.Min(1, p.Visibility), true}
	}
	return f
}

// both gives the middle of a pair of landmarks.
func (f *frame) both(a, b int) (vec, bool) {
	if !f.p[a].ok || !f.p[b].ok {
		return vec{}, false
	}
	return mid(f.p[a].vec, f.p[b].vec), true
}

// either gives the middle of a pair of landmarks, or the one that is seen.
func (f *frame) either(a, b int) (vec, bool) {
	switch p, q := f.p[a], f.p[b]; {
	case p.ok && q.ok:
		return mid(p.vec, q.vec), true
	case p.ok:
		return p.vec, true
	default:
		return q.vec, q.ok
	}
}

func (f *frame) hips() (vec, bool)      { return f.both(pose.LeftHip, pose.RightHip) }
func (f *frame) shoulders() (vec, bool) { return f.both(pose.LeftShoulder, pose.RightShoulder) }

// trunk gives about mid-hip and mid-shoulder: enough to say where somebody is
// and how large, not enough to measure a lean from.
func (f *frame) trunk() (hip, shoulder vec, ok bool) {
	hip, a := f.either(pose.LeftHip, pose.RightHip)
	shoulder, b := f.either(pose.LeftShoulder, pose.RightShoulder)
	return hip, shoulder, a && b
}

// centre is the middle of the trunk.
func (f *frame) centre() (vec, bool) {
	h, s, ok := f.trunk()
	return mid(h, s), ok
}

// clear makes every landmark of the frame absent.
func (f *frame) clear() { f.p = [pose.Landmarks]joint{} }

// measureSize sets the median torso length and returns the number of frames
// with a trunk.
func (b *body) measureSize() int {
	var d []float64
	for i := range b.f {
		if h, s, ok := b.f[i].trunk(); ok {
			d = append(d, h.sub(s).length())
		}
	}
	b.torso = 0
	if len(d) > 0 {
		b.torso = median(d)
	}
	return len(d)
}

// stepAround is the median time between the frames near t0; phones change their
// rate within a clip.
func (b *body) stepAround(t0 float64) float64 {
	var d []float64
	for i := 1; i < len(b.f); i++ {
		if math.Abs(b.f[i].t-t0) <= 0.2 {
			d = append(d, b.f[i].t-b.f[i-1].t)
		}
	}
	if len(d) == 0 {
		return b.dt
	}
	return median(d)
}

func (b *body) medianStep() float64 {
	var d []float64
	for i := 1; i < len(b.f); i++ {
		d = append(d, b.f[i].t-b.f[i-1].t)
	}
	return median(d)
}

// window is half a window for local fits: at least two frames to each side.
func (b *body) window(seconds float64) float64 { return math.Max(seconds, 2.4*b.dt) }

// rising picks the frames of the longest strictly rising run of finite times,
// so that one backward or far-off time costs one frame and not the rest.
func rising(f []pose.Frame) []int {
	var tails []int // tails[k]: last frame of the best run of length k+1
	prev := make([]int, len(f))
	for i := range f {
		t := f[i].Time
		if !finite(t) || t < 0 || t > 24*3600 {
			continue
		}
		lo, hi := 0, len(tails)
		for lo < hi {
			m := (lo + hi) / 2
			if f[tails[m]].Time < t {
				lo = m + 1
			} else {
				hi = m
			}
		}
		prev[i] = -1
		if lo > 0 {
			prev[i] = tails[lo-1]
		}
		if lo == len(tails) {
			tails = append(tails, i)
		} else if f[tails[lo]].Time != t { // of equal times the first frame stays
			tails[lo] = i
		}
	}
	out := make([]int, len(tails))
	if len(tails) == 0 {
		return out
	}
	for k, i := len(tails)-1, tails[len(tails)-1]; k >= 0; k-- {
		out[k], i = i, prev[i]
	}
	return out
}
