package media

import (
	"context"
	"errors"
	"image"
	"math"
	"sync"
)

// partial is a picture as it was kept, of which only the parts that somebody reads
// are turned to RGB: around a bowler, a tenth of it.
type partial struct {
	k    *kept
	raw  []byte
	info Info
	m    *ycc
	done image.Rectangle // a part that Pix holds: the last one that was asked for
}

// Fill makes sure that Pix holds the part r, which may reach beyond the picture. It
// is for frames that were read with Options.Partial; any other holds all of it. Of
// one frame it must not run more than once at a time.
func (f Frame) Fill(r image.Rectangle) {
	p := f.part
	if p == nil {
		return
	}
	r = r.Intersect(image.Rect(0, 0, f.Width, f.Height))
	switch d := p.done; {
	case r.In(d):
	case d.In(r) && !d.Empty(): // what is missing around it
		p.fill(f.Pix, f.Width, image.Rect(r.Min.X, r.Min.Y, r.Max.X, d.Min.Y))
		p.fill(f.Pix, f.Width, image.Rect(r.Min.X, d.Min.Y, d.Min.X, d.Max.Y))
		p.fill(f.Pix, f.Width, image.Rect(d.Max.X, d.Min.Y, r.Max.X, d.Max.Y))
		p.fill(f.Pix, f.Width, image.Rect(r.Min.X, d.Max.Y, r.Max.X, r.Max.Y))
		p.done = r
	default:
		p.fill(f.Pix, f.Width, r)
		p.done = r
	}
}

// partly reports whether frames of the size wanted can be read without a decoder and
// turned to RGB here, as swscale would turn them: kept at that size, of 8 bits, 4:2:0.
func (k *kept) partly(info Info, opt Options) bool {
	w, h := info.FitSide(opt.MaxSide)
	if info.Turn.sideways() {
		w, h = h, w
	}
	return opt.Partial && k.complete() && k.plain(info) && w == k.width && h == k.height
}

// parts gives frames first to last, exclusive, as they were kept.
func (k *kept) parts(ctx context.Context, info Info, opt Options, first, last int, fn func(Frame) error) error {
	w, h := info.FitSide(opt.MaxSide)
	m, pulse := yccOf(info), PulseOf(ctx)
	rgb := 3 * w * h
	var own []byte
	for i := first; i < last; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf := own
		switch {
		case opt.Alloc != nil:
			buf = opt.Alloc(rgb + int(k.frame))
		case own == nil:
			own = make([]byte, rgb+int(k.frame))
			buf = own
		}
		raw := buf[rgb:]
		if _, err := k.file.ReadAt(raw, int64(k.raw[i])*k.frame); err != nil {
			return &lostError{i}
		}
		f := Frame{Index: i, Time: k.times[i], Width: w, Height: h, Pix: buf[:rgb],
			part: &partial{k: k, raw: raw, info: info, m: m}}
		if err := fn(f); err != nil {
			if errors.Is(err, ErrStop) {
				return ErrStop
			}
			return err
		}
		if pulse != nil {
			pulse()
		}
	}
	return nil
}

// fill turns the part r, in the displayed picture, to RGB: its rows in two halves side
// by side, since whoever reads it waits.
func (p *partial) fill(out []byte, width int, r image.Rectangle) {
	s := p.info.Turn.stored(r, p.k.width, p.k.height)
	upper, lower := s, s
	upper.Max.Y = (s.Min.Y + s.Max.Y) / 2
	lower.Min.Y = upper.Max.Y
	var wg sync.WaitGroup
	wg.Go(func() { p.rows(out, width, upper) })
	p.rows(out, width, lower)
	wg.Wait()
}

// rows turns the part s of the stored picture to RGB.
func (p *partial) rows(out []byte, width int, s image.Rectangle) {
	k := p.k
	at, dx, dy := p.info.Turn.walk(k.width, k.height, width)
	u := p.raw[k.width*k.height:]
	v := u[k.width/2*(k.height/2):]
	for y := s.Min.Y; y < s.Max.Y; y++ {
		row := p.raw[y*k.width+s.Min.X : y*k.width+s.Max.X]
		us, vs := u[y/2*(k.width/2):][:k.width/2], v[y/2*(k.width/2):][:k.width/2]
		p.m.row(out, row, us, vs, s.Min.X, at+y*dy+s.Min.X*dx, dx)
	}
}

// ycc turns luma and colour differences to RGB with the arithmetic of swscale's
// vector code, to the bit: sixteen-bit products of which the low half is dropped.
type ycc struct {
	y, rv, gu, gv, bu [256]int32
}

// clipped are sums of ycc, from -clipBelow on, brought to a byte. No sum lies outside
// -clipBelow to clipMask-clipBelow.
const clipBelow, clipMask = 512, 2047

var clipped = func() (c [clipMask + 1]byte) {
	for i := range c {
		c[i] = clip8(int32(i) - clipBelow)
	}
	return c
}()

func yccOf(info Info) *ycc {
	kr, kb := info.primaries()
	kg := 1 - kr - kb
	// Of 65536ths: colour differences for the studio's range, as the standards give them.
	of := func(f float64) int64 { return int64(math.Round(f * 255 / 224 * 65536)) }
	crv, cbu, cgu, cgv := of(2*(1-kr)), of(2*(1-kb)), -of(2*kb*(1-kb)/kg), -of(2*kr*(1-kr)/kg)
	cy, black := int64(1<<16)*255/219, int64(16)
	if info.fullRange() {
		cy, black = 1<<16, 0
		crv, cbu, cgu, cgv = crv*224/255, cbu*224/255, cgu*224/255, cgv*224/255
	}
	coefficient := func(c int64) int32 { return int32((c<<13 + 1<<15) >> 16) }
	product := func(v int64, c int64) int32 { return int32(v) * 8 * coefficient(c) >> 16 }
	m := &ycc{}
	for i := range int64(256) {
		m.y[i] = product(i-black, cy)
		m.rv[i], m.gu[i], m.gv[i], m.bu[i] = product(i-128, crv), product(i-128, cgu), product(i-128, cgv), product(i-128, cbu)
	}
	return m
}

// row turns a stretch of a row that begins at column x; its first pixel is out's o-th,
// the next ones follow dx further on. Two neighbours share their colour differences.
func (m *ycc) row(out, row, us, vs []byte, x, o, dx int) {
	pixel := func(l byte, o int, r, g, b int32) {
		y := m.y[l]
		p := (*[3]byte)(out[3*o:])
		p[0], p[1], p[2] = clipped[(y+r)&clipMask], clipped[(y+g)&clipMask], clipped[(y+b)&clipMask]
	}
	for len(row) > 0 {
		u, v := us[x/2], vs[x/2]
		r, g, b := m.rv[v]+clipBelow, m.gu[u]+m.gv[v]+clipBelow, m.bu[u]+clipBelow
		pixel(row[0], o, r, g, b)
		n := 1
		if x%2 == 0 && len(row) > 1 {
			pixel(row[1], o+dx, r, g, b)
			n = 2
		}
		row, x, o = row[n:], x+n, o+n*dx
	}
}
