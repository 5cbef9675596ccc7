package motion

import "math"

// vec is a point or a displacement in the picture: pixels, x right, y down.
type vec struct{ x, y float64 }

func (a vec) add(b vec) vec       { return vec{a.x + b.x, a.y + b.y} }
func (a vec) sub(b vec) vec       { return vec{a.x - b.x, a.y - b.y} }
func (a vec) mul(k float64) vec   { return vec{a.x * k, a.y * k} }
func (a vec) length() float64     { return math.Hypot(a.x, a.y) }
func (a vec) dot(b vec) float64   { return a.x*b.x + a.y*b.y }
func mid(a, b vec) vec            { return vec{(a.x + b.x) / 2, (a.y + b.y) / 2} }
func finite(v float64) bool       { return !math.IsNaN(v) && !math.IsInf(v, 0) }
func degrees(rad float64) float64 { return rad * 180 / math.Pi }

// jointAngle is the angle at b between a and c in degrees, 180 when straight.
func jointAngle(a, b, c vec) float64 {
	u, v := a.sub(b), c.sub(b)
	return degrees(math.Abs(math.Atan2(u.x*v.y-u.y*v.x, u.dot(v))))
}

// fromVertical is the angle of the line from a up to b against the vertical in
// degrees: 0 points straight up, positive leans to the right of the picture.
func fromVertical(a, b vec) float64 {
	d := b.sub(a)
	return degrees(math.Atan2(d.x, -d.y))
}

// wrap brings an angle in degrees into (-180, 180].
func wrap(a float64) float64 {
	a = math.Mod(a, 360)
	if a > 180 {
		a -= 360
	}
	if a <= -180 {
		a += 360
	}
	return a
}

func clamp(v, lo, hi float64) float64 { return math.Max(lo, math.Min(hi, v)) }
