package media

import (
	"context"
	"errors"
	"math"

	"fastbowlinglab/shared/reason"
)

// minDecoded is the share of the expected frames below which a clip is cut.
const minDecoded = 0.9

// timeSlack is how far two times may lie apart and still be the same instant:
// containers round to their own time base, and we to microseconds.
const timeSlack = 0.001

// Frame is one decoded picture: upright, square pixels, SDR. Where Options.Planes
// allows it, it may come as it was stored instead.
type Frame struct {
	Index  int     // from 0 at the clip's first shown frame
	Time   float64 // seconds from the clip's first shown frame, strictly rising
	Width  int
	Height int
	Pix    []byte  // rgb24, row by row, 3*Width*Height bytes
	Planes *Planes // in place of Pix
}

// Options of Frames. The zero value gives every frame at its displayed size.
type Options struct {
	MaxSide int // longer side of the pictures; 0 for the displayed size

	// To go on in the middle of a clip: the number of frames seen already, and
	// the time of the last of them. It must be a time that Frames gave.
	Seen     int
	LastSeen float64

	// Alloc gives the buffer of the next frame, of n bytes. Without it one
	// buffer is used for all, and the picture is valid only inside the call.
	Alloc func(n int) []byte

	// Window is when pictures are needed. Frames outside it may come without a picture,
	// and do once the clip has been surveyed (see Survey). Nil is always.
	Window *Window

	// Planes says that the reader takes pictures as they were stored, and turns to RGB
	// what it looks at. Pictures kept come like that, if they are of 8 bits and 4:2:0.
	Planes bool
}

// Window is a stretch of a clip, in seconds, both ends included.
type Window struct{ From, To float64 }

// ErrStop, returned by the function that Frames calls, ends the decoding early
// without an error.
var ErrStop = errStop

var errStop = errors.New("stop decoding")

// Frames decodes the clip and calls fn for each frame in order; an error of fn
// ends it and is returned. It returns a *Refusal (media_cut) when fewer than
// nine tenths of the expected frames could be decoded; whatever was decoded
// has been given to fn by then.
func Frames(ctx context.Context, src string, info Info, opt Options, fn func(Frame) error) error {
	k := info.kept
	if k.surveyed() && k.holds(info, opt.MaxSide) {
		err := (*source)(nil).reread(ctx, info, opt, fn)
		var lost *lostError
		if !errors.As(err, &lost) || ctx.Err() != nil {
			return err
		}
		k.drop() // the clip itself has them
		opt.Seen = lost.next
	}
	return with(ctx, src, func(s *source) error {
		if err := s.settle(ctx, &info); err != nil {
			return err
		}
		if k.surveyed() {
			return s.reread(ctx, info, opt, fn)
		}
		return s.stream(ctx, info, opt, fn)
	})
}

// stream decodes from the clip.
func (s *source) stream(ctx context.Context, info Info, opt Options, fn func(Frame) error) error {
	w, h := info.FitSide(opt.MaxSide)
	d := decoding{width: w, height: h, alloc: opt.Alloc}
	c := counter{info: info, w: w, h: h, fn: fn, index: opt.Seen, last: math.Inf(-1)}
	if opt.Seen == 0 {
		if err := s.decode(ctx, info, d, c.take); err != nil || c.stopped {
			return err
		}
		return s.checkWhole(ctx, info, &c, c.index)
	}
	c.last = opt.LastSeen
	for _, margin := range seekMargins(info) {
		d.from = opt.LastSeen - margin
		c.seekProof = d.from > 0
		err := s.decode(ctx, info, d, c.take)
		if errors.Is(err, errBadSeek) {
			continue
		}
		if err != nil || c.stopped {
			return err
		}
		return s.checkCount(ctx, info, c.index)
	}
	return refuse(reason.MediaUnreadable, "frame %d cannot be found again", opt.Seen)
}

// seekMargins are how far before a wanted time to seek, tried in turn. The last
// one reads from the beginning.
func seekMargins(info Info) [3]float64 {
	return [3]float64{3/info.FrameRate + 0.01, 3, math.Inf(1)}
}

// errBadSeek says that a seek led behind the wanted time.
var errBadSeek = errors.New("the seek led too far")

// counter turns the decoder's pictures into frames whose times rise strictly.
type counter struct {
	info      Info
	w, h      int
	fn        func(Frame) error
	index     int     // of the next frame
	last      float64 // time of the last frame
	seekProof bool    // the next picture must not lie after last
	stopped   bool
	bars      bars
}

func (c *counter) take(at float64, pix []byte) error {
	if math.IsNaN(c.info.Start) {
		c.info.Start = at
	}
	t := math.Round((at-c.info.Start)*1e6) / 1e6
	if c.seekProof {
		if t > c.last+timeSlack {
			return errBadSeek
		}
		c.seekProof = false
	}
	if t < c.last+0.5e-6 {
		return nil // seen already, or doubled, or going backward
	}
	if err := c.info.limits.checkGoing(c.index, t); err != nil {
		return err
	}
	f := Frame{Index: c.index, Time: t, Width: c.w, Height: c.h, Pix: pix}
	c.index++
	c.last = t
	if pix != nil {
		c.bars.see(pix, c.w, c.h)
	}
	err := c.fn(f)
	c.stopped = errors.Is(err, ErrStop)
	return err
}

// checkWhole judges a clip that was decoded from beginning to end, got frames of it.
func (s *source) checkWhole(ctx context.Context, info Info, c *counter, got int) error {
	if c.bars.changed() {
		return refuse(reason.MediaReshaped, "black bars come or go at about %d of %d", c.index-c.bars.count, c.index)
	}
	return s.checkCount(ctx, info, got)
}

// checkCount holds the number of decoded frames against what was expected.
func (s *source) checkCount(ctx context.Context, info Info, got int) error {
	if got == 0 {
		return refuse(reason.MediaUnreadable, "no frame can be decoded")
	}
	want := info.Frames
	if float64(got) >= minDecoded*float64(want) {
		return nil
	}
	if info.Edited { // the estimate may be wrong where the frame rate varies: count
		n, first, last, err := s.packets(ctx, info, 0)
		if err != nil {
			return err
		}
		whole := last-first+1/info.FrameRate >= minDecoded*info.Duration
		if whole && float64(got) >= minDecoded*float64(n) {
			return nil
		}
		want = n
	}
	return refuse(reason.MediaCut, "%d of %d frames could be decoded", got, want)
}
