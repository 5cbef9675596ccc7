package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Survey decodes the whole clip once. It calls fn for about one frame in every so
// many seconds, in order; Index counts the frames given. Of opt, MaxSide and Alloc
// count. It returns a *Refusal as Frames does.
//
// Of an Info that keeps (see Open) it keeps every frame's time, and the pictures as
// they were decoded, scaled down to MaxSide, if they fit into keptBytes.
func Survey(ctx context.Context, src string, info Info, every float64, opt Options, fn func(Frame) error) error {
	return with(ctx, src, func(s *source) error {
		w, h := info.FitSide(opt.MaxSide)
		d := decoding{width: w, height: h, every: every, alloc: opt.Alloc}
		k := info.kept
		if k == nil { // nobody will ask again: count, and forget
			k = &kept{}
			defer k.forget()
		}
		k.forget()
		if info.kept != nil {
			k.plan(info, opt.MaxSide)
		}
		c := counter{info: info, w: w, h: h, fn: fn, last: math.Inf(-1)}
		failed, err := s.survey(ctx, info, d, k, c.take)
		if failed && k.keeping() {
			// The pictures may be what it could not write, as on a disk that is full. The
			// looks that were given do not count again.
			k.forget()
			_, err = s.survey(ctx, info, d, k, c.take)
		}
		if err != nil || c.stopped {
			k.forget()
			return err
		}
		info.Start = k.start
		return s.checkWhole(ctx, info, &c, len(k.times))
	})
}

// survey runs one decoder that gives the looks on standard output with their times on
// descriptor 3, the times of all frames on 4, and, if they are to be kept, all pictures
// to the file. It reports too whether the decoder says that it failed.
func (s *source) survey(ctx context.Context, info Info, d decoding, k *kept, fn func(float64, []byte) error) (failed bool, err error) {
	graph, err := d.surveyGraph(ctx, info, k)
	if err != nil {
		return false, err
	}
	args := append(s.decoderArgs(info, d), "-filter_complex_threads", "1", "-filter_complex", graph, "-map", "[looks]")
	args = append(args, rgbOutput...)
	ch := channels{sides: 2}
	if k.keeping() {
		ch.file = k.file
		args = append(append(args, "-map", "[all]"), k.output(3+ch.sides)...)
	}
	ctx, tooLong := context.WithCancelCause(ctx)
	defer tooLong(nil)
	p, err := start(ctx, ch, "ffmpeg", args...)
	if err != nil {
		return false, err
	}
	// The times are drained whatever happens, or the decoder would wait; they end when
	// it does.
	counted := make(chan error, 1)
	go func() {
		err := k.count(timesOf(p.sides[1], info), info)
		if err != nil {
			tooLong(err) // ends the decoder
		}
		counted <- err
	}()
	err = d.read(p, info, pulsing(ctx, fn))
	if !errors.Is(err, io.EOF) {
		err = p.finish(ctx, err) // closes the pipes
		<-counted
	} else {
		<-counted
		err = p.finish(ctx, err)
	}
	var refused *Refusal
	if errors.As(context.Cause(ctx), &refused) {
		return false, refused
	}
	if k.keeping() {
		k.measure()
	}
	return p.failed, err
}

// surveyGraph is the filter graph of a survey.
func (d decoding) surveyGraph(ctx context.Context, info Info, k *kept) (string, error) {
	before := ""
	if info.Interlaced {
		before = deinterlace + ","
		info.Interlaced = false
	}
	looks, err := d.filters(ctx, info)
	if err != nil {
		return "", err
	}
	g := fmt.Sprintf("[0:%d]%ssplit[a][b];[a]%s[looks];[b]%s", info.Stream, before, looks, tellTimes(4))
	if !k.keeping() {
		return g + ",nullsink", nil
	}
	// Of the decoder's own format, so that whoever reads what was kept reads what was
	// decoded; a part of another shape is fitted in.
	f := []string{g}
	f = append(f, fit(info, k.width, k.height), "format="+k.format.name, fmt.Sprintf("pad=%d:%d:-1:-1", k.width, k.height))
	return strings.Join(f, ",") + "[all]", nil
}

// count reads the times of all frames.
func (k *kept) count(t *times, info Info) error {
	last := math.Inf(-1)
	for place := int32(0); ; place++ {
		at, err := t.next()
		if errors.Is(err, errNoTime) {
			return nil
		}
		if err != nil {
			return err
		}
		if place == 0 {
			k.begin(at)
		}
		x := math.Round((at-k.start)*1e6) / 1e6
		if x < last+0.5e-6 {
			continue // doubled, or going backward: see counter
		}
		if err := info.limits.checkGoing(len(k.times), x); err != nil {
			return err
		}
		k.times, k.place, last = append(k.times, x), append(k.place, place), x
	}
}
