package engine

import (
	"math"

	"fastbowlinglab/shared/pose"
)

const (
	presenceMin = 0.5  // of the landmark model's presence score
	agree       = 0.25 // torso lengths: readings of a joint closer than this are one
	tilt        = 0.2  // radians by which the region is turned for a third and fourth reading
)

// reading is the whole body as the landmark model sees it one way.
type reading [pose.Landmarks]pose.Point

// observation is what is known of one frame before repair: several readings of
// the same body, in pixels of the displayed picture. It has none when the
// bowler was not found.
type observation struct {
	index    int
	time     float64
	score    float64
	readings []reading
}

// observer reads frames one after the other. Its state is the region in which
// the bowler is expected, in fractions of the width.
type observer struct {
	team   *team
	target target
	width  float64 // displayed, pixels
	last   *region // the bowler's, in the frame before; nil when not tracked
}

// observe reads one frame: where the last one leads, or else where the scout
// saw the bowler.
func (o *observer) observe(p picture, index int, t float64) (observation, error) {
	obs := observation{index: index, time: t}
	want, gap, ok := o.target.at(t)
	if !ok || p.pix == nil { // no picture is decoded where the bowler is not looked for
		o.last = nil
		return obs, nil
	}
	var tries []region
	if o.last != nil && o.last.fits(want, gap) {
		tries = append(tries, *o.last)
	}
	if gap <= beforeFirst || len(tries) == 0 {
		tries = append(tries, want)
	}
	for _, r := range tries {
		bodies, err := o.read(p, r.scaled(float64(p.w)))
		if err != nil {
			return obs, err
		}
		next, score := mean(bodies)
		next = next.scaled(1 / float64(p.w))
		if score < presenceMin || !next.fits(want, gap) {
			continue
		}
		o.last = &next
		obs.score = score
		f := o.width / float64(p.w)
		for _, b := range bodies {
			obs.readings = append(obs.readings, b.scaled(f))
		}
		return obs, nil
	}
	o.last = nil
	return obs, nil
}

// read asks the model twice, once by way of the mirror: what it mistakes it
// mistakes differently then, a left arm for a right one above all. Where the
// two differ it is asked twice more, with the region turned a little.
func (o *observer) read(p picture, r region) ([]body, error) {
	var two, tilted [2]body
	p.show(r)
	err := o.team.each(2, func(b *bench, i int) (err error) {
		if i == 0 || !o.team.alone() { // else what was sampled for the first reading is still there
			p.landmarkInput(r, b.input())
		}
		if i == 1 {
			mirror(b.input(), landmarkSide)
		}
		two[i], err = b.landmarks(r, i == 1)
		return err
	})
	if err != nil {
		return nil, err
	}
	if two[0].score < presenceMin/2 {
		return two[:1], nil
	}
	if apart(two[0], two[1]) <= agree {
		return two[:], nil
	}
	turned := [2]region{r, r}
	turned[0].Angle += tilt
	turned[1].Angle -= tilt
	p.show(turned[:]...)
	err = o.team.each(2, func(b *bench, i int) (err error) {
		p.landmarkInput(turned[i], b.input())
		tilted[i], err = b.landmarks(turned[i], false)
		return err
	})
	if err != nil {
		return nil, err
	}
	bodies := two[:]
	for _, b := range tilted {
		if b.score >= presenceMin {
			bodies = append(bodies, b)
		}
	}
	return bodies, nil
}

// limbs are the joints that are mistaken for those of the other side, with the
// ones between them and the trunk.
var arms, legs = []int{
	pose.LeftShoulder, pose.RightShoulder, pose.LeftElbow, pose.RightElbow, pose.LeftWrist, pose.RightWrist,
	pose.LeftPinky, pose.RightPinky, pose.LeftIndex, pose.RightIndex, pose.LeftThumb, pose.RightThumb,
}, []int{
	pose.LeftHip, pose.RightHip, pose.LeftKnee, pose.RightKnee, pose.LeftAnkle, pose.RightAnkle,
	pose.LeftHeel, pose.RightHeel, pose.LeftFootIndex, pose.RightFootIndex,
}

// apart gives the largest distance between two bodies' elbows, wrists, knees or
// ankles, in torso lengths.
func apart(a, b body) float64 {
	torso, most := reading(a.points).torso(), 0.0
	for _, k := range [...]int{
		pose.LeftElbow, pose.RightElbow, pose.LeftWrist, pose.RightWrist,
		pose.LeftKnee, pose.RightKnee, pose.LeftAnkle, pose.RightAnkle,
	} {
		most = max(most, distance(a.points[k], b.points[k])/torso)
	}
	return most
}

// torso is the distance from the middle of the shoulders to that of the hips,
// at least a pixel.
func (r reading) torso() float64 {
	sx, sy := (r[pose.LeftShoulder].X+r[pose.RightShoulder].X)/2, (r[pose.LeftShoulder].Y+r[pose.RightShoulder].Y)/2
	hx, hy := r.hips()
	return max(1, math.Hypot(sx-hx, sy-hy))
}

func (r reading) hips() (x, y float64) {
	return (r[pose.LeftHip].X + r[pose.RightHip].X) / 2, (r[pose.LeftHip].Y + r[pose.RightHip].Y) / 2
}

func distance(a, b pose.Point) float64 { return math.Hypot(a.X-b.X, a.Y-b.Y) }

// mean gives the region that the bodies lead to on average, and their score.
// Only the first two, read in the region as it was, are asked.
func mean(bodies []body) (region, float64) {
	r, score := bodies[0].next, bodies[0].score
	if len(bodies) > 1 {
		r, score = blend(r, bodies[1].next, 0.5), (score+bodies[1].score)/2
	}
	return r, score
}

func (b body) scaled(f float64) reading {
	out := reading(b.points)
	for k := range out {
		out[k].X *= f
		out[k].Y *= f
	}
	return out
}
