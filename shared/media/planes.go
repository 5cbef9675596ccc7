package media

import (
	"context"
	"errors"
)

// Planes is a picture as the clip stores it: 8 bits, 4:2:0, not yet turned for display.
type Planes struct {
	Width, Height int    // of the stored picture, both even
	I420          []byte // luma row by row, then two planes of colour differences, Cb and Cr, of half the sides
	Turn          Turn   // from the stored picture to the displayed one
	Colours       Colours
}

// asPlanes reports whether frames of the size wanted can be given as they were kept.
func (k *kept) asPlanes(info Info, opt Options) bool {
	w, h := info.FitSide(opt.MaxSide)
	if info.Turn.sideways() {
		w, h = h, w
	}
	return opt.Planes && k.complete() && k.plain(info) && w == k.width && h == k.height
}

// planes gives frames first to last, exclusive, as they were kept.
func (k *kept) planes(ctx context.Context, info Info, opt Options, first, last int, fn func(Frame) error) error {
	w, h := info.FitSide(opt.MaxSide)
	colours, pulse := info.toRGB(), PulseOf(ctx)
	var own []byte
	for i := first; i < last; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		raw := own
		switch {
		case opt.Alloc != nil:
			raw = opt.Alloc(int(k.frame))
		case own == nil:
			own = make([]byte, k.frame)
			raw = own
		}
		if k.read(i, raw) != nil {
			return &lostError{i}
		}
		f := Frame{Index: i, Time: k.times[i], Width: w, Height: h,
			Planes: &Planes{Width: k.width, Height: k.height, I420: raw, Turn: info.Turn, Colours: colours}}
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
