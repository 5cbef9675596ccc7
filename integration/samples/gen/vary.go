package main

import (
	"flag"
	"math/rand"
	"path/filepath"
)

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

// varied is a clip of a seeded delivery: other joints angles, run-up, camera
// place and size in the picture, at any rate.
type varied struct {
	seed           int64
	rate, from, to float64
	mirror, truth  bool
	name           string
}

func (c *varied) flags() {
	flag.Int64Var(&c.seed, "seed", 0, "make one clip of a varied delivery instead of the samples")
	flag.Float64Var(&c.rate, "fps", 60, "with -seed: frames a second")
	flag.Float64Var(&c.from, "from", .5, "with -seed: first second of the sample's clock")
	flag.Float64Var(&c.to, "to", 1.9, "with -seed: last second")
	flag.BoolVar(&c.mirror, "mirror", false, "with -seed: a left-arm bowler")
	flag.BoolVar(&c.truth, "truth", false, "with -seed: truth only, no video")
	flag.StringVar(&c.name, "name", "varied", "with -seed: name of the files")
}

func (c *varied) make(out, crf string) {
	m, v := Bowler(c.seed), newVary(c.seed)
	cam := NewCamera(1280, 720, V{-.87 + v.camX, 1.5, 14 + v.camZ}, V{-.87, 1.25, 0}, v.width)
	f := filepath.Join(out, c.name)
	writeTruth(m, cam, c.rate, c.from, c.to, f+".truth.json", View{Mirror: c.mirror})
	if c.truth {
		return
	}
	s := &Sink{File: f + ".mp4", W: cam.W, H: cam.H}
	if c.mirror {
		s.Convert = hflip(cam.W, cam.H)
	}
	render(m, NewScene(cam), c.rate, c.from, c.to, crf, s)
}
