package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
)

// varied is a clip of a seeded delivery: other joint angles, run-up, camera
// place and size in the picture, at any rate, with whatever else makes a clip
// hard to read.
type varied struct {
	seed           int64
	rate, from, to float64
	shutter        float64
	mirror, far    bool
	portrait       bool
	with, cut      string
	truth          bool
	name           string
}

func (c *varied) flags() {
	flag.Int64Var(&c.seed, "seed", 0, "make one clip of a varied delivery instead of the samples")
	flag.Float64Var(&c.rate, "fps", 60, "with -seed: frames a second")
	flag.Float64Var(&c.from, "from", .5, "with -seed: first second of the sample's clock")
	flag.Float64Var(&c.to, "to", 1.9, "with -seed: last second")
	flag.BoolVar(&c.mirror, "mirror", false, "with -seed: the mirror image, of a left-arm bowler running to the left")
	flag.BoolVar(&c.far, "far", false, "with -seed: the bowling arm is the one away from the camera (a left-arm bowler running to the right)")
	flag.BoolVar(&c.portrait, "portrait", false, "with -seed: a phone held upright that pans, stored lying down with rotation metadata")
	flag.Float64Var(&c.shutter, "shutter", 0, "with -seed: part of a frame's time for which the shutter is open; 0 freezes, 0.5 blurs as phones do")
	flag.StringVar(&c.with, "with", "", "with -seed: who else is there, comma-separated: umpire (stands at the stumps), batter (walks past behind), coach (stands nearer to the camera), passer (walks past nearer to the camera)")
	flag.StringVar(&c.cut, "cut", "", "with -seed: what the picture's edge cuts off: feet, or arm (while it is up)")
	flag.BoolVar(&c.truth, "truth", false, "with -seed: truth only, no video")
	flag.StringVar(&c.name, "name", "varied", "with -seed: name of the files")
}

// check says what is wrong with the flags.
func (c *varied) check(m *Motion) error {
	switch {
	case c.rate < 1 || c.rate > 1000:
		return fmt.Errorf("-fps %v: want 1 to 1000", c.rate)
	case c.from < 0 || c.to > m.Dur || m.T0+c.from >= m.BFC || m.T0+c.to <= m.Release+2/c.rate:
		return fmt.Errorf("-from %v -to %v: want a stretch within 0 to %v that holds the delivery, from %.2f to %.2f",
			c.from, c.to, m.Dur, m.BFC-m.T0, m.Release-m.T0)
	case c.shutter < 0 || c.shutter > 1:
		return fmt.Errorf("-shutter %v: want 0 to 1", c.shutter)
	case c.portrait && (c.mirror || c.cut != ""):
		return errors.New("-portrait goes with neither -mirror nor -cut")
	}
	return nil
}

// people places those whom -with names.
func (c *varied) people() ([]*Motion, error) {
	var out []*Motion
	for _, who := range strings.FieldsFunc(c.with, func(r rune) bool { return r == ',' }) {
		var o *Motion
		switch who {
		case "umpire":
			o = Umpire()
			o.Place = V{stumpX - 1.1, 0, stumpZ - .5}
		case "batter":
			o = Batter()
			o.Place, o.Back = V{-1.6, 0, -2.6}, true
		case "coach":
			o = Umpire()
			o.Dress, o.Place = &greens, V{-3.1, 0, 3.2}
		case "passer": // is before the bowler in the run-up, and gone by the delivery
			o = Batter()
			o.Dress, o.Place, o.Back = &coat, V{-3.6, 0, 3}, true
		default:
			return nil, fmt.Errorf("-with %q: want umpire, batter, coach or passer", who)
		}
		out = append(out, o)
	}
	return out, nil
}

// camera stands beside the crease at the height of the chest; -cut tilts the
// picture's edge into the bowler.
func (c *varied) camera(v vary) (*Camera, error) {
	eye, look := V{-.87 + v.camX, 1.5, 14 + v.camZ}, V{-.87, 1.25, 0}
	high := v.width * 9 / 16 // of the picture, in metres at the bowler
	switch c.cut {
	case "":
		return NewCamera(1280, 720, eye, look, v.width), nil
	case "feet":
		look.Y = .22 + high/2
	case "arm":
		look.Y = 1.78 - high/2
	default:
		return nil, fmt.Errorf("-cut %q: want feet or arm", c.cut)
	}
	eye.Y = look.Y
	return NewCamera(1280, 720, eye, look, v.width), nil
}

func (c *varied) make(out, crf string) error {
	m, v := Bowler(c.seed), newVary(c.seed)
	if err := c.check(m); err != nil {
		return err
	}
	var err error
	m.Left = c.far
	if m.Others, err = c.people(); err != nil {
		return err
	}
	cam, err := c.camera(v)
	if err != nil {
		return err
	}
	f := filepath.Join(out, c.name)
	writeTruth(m, cam, c.rate, c.from, c.to, f+".truth.json", View{Mirror: c.mirror, Portrait: c.portrait})
	if c.truth {
		return nil
	}
	s := &Sink{File: f + ".mp4", W: cam.W, H: cam.H}
	switch {
	case c.mirror:
		s.Convert = hflip(cam.W, cam.H)
	case c.portrait:
		s.W, s.H, s.Rotate, s.Convert = ph, pw, true, portrait(m, cam, c.from, c.rate)
	}
	sc := NewScene(cam)
	sc.Quick = true
	render(m, sc, c.rate, c.shutter, c.from, c.to, crf, s)
	return nil
}
