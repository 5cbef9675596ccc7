package media

import (
	"context"
	"errors"
	"image"
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
		if k.read(i, raw) != nil {
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

// fill turns the part r, in the displayed picture, to RGB.
func (p *partial) fill(out []byte, width int, r image.Rectangle) {
	k := p.k
	s := p.info.Turn.stored(r, k.width, k.height)
	s.Min.X, s.Max.X = s.Min.X&^1, (s.Max.X+1)&^1 // two neighbours share their colour differences
	at, dx, dy := p.info.Turn.walk(k.width, k.height, width)
	cw := k.width / 2
	u := p.raw[k.width*k.height:]
	v := u[cw*(k.height/2):]
	for y := s.Min.Y; y < s.Max.Y; y++ {
		ys := p.raw[y*k.width:][s.Min.X:s.Max.X]
		us, vs := u[y/2*cw:][s.Min.X/2:s.Max.X/2], v[y/2*cw:][s.Min.X/2:s.Max.X/2]
		p.m.row(out, ys, us, vs, at+y*dy+s.Min.X*dx, dx)
	}
}
