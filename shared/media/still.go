package media

import (
	"context"
	"errors"
	"image"
	"math"

	"fastbowlinglab/shared/reason"
)

// Still gives, as a JPEG at most maxWidth pixels wide as displayed (0: as it
// is), the first frame at or after at seconds from the first shown frame. It
// seeks; a time up to a millisecond (or a quarter of a frame) before at counts
// as at, since containers round times. After the last frame it gives the last.
func Still(ctx context.Context, src string, info Info, at float64, maxWidth int) ([]byte, error) {
	if pictures := info.kept.jpegColours(info, []float64{at}, maxWidth); pictures != nil {
		all, err := jpegs(ctx, pictures)
		if err != nil {
			return nil, err
		}
		return all[0], nil
	}
	var f Frame
	err := with(ctx, src, func(s *source) error {
		if err := s.settle(ctx, &info); err != nil {
			return err
		}
		var err error
		f, err = s.frameAt(ctx, info, at, maxWidth)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f.JPEG(ctx)
}

// Stills calls each with what Still gives for the i-th of several times, in order. Of
// pictures kept one ffmpeg makes all of them.
func Stills(ctx context.Context, src string, info Info, at []float64, maxWidth int, each func(i int, jpeg []byte, err error)) {
	pictures := info.kept.jpegColours(info, at, maxWidth)
	if pictures == nil {
		for i, t := range at {
			jpeg, err := Still(ctx, src, info, t, maxWidth)
			each(i, jpeg, err)
		}
		return
	}
	all, err := jpegs(ctx, pictures)
	for i := range at {
		if err != nil {
			each(i, nil, err)
		} else {
			each(i, all[i], nil)
		}
	}
}

// Sample gives n frames spread evenly over the clip, one for the middle of each
// nth part, sought and not decoded up to, at most maxWidth pixels wide as
// displayed. Where the last key frame before the middle is near enough, it is that
// one, for which nothing else need be decoded: of a 4K clip, the frames from there
// to the middle would cost more than all the rest. It gives fewer frames when the
// clip has fewer.
func Sample(ctx context.Context, src string, info Info, n, maxWidth int) ([]Frame, error) {
	var out []Frame
	err := with(ctx, src, func(s *source) error {
		if err := s.settle(ctx, &info); err != nil {
			return err
		}
		part := info.Duration / float64(n)
		for i := range n {
			at := part * (float64(i) + 0.5)
			f, err := s.keyFrame(ctx, info, at, part*nearMiddle, maxWidth)
			if err == nil && f.Pix == nil {
				f, err = s.frameAt(ctx, info, at, maxWidth)
			}
			if err != nil {
				return err
			}
			if len(out) == 0 || f.Time > out[len(out)-1].Time {
				out = append(out, f)
			}
		}
		return nil
	})
	return out, err
}

// nearMiddle is how far before the middle of a part its key frame may lie, as a
// share of the part.
const nearMiddle = 0.4

// keyFrame gives the last key frame up to at, if it is no more than back before
// it; a frame without Pix otherwise.
func (s *source) keyFrame(ctx context.Context, info Info, at, back float64, maxWidth int) (Frame, error) {
	f := Frame{Index: -1}
	f.Width, f.Height = info.FitWidth(maxWidth)
	d := decoding{width: f.Width, height: f.Height, from: at, keys: true}
	err := s.decode(ctx, info, d, func(pts float64, pix []byte) error {
		f.Time = math.Round((pts-info.Start)*1e6) / 1e6
		if f.Time <= at+timeSlack && f.Time >= max(at-back, 0) {
			f.Pix = pix
		}
		return errStop
	})
	if err != nil && !errors.Is(err, errStop) {
		return Frame{}, err
	}
	return f, nil
}

// with opens src for fn and tells a source that broke from a file that is bad.
func with(ctx context.Context, src string, fn func(*source) error) error {
	s, err := open(ctx, src)
	if err != nil {
		return err
	}
	defer s.close()
	err = fn(s)
	if err != nil && ctx.Err() == nil {
		if broken := s.broken(err); broken != nil {
			return broken
		}
	}
	return err
}

// frameAt seeks. Its Index is unknown, and -1.
func (s *source) frameAt(ctx context.Context, info Info, at float64, maxWidth int) (Frame, error) {
	if math.IsNaN(at) || math.IsInf(at, 0) {
		return Frame{}, refuse(reason.MediaUnreadable, "no such time: %g", at)
	}
	at = max(at, 0)
	eps := min(timeSlack, 0.25/info.FrameRate)
	f := Frame{Index: -1, Time: -1}
	f.Width, f.Height = info.FitWidth(maxWidth)
	for _, margin := range seekMargins(info) {
		d := decoding{width: f.Width, height: f.Height, from: at - margin}
		proof := d.from > 0 // the first picture must lie before at, or frames may be missing
		err := s.decode(ctx, info, d, func(pts float64, pix []byte) error {
			t := math.Round((pts-info.Start)*1e6) / 1e6
			if proof && t >= at-eps {
				return errBadSeek
			}
			proof = false
			f.Time = t
			f.Pix = pix // one buffer, overwritten until the right one is there
			if t >= at-eps {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errBadSeek) {
			return Frame{}, err
		}
		if err == nil && f.Pix != nil {
			return f, nil
		}
	}
	return Frame{}, refuse(reason.MediaCut, "no frame at %.3f s of %.3f s can be decoded", at, info.Duration)
}

// Image gives the frame as an image of the standard library.
func (f Frame) Image() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, f.Width, f.Height))
	for i, n := 0, f.Width*f.Height; i < n; i++ {
		copy(img.Pix[4*i:4*i+3], f.Pix[3*i:3*i+3])
		img.Pix[4*i+3] = 0xff
	}
	return img
}
