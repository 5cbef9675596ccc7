package main

import "math"

// layer is one instant of what moves: its blobs, sorted into the tiles in which
// they and their shadows can be seen.
type layer struct {
	b        *Body
	vis, shd [][]*Prim
	feet     []*Prim
}

func (s *Scene) layer(b *Body) layer {
	cam := s.Cam
	tw, thh := (cam.W+tile-1)/tile, (cam.H+tile-1)/tile
	l := layer{b: b, vis: make([][]*Prim, tw*thh), shd: make([][]*Prim, tw*thh)}
	mark := func(g [][]*Prim, p *Prim, x0, y0, x1, y1 float64) {
		for ty := max(0, int(y0)/tile); ty <= min(thh-1, int(y1)/tile) && y1 >= 0; ty++ {
			for tx := max(0, int(x0)/tile); tx <= min(tw-1, int(x1)/tile) && x1 >= 0; tx++ {
				g[ty*tw+tx] = append(g[ty*tw+tx], p)
			}
		}
	}
	for i := range b.P {
		p := &b.P[i]
		x, y, z := cam.Project(p.C)
		r := (p.BR+.02)*cam.Foc/z + 1
		mark(l.vis, p, x-r, y-r, x+r, y+r)
		// where its shadow falls on the ground
		g := p.C.Sub(sun.Mul(p.C.Y / sun.Y))
		R := p.BR/sun.Y + .05
		x0, y0, _ := cam.Project(g.Add(V{-R, 0, -R}))
		x1, y1, _ := cam.Project(g.Add(V{R, 0, R}))
		xa, _, _ := cam.Project(g.Add(V{-R, 0, R}))
		xb, _, _ := cam.Project(g.Add(V{R, 0, -R}))
		mark(l.shd, p, math.Min(x0, xa), y0, math.Max(x1, xb), y1)
		if p.Foot {
			l.feet = append(l.feet, p)
		}
	}
	return l
}

// Frame renders one frame to rgb24. With several bodies, which are one scene at
// as many instants while the shutter is open, what moves is blurred.
func (s *Scene) Frame(out []byte, at ...*Body) {
	cam := s.Cam
	var layers []layer
	var near []*Prim
	for _, b := range at {
		layers = append(layers, s.layer(b))
	}
	tw, thh := (cam.W+tile-1)/tile, (cam.H+tile-1)/tile
	for ty := 0; ty < thh; ty++ {
		for tx := 0; tx < tw; tx++ {
			i, still := ty*tw+tx, true
			for _, l := range layers {
				still = still && len(l.vis[i]) == 0 && len(l.shd[i]) == 0
			}
			for y := ty * tile; y < min(cam.H, ty*tile+tile); y++ {
				for x := tx * tile; x < min(cam.W, tx*tile+tile); x++ {
					if j := y*cam.W + x; still {
						put(out, j, s.Sun[j].Add(s.Amb[j]))
					} else {
						put(out, j, s.pixel(layers, i, x, y, &near))
					}
				}
			}
		}
	}
}

// pixel takes at least four samples, and as many of each layer. near is room to work in.
func (s *Scene) pixel(layers []layer, tileAt, x, y int, near *[]*Prim) V {
	n := max(len(aa), len(layers))
	one := func(k int) V {
		l := layers[k%len(layers)]
		o := aa[(k+k/len(aa))%len(aa)]
		return s.sample(l, l.vis[tileAt], l.shd[tileAt], float64(x)+o[0], float64(y)+o[1], y*s.Cam.W+x, near)
	}
	c := one(0)
	if s.Quick {
		if a := one(n - 1); alike(a, c) && (len(layers) == 1 || alike(one(n/2), c)) {
			return c.Add(a).Mul(.5)
		}
	}
	for k := 1; k < n; k++ {
		c = c.Add(one(k))
	}
	return c.Mul(1 / float64(n))
}

// alike reports whether two samples of a pixel differ by nothing that shows.
func alike(a, b V) bool {
	const little = .03
	d := a.Sub(b)
	return math.Abs(d.X) < little && math.Abs(d.Y) < little && math.Abs(d.Z) < little
}

func (s *Scene) sample(l layer, pl, sl []*Prim, x, y float64, i int, near *[]*Prim) V {
	cam := s.Cam
	d := cam.Ray(x, y)
	if len(pl) > 0 {
		if q, hit := march(pl, cam.C, d); hit {
			return l.b.shade(pl, q, near)
		}
	}
	sh, ao := 1.0, 1.0
	if d.Y < 0 && len(sl) > 0 {
		g := cam.C.Add(d.Mul(-cam.C.Y / d.Y))
		if g.Z < 6 && g.Z > -6 {
			sh = shadow(sl, g, .004)
			ao = .45 + .55*clamp(sdf(l.feet, g)/.10, 0, 1)
		}
	}
	return s.Sun[i].Mul(sh).Add(s.Amb[i].Mul(ao))
}
