package media

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"

	"fastbowlinglab/shared/reason"
)

// reread gives the frames of a survey once more, in order: those within window from
// the pictures kept, or decoded again; the others without a picture.
func (s *source) reread(ctx context.Context, info Info, opt Options, fn func(Frame) error) error {
	k := info.kept
	w, h := info.FitSide(opt.MaxSide)
	first, last := k.within(opt.Seen, opt.Window)
	blank := func(from, to int) error {
		for i := from; i < to; i++ {
			if err := fn(Frame{Index: i, Time: k.times[i], Width: w, Height: h}); err != nil {
				return err
			}
		}
		return nil
	}
	err := blank(opt.Seen, first)
	if err == nil && last > first {
		if k.asPlanes(info, opt) {
			err = k.planes(ctx, info, opt, first, last, fn)
		} else if k.holds(info, opt.MaxSide) {
			err = k.pictures(ctx, info, opt, first, last, fn)
		} else {
			err = s.again(ctx, info, opt, first, last, fn)
		}
	}
	if err == nil {
		err = blank(max(last, opt.Seen), len(k.times))
	}
	if errors.Is(err, ErrStop) {
		return nil
	}
	return err
}

// again decodes frames first to last, exclusive, from the clip.
func (s *source) again(ctx context.Context, info Info, opt Options, first, last int, fn func(Frame) error) error {
	o := Options{MaxSide: opt.MaxSide, Alloc: opt.Alloc, Seen: first}
	if first > 0 {
		o.LastSeen = info.kept.times[first-1]
	}
	n, stopped := first, false
	err := s.stream(ctx, info, o, func(f Frame) error {
		n = f.Index + 1
		err := fn(f)
		stopped = errors.Is(err, ErrStop)
		if err == nil && n == last {
			return ErrStop
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case stopped:
		return ErrStop
	case n < last:
		return refuse(reason.MediaUnreadable, "frame %s of %d cannot be found again", strconv.Itoa(n), len(info.kept.times))
	}
	return nil
}

// within gives the frames from seen on that lie in the window: first to last,
// exclusive.
func (k *kept) within(seen int, window *Window) (first, last int) {
	if window == nil {
		return seen, len(k.times)
	}
	first = sort.SearchFloat64s(k.times, window.From)
	last = sort.Search(len(k.times), func(i int) bool { return k.times[i] > window.To })
	first = max(first, seen)
	return first, max(first, last)
}

// asInput describes the kept pictures as if they were the clip.
func (k *kept) asInput(info Info) Info {
	info.CodedWidth, info.CodedHeight = k.width, k.height
	return info
}

// pictures reads frames first to last, exclusive, from those kept.
func (k *kept) pictures(ctx context.Context, info Info, opt Options, first, last int, fn func(Frame) error) error {
	w, h := info.FitSide(opt.MaxSide)
	d := decoding{width: w, height: h, untimed: true, alloc: opt.Alloc}
	filters, err := d.filters(ctx, k.asInput(info))
	if err != nil {
		return err
	}
	from, to := int64(k.place[first]), int64(k.place[last-1])+1
	if _, err := k.file.Seek(from*k.frame, io.SeekStart); err != nil {
		return fmt.Errorf("read the pictures kept: %w", err)
	}
	args := []string{"-nostdin", "-hide_banner", "-v", "error", "-protocol_whitelist", "pipe", "-nofind_stream_info",
		"-f", "rawvideo", "-pixel_format", k.format.name, "-video_size", fmt.Sprintf("%dx%d", k.width, k.height), "-framerate", "25",
		"-i", "pipe:0", "-frames:v", strconv.FormatInt(to-from, 10), "-filter_threads", "1",
		"-vf", info.colours() + filters}
	p, err := start(ctx, channels{input: k.file}, "ffmpeg", append(args, rgbOutput...)...)
	if err != nil {
		return err
	}
	next, i, stopped := first, from, false
	err = p.finish(ctx, d.readPictures(p, func(pix []byte) error {
		defer func() { i++ }()
		if next == last || int64(k.place[next]) != i {
			return nil // doubled, or going backward
		}
		f := Frame{Index: next, Time: k.times[next], Width: w, Height: h, Pix: pix}
		next++
		if err := fn(f); err != nil {
			stopped = errors.Is(err, ErrStop)
			return err
		}
		if pulse := PulseOf(ctx); pulse != nil {
			pulse()
		}
		return nil
	}))
	switch {
	case err != nil:
		return err
	case stopped:
		return ErrStop
	case next < last:
		return &lostError{next}
	}
	return nil
}

// lostError says from which frame on the pictures kept could not be read.
type lostError struct{ next int }

func (e *lostError) Error() string {
	return fmt.Sprintf("of the pictures kept, frame %d could not be read", e.next)
}

// colours tells the filters what raw pictures do not say themselves.
func (i Info) colours() string {
	set := fmt.Sprintf("setparams=range=%s:colorspace=%s", cmp.Or(i.colourRange, "unknown"), cmp.Or(i.matrix, "unknown"))
	if i.HDR {
		set += ":color_primaries=bt2020:color_trc=" + i.Transfer
	}
	return set + ","
}
