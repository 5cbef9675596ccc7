package main

import "math/rand"

// vary holds the ways in which a seeded delivery differs from the sample's.
// pace is drawn and unused: it keeps the seeds of the first runs.
type vary struct {
	speed, lean, leanOff, lat, elbow, elbowExt, arm, pace, camX, camZ, width float64
	knee                                                                     [3]float64
}

func newVary(seed int64) vary {
	if seed == 0 {
		return vary{speed: 1, lean: 1, lat: 1, pace: 1, width: 9, knee: [3]float64{168, 162, 168}}
	}
	r := rand.New(rand.NewSource(seed))
	u := func(a, b float64) float64 { return a + (b-a)*r.Float64() }
	k := u(140, 174)
	return vary{speed: u(.8, 1.25), lean: u(.6, 1.4), leanOff: u(-4, 5), lat: u(.2, 1.5), elbow: u(-4, 28), elbowExt: u(0, 18), arm: u(-9, 9),
		pace: u(.85, 1.2), camX: u(-2.2, 2.2), camZ: u(-3, 5), width: u(6.5, 11), knee: [3]float64{k, k - u(0, 12), min(176, k+u(-15, 12))}}
}

func (v vary) apply(m *Motion) {
	for i := range m.Lean {
		m.Lean[i][1] = m.Lean[i][1]*v.lean + v.leanOff
	}
	for i := range m.Lat {
		m.Lat[i][1] *= v.lat
	}
	a := &m.Arms[1]
	for i := range a.El {
		switch t := a.El[i][0]; {
		case t >= 1.45 && t <= tFFC+.07:
			a.El[i][1] += v.elbow + v.elbowExt
		case t > tFFC+.07 && t <= tRel+.06:
			a.El[i][1] += v.elbow
		}
		a.El[i][1] = max(0, a.El[i][1])
	}
	for i := range a.Th {
		if t := a.Th[i][0]; t >= tFFC && t <= tRel+.06 {
			a.Th[i][1] += v.arm
		}
	}
}
