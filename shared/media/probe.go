package media

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/reason"
)

// Probe tells what the clip at src is: a path, or a presigned http(s) URL. It
// returns a *Refusal when the clip cannot be analysed or is beyond lim; any
// other error says nothing about the clip.
func Probe(ctx context.Context, src string, lim Limits) (Info, error) {
	var info Info
	err := with(ctx, src, func(s *source) (err error) {
		info, err = s.probe(ctx, lim)
		return err
	})
	return info, err
}

// Open is Probe for a clip that is then read several times: it decodes nothing, and
// the Info that it gives keeps what Survey finds for those who read next. It must
// be released.
func Open(ctx context.Context, src string, lim Limits) (info Info, err error) {
	err = with(ctx, src, func(s *source) (err error) {
		info, err = s.describeWithin(ctx, lim)
		return err
	})
	info.Start, info.kept = math.NaN(), &kept{}
	return info, err
}

// Release forgets what was kept of an opened clip.
func (i Info) Release() {
	if i.kept != nil {
		i.kept.forget()
	}
}

func (s *source) probe(ctx context.Context, lim Limits) (Info, error) {
	info, err := s.describeWithin(ctx, lim)
	if err != nil {
		return Info{}, err
	}
	err = s.findStart(ctx, &info) // before info is copied: the order within a return is not defined
	return info, err
}

// describeWithin says what a clip is, from its header or its packets.
func (s *source) describeWithin(ctx context.Context, lim Limits) (Info, error) {
	if s.size == 0 {
		return Info{}, refuse(reason.MediaEmpty, "0 bytes")
	}
	if lim.MaxBytes > 0 && s.size > lim.MaxBytes {
		return Info{}, refuse(reason.MediaTooLarge, "%d bytes, limit %d", s.size, lim.MaxBytes)
	}
	head := make([]byte, min(headBytes, s.size))
	if _, err := s.ReadAt(head, 0); err != nil {
		return Info{}, fault.Wrap(fault.NameOf(err), err, "read the clip's first bytes")
	}
	demuxer, err := container(head)
	if err != nil {
		return Info{}, err
	}
	if err := checkWhole(s, s.size, demuxer); err != nil {
		return Info{}, err
	}
	info, err := s.describe(ctx, demuxer)
	if err != nil {
		return Info{}, err
	}
	info.SizeBytes, info.limits = s.size, lim
	if err := lim.checkPicture(info); err != nil { // before anything is decoded
		return Info{}, err
	}
	if err := lim.checkLength(info); err != nil {
		return Info{}, err
	}
	if info.Frames == 0 || info.Duration == 0 || info.FrameRate == 0 {
		if err := s.scan(ctx, &info, lim); err != nil {
			return Info{}, err
		}
		if err := lim.checkLength(info); err != nil {
			return Info{}, err
		}
	}
	return info, nil
}

// describe runs ffprobe on the container's header.
func (s *source) describe(ctx context.Context, demuxer string) (Info, error) {
	args := append([]string{"-v", "error"}, s.inputArgs(demuxer)...)
	if demuxer == "mov" {
		// ffprobe decodes up to twenty pictures to learn what the index of this
		// container says; the first one tells the colours.
		args = append(args, "-skip_frame", "nokey")
	}
	args = append(args, "-show_entries",
		"format=start_time,duration:"+
			"stream=index,codec_type,codec_name,width,height,sample_aspect_ratio,pix_fmt,color_transfer,color_range,color_space,field_order,"+
			"avg_frame_rate,r_frame_rate,duration,nb_frames:stream_disposition:stream_side_data=displaymatrix",
		"-of", "json", "-i", s.input)
	out, said, err := output(ctx, maxProbeJSON, "ffprobe", args...)
	if errors.Is(err, errExit) {
		return Info{}, refuse(reason.MediaUnreadable, "ffprobe: %s", said)
	}
	if err != nil {
		return Info{}, err
	}
	return parseProbe(out, demuxer)
}

// scan reads the packets of a track whose container does not say how long it
// is, without decoding them.
func (s *source) scan(ctx context.Context, info *Info, lim Limits) error {
	n, first, last, err := s.packets(ctx, *info, lim.MaxFrames)
	if err != nil {
		return err
	}
	if n == 0 {
		return refuse(reason.MediaUnreadable, "no packets in the video track")
	}
	span := last - first
	if info.FrameRate == 0 && n > 1 && span > 0 {
		info.FrameRate = float64(n-1) / span
	}
	if info.FrameRate == 0 {
		return refuse(reason.MediaUnreadable, "no frame rate: %d packets in %g s", n, span)
	}
	covered := span + 1/info.FrameRate
	declared := info.Duration
	if info.Duration == 0 || covered > info.Duration {
		info.Duration = covered
	}
	if info.Frames == 0 {
		info.Frames = n
		// A container that promises more time than its packets cover is cut.
		if declared > 0 && covered < minDecoded*declared && span > 0 {
			info.Frames = int(math.Round(float64(n) * declared / covered))
		}
	}
	return nil
}

// packets counts the packets of the track that are to be shown, and gives their
// first and last times. It stops soon after limit.
func (s *source) packets(ctx context.Context, info Info, limit int) (n int, first, last float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	args := append([]string{"-v", "error"}, s.inputArgs(info.Container)...)
	args = append(args, "-select_streams", strconv.Itoa(info.Stream),
		"-show_entries", "packet=pts_time,flags", "-of", "csv=p=0", "-i", s.input)
	p, err := start(ctx, channels{}, "ffprobe", args...)
	if err != nil {
		return 0, 0, 0, err
	}
	first, last = math.Inf(1), math.Inf(-1)
	lines := bufio.NewScanner(stalling{p.stdout})
	for lines.Scan() {
		at, flags, ok := strings.Cut(lines.Text(), ",")
		if !ok || strings.Contains(flags, "D") { // an empty line, or cut off by an edit list
			continue
		}
		n++
		if v, ok := text(at).number(); ok {
			first, last = min(first, v), max(last, v)
		}
		if limit > 0 && n > limit {
			p.stop()
			return n, first, last, nil
		}
	}
	if err := lines.Err(); err != nil {
		p.stop()
		if ctx.Err() != nil {
			return 0, 0, 0, ctx.Err()
		}
		return 0, 0, 0, readFailure(err)
	}
	if err := p.wait(ctx); err != nil && !errors.Is(err, errExit) {
		return 0, 0, 0, err
	}
	if n > 0 && math.IsInf(first, 0) {
		first, last = 0, 0
	}
	return n, first, last, nil
}

// findStart decodes the first shown frame, which also proves that the track can
// be decoded at all.
func (s *source) findStart(ctx context.Context, info *Info) error {
	found := false
	err := s.decode(ctx, *info, decoding{width: 16, height: 16}, func(at float64, _ []byte) error {
		info.Start, found = at, true
		return errStop
	})
	if err != nil {
		return err
	}
	if !found {
		return refuse(reason.MediaUnreadable, "no frame can be decoded")
	}
	return nil
}

func (l Limits) checkPicture(i Info) error {
	for _, size := range [...][2]int{{i.CodedWidth, i.CodedHeight}, {i.Width, i.Height}} {
		w, h := size[0], size[1]
		if l.MaxSide > 0 && max(w, h) > l.MaxSide || l.MaxPixels > 0 && int64(w)*int64(h) > int64(l.MaxPixels) {
			return refuse(reason.MediaTooLarge, "%d x %d pixels", w, h)
		}
	}
	if min(i.Width, i.Height) < l.MinSide {
		return refuse(reason.MediaTooSmall, "%d x %d pixels", i.Width, i.Height)
	}
	return nil
}

// checkGoing holds a frame that was decoded against the limits.
func (l Limits) checkGoing(index int, at float64) error {
	if l.MaxFrames > 0 && index >= l.MaxFrames || l.MaxDuration > 0 && at > l.MaxDuration.Seconds() {
		return refuse(reason.MediaTooLong, "still going at frame %d, %.1f s", index, at)
	}
	return nil
}

// checkLength checks what is known so far of duration and frames.
func (l Limits) checkLength(i Info) error {
	switch {
	case l.MaxDuration > 0 && i.Duration > l.MaxDuration.Seconds(),
		l.MaxFrames > 0 && i.Frames > l.MaxFrames:
		return refuse(reason.MediaTooLong, "%.1f s, %d frames", i.Duration, i.Frames)
	case i.Duration > 0 && i.Duration < l.MinDuration.Seconds(),
		i.Frames > 0 && i.Frames < l.MinFrames:
		return refuse(reason.MediaTooShort, "%.2f s, %d frames", i.Duration, i.Frames)
	}
	return nil
}

// readFailure names what ended the reading of a decoder's output.
func readFailure(err error) error {
	if errors.Is(err, errStalled) {
		return &Refusal{Code: reason.MediaUnreadable, Detail: fmt.Sprintf("the decoder gave nothing for %s", stallTimeout), hung: true}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse(reason.MediaUnreadable, "the decoder stopped in the middle of a frame")
	}
	return fault.Wrap(fault.Transient, err, "read from the decoder")
}
