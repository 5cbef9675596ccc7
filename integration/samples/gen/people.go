package main

import "strings"

// Pose solves the skeleton at motion time t, where it is and as it faces.
func (m *Motion) Pose(t float64) *Pose {
	p := m.solve(t)
	if m.Left {
		p.change(func(q V) V { return V{q.X, q.Y, -q.Z} }, true)
	}
	if m.Back {
		p.change(func(q V) V { return V{-q.X, q.Y, -q.Z} }, false)
	}
	if m.Place != (V{}) {
		p.move(m.Place)
	}
	return p
}

// change turns or, with exchange, mirrors everything about the origin.
func (p *Pose) change(turn func(V) V, exchange bool) {
	old := p.J
	p.J = map[string]V{}
	for n, q := range old {
		if exchange {
			n = otherSide(n)
		}
		p.J[n] = turn(q)
	}
	for _, q := range []*V{&p.MidHip, &p.Waist, &p.MidSh, &p.Neck, &p.HeadC, &p.BallPos} {
		*q = turn(*q)
	}
	for _, f := range []*Frame{&p.Pelvis, &p.Thorax, &p.Head, &p.Foot[0], &p.Foot[1], &p.Hand[0], &p.Hand[1]} {
		f.F, f.U = turn(f.F), turn(f.U)
		f.R = f.F.Cross(f.U)
	}
	if exchange {
		p.Foot[0], p.Foot[1] = p.Foot[1], p.Foot[0]
		p.Hand[0], p.Hand[1] = p.Hand[1], p.Hand[0]
		p.Bowl = 1 - p.Bowl
	}
}

func (p *Pose) move(by V) {
	for n, q := range p.J {
		p.J[n] = q.Add(by)
	}
	for _, q := range []*V{&p.MidHip, &p.Waist, &p.MidSh, &p.Neck, &p.HeadC, &p.BallPos} {
		*q = q.Add(by)
	}
}

// otherSide names the landmark of the other side.
func otherSide(n string) string {
	for _, s := range [...][2]string{{"left", "right"}, {"right", "left"}} {
		if r, ok := strings.CutPrefix(n, s[0]); ok {
			return s[1] + r
		}
		if r, ok := strings.CutSuffix(n, "_"+s[0]); ok {
			return r + "_" + s[1]
		}
	}
	return n
}

// Everyone is all that moves at motion time t: the bowler first.
func (m *Motion) Everyone(t float64) *Body {
	b := BuildBody(m.Pose(t), m.Dress, m.Ball)
	for _, o := range m.Others {
		b.P = append(b.P, BuildBody(o.Pose(t), o.Dress, false).P...)
	}
	return b
}

// Umpire stands at the stumps, hands before him, and sways a little.
func Umpire() *Motion {
	m := &Motion{Name: "umpire", Dress: &coat, PX: Track{{0, 0}}, PY: Track{{0, .93}}, PZ: Track{{0, 0}}, PYaw: Track{{0, 4}},
		Lean: Track{{0, 3}, {1, 6}, {2, 4}, {3, 7}}, Lat: Track{{0, 1}, {1.5, -2}, {3, 1}}, Yaw: Track{{0, 6}}, HYaw: Track{{0, 2}}, HPitch: Track{{0, 6}}}
	for i := range side {
		m.Legs[i] = Leg{{On: -1, Off: 9, X: .03, Z: sgn[i] * .12}}
		m.Arms[i] = Arm{Th: Track{{0, -6}}, Ph: Track{{0, 8}}, El: Track{{0, 74}}, Pf: Track{{0, -14}}}
	}
	return m
}

// Walker walks across and waves: not bowling.
func Walker() *Motion {
	m := stroll()
	m.HYaw = Track{{0, 5}, {.7, 8}, {1.2, 40}, {2.4, 42}, {3, 25}}
	m.Arms[1] = Arm{
		Th: Track{{0, 14}, {.5, -12}, {1.0, -118}, {1.3, -128}, {2.6, -126}, {3.2, -40}},
		Ph: Track{{0, 10}, {.5, 14}, {1.1, 28}, {2.6, 28}, {3.2, 12}},
		El: Track{{0, 16}, {.5, 25}, {1.0, 62}, {1.25, 30}, {1.5, 66}, {1.75, 28}, {2.0, 66}, {2.25, 28}, {2.5, 62}, {2.8, 45}, {3.2, 25}},
		Pf: Track{{0, 6}, {.5, 10}, {1.0, 14}, {2.6, 16}, {3.2, 8}},
	}
	return m
}

// Batter walks across.
func Batter() *Motion {
	m := stroll()
	m.Name, m.Dress = "batter", &greens
	return m
}

// stroll is a walk with swinging arms.
func stroll() *Motion {
	const v = 1.35
	m := &Motion{Name: "not_bowling", Dress: &kit, T0: .3, Dur: 2.8}
	m.PX = Track{{-1, -2.4 - v}, {5, -2.4 + 5*v}}
	at := func(t, d float64) float64 { return m.PX.At(t) + d }
	m.PZ = Track{{0, 0}}
	m.PY = Track{}
	const st = .54 // step time
	for k := -1; k < 9; k++ {
		on := float64(k)*st + .1
		s := Stance{On: on, Off: on + st + .11, X: at(on, .29), Z: sgn[(k+2)%2] * .085, PitchOn: 18, PitchOff: -32}
		s.Swing = walkSwing(s.Off, on+2*st)
		i := (k + 2) % 2
		m.Legs[i] = append(m.Legs[i], s)
		m.PY = append(m.PY, [2]float64{on + .05, .89}, [2]float64{on + .33, .935})
		a := 7 * sgn[i] // the leading side's hip goes forward, the shoulder back
		m.PYaw = append(m.PYaw, [2]float64{on, -a + 14})
		m.Yaw = append(m.Yaw, [2]float64{on, a*.7 + 34})
		m.Arms[0].Th = append(m.Arms[0].Th, [2]float64{on, -26*sgn[i] - 4})
	}
	m.Lean = Track{{0, 3}}
	m.Lat = Track{{0, 0}}
	m.HYaw = Track{{0, 5}}
	m.HPitch = Track{{0, 2}}
	m.Arms[0].Ph, m.Arms[0].El, m.Arms[0].Pf = Track{{0, 14}}, Track{{0, 20}}, Track{{0, 8}}
	m.Arms[1] = Arm{Ph: m.Arms[0].Ph, El: m.Arms[0].El, Pf: m.Arms[0].Pf}
	for _, k := range m.Arms[0].Th {
		m.Arms[1].Th = append(m.Arms[1].Th, [2]float64{k[0], -8 - k[1]})
	}
	return m
}
