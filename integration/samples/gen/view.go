package main

// exposures is the number of instants that a blurred frame is made of.
const exposures = 8

// exposure is what moves at the instants that a frame begun at t is made of.
func (m *Motion) exposure(t, open float64) []*Body {
	if open <= 0 {
		return []*Body{m.Everyone(t)}
	}
	var out []*Body
	for k := range exposures {
		out = append(out, m.Everyone(t+open*((float64(k)+.5)/exposures-.5)))
	}
	return out
}

// hflip mirrors a frame: a right-arm bowler becomes a left-arm one.
func hflip(w, h int) func([]byte, int) []byte {
	return func(f []byte, _ int) []byte {
		o := make([]byte, len(f))
		for y := 0; y < h; y++ {
			for x := 0; x < w; x++ {
				copy(o[(y*w+x)*3:(y*w+x)*3+3], f[(y*w+w-1-x)*3:])
			}
		}
		return o
	}
}

// The portrait variant: a phone held upright that pans with the bowler. It is a
// moving 405x720 window of the same frames, enlarged to 720x1280 and stored
// lying on its side (1280x720) with rotation metadata, as phones do.
const pw, ph = 720, 1280

func panX(m *Motion, cam *Camera, t float64) float64 {
	s, n := 0.0, 0.0
	for d := -.25; d <= .2501; d += .05 {
		x, _, _ := cam.Project(V{m.PX.At(t+d) + .08, 1, 0})
		s, n = s+x, n+1
	}
	ww := float64(cam.H) * pw / ph
	return clamp(s/n-ww/2, 0, float64(cam.W)-ww)
}

func portrait(m *Motion, cam *Camera, from, fps float64) func([]byte, int) []byte {
	return func(f []byte, i int) []byte {
		x0 := panX(m, cam, m.T0+from+float64(i)/fps)
		sc := float64(cam.H) / ph
		o := make([]byte, pw*ph*3)
		for y := 0; y < ph; y++ {
			for x := 0; x < pw; x++ {
				fx, fy := clamp(x0+(float64(x)+.5)*sc-.5, 0, float64(cam.W)-1.001), clamp((float64(y)+.5)*sc-.5, 0, float64(cam.H)-1.001)
				ix, iy := int(fx), int(fy)
				u, v := fx-float64(ix), fy-float64(iy)
				a := (iy*cam.W + ix) * 3
				// shown picture (x, y) is stored at column y, row pw-1-x: turned anticlockwise
				q := ((pw-1-x)*ph + y) * 3
				for c := 0; c < 3; c++ {
					g := func(k int) float64 { return float64(f[a+k+c]) }
					o[q+c] = byte((g(0)*(1-u)+g(3)*u)*(1-v) + (g(cam.W*3)*(1-u)+g(cam.W*3+3)*u)*v + .5)
				}
			}
		}
		return o
	}
}
