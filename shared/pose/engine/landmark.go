package engine

import "fastbowlinglab/shared/pose"

const (
	landmarkSide  = 256
	landmarkValue = 5 // numbers a landmark: x, y, z, visibility, presence
	auxHip        = 33
	auxTop        = 34
)

// body is what the landmark model makes of a region.
type body struct {
	score  float64 // presence of a person
	points [pose.Landmarks]pose.Point
	next   region // of the same person, for the next frame
}

// landmarkInput samples a region as the landmark model wants it.
func (p picture) landmarkInput(r region, out []float32) { p.crop(r, landmarkSide, 1.0/255, 0, out) }

// landmarks runs the landmark model on its input, which is a region. With mirrored it
// is the region's mirror image, and the answer is turned back.
func (b *bench) landmarks(r region, mirrored bool) (body, error) {
	if err := b.run(); err != nil {
		return body{}, err
	}
	v, out := b.output(0), body{score: float64(b.output(1)[0])}
	at := func(k int) (float64, float64) {
		u, w := float64(v[landmarkValue*k])/landmarkSide, float64(v[landmarkValue*k+1])/landmarkSide
		if mirrored {
			u = 1 - u
		}
		return r.point(u, w)
	}
	for k := range out.points {
		from := k
		if mirrored {
			from = pose.Opposite(k)
		}
		x, y := at(from)
		out.points[k] = pose.Point{X: x, Y: y, Visibility: logistic(float64(v[landmarkValue*from+3]))}
	}
	hx, hy := at(auxHip)
	tx, ty := at(auxTop)
	out.next = around(hx, hy, tx, ty)
	return out, nil
}
