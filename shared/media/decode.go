package media

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"fastbowlinglab/shared/fault"
)

// decoding says what one run of ffmpeg is to give.
type decoding struct {
	width, height int     // of the pictures, as displayed
	from          float64 // seek here, seconds after the first shown frame; 0 or less for none
	every         float64 // only about one frame in so many seconds; 0 for all
	keys          bool    // one picture that needs no other: the last one up to from
	untimed       bool    // times are not told: whoever reads knows them
	alloc         func(n int) []byte
}

// threads of the decoder. Each holds a picture back, which for one picture would
// mean to read on to the next.
func (d decoding) threads() string {
	if d.keys {
		return "1"
	}
	return "2"
}

// decode runs ffmpeg and gives every picture with its presentation time, in the
// container's own time, to fn. fn ends it early with errStop or an error.
func (s *source) decode(ctx context.Context, info Info, d decoding, fn func(at float64, pix []byte) error) error {
	filters, err := d.filters(ctx, info)
	if err != nil {
		return err
	}
	args := s.decoderArgs(info, d)
	if d.keys {
		args = append(args, "-frames:v", "1")
	}
	args = append(args, "-map", "0:"+strconv.Itoa(info.Stream), "-filter_threads", "1", "-vf", filters)
	args = append(args, rgbOutput...)
	p, err := start(ctx, channels{sides: 1}, "ffmpeg", args...)
	if err != nil {
		return err
	}
	return p.finish(ctx, d.read(p, info, pulsing(ctx, fn)))
}

// rgbOutput are the options of pictures as they are read here.
var rgbOutput = []string{"-an", "-sn", "-dn", "-map_metadata", "-1", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"}

// decoderArgs are the options up to and with the input.
func (s *source) decoderArgs(info Info, d decoding) []string {
	args := []string{"-nostdin", "-hide_banner", "-v", "error", "-copyts"}
	args = append(args, s.inputArgs(info.Container)...)
	seek := info.Start - info.FileStart + d.from
	if info.Container == "mov" {
		// The index says all that is needed. Without it ffmpeg decodes up to twenty
		// pictures before it begins, a quarter of the work on a short clip of 4K; and
		// it does not know where the file starts, so that -ss is in the file's time.
		args = append(args, "-nofind_stream_info")
		seek = info.Start + d.from
	}
	args = append(args, "-noautorotate", "-threads", d.threads())
	if info.limits.MaxPixels > 0 { // a track may change its size on the way
		args = append(args, "-max_pixels", strconv.Itoa(info.limits.MaxPixels))
	}
	if d.keys {
		args = append(args, "-skip_frame", "nokey", "-noaccurate_seek")
	}
	if d.from > 0 {
		args = append(args, "-ss", strconv.FormatFloat(seek, 'f', 6, 64))
	}
	return append(args, "-i", s.input)
}

// finish ends a decoder whose output was read with err, io.EOF at its end.
func (p *process) finish(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		if err := p.wait(ctx); err != nil && !errors.Is(err, errExit) {
			return err
		}
		return nil // what was decoded decides, not the exit status
	case errors.Is(err, errStop):
		p.stop()
		return nil
	}
	p.stop()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// read pairs the pictures on standard output with the times on the side
// channel: ffmpeg writes a picture's time before the picture.
func (d decoding) read(p *process, info Info, fn func(float64, []byte) error) error {
	times := timesOf(stalling{p.sides[0]}, info)
	return d.readPictures(p, func(pix []byte) error {
		at, err := times.next()
		if err != nil {
			return err
		}
		return fn(at, pix)
	})
}

// readPictures reads what comes on standard output, to io.EOF.
func (d decoding) readPictures(p *process, fn func([]byte) error) error {
	n := d.width * d.height * 3
	var own []byte
	if d.alloc == nil {
		own = make([]byte, n)
	}
	pix := bufio.NewReaderSize(stalling{p.stdout}, 1<<16)
	for {
		if _, err := pix.Peek(1); err != nil {
			return endOf(err)
		}
		buf := own
		if d.alloc != nil {
			buf = d.alloc(n)
		}
		if _, err := io.ReadFull(pix, buf); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return io.EOF // killed, or out of disk: the count of frames decides
			}
			return readFailure(err)
		}
		if err := fn(buf); err != nil {
			return err
		}
	}
}

func endOf(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return readFailure(err)
}

// times reads what the metadata filter prints of each picture.
type times struct {
	lines *bufio.Scanner
	info  Info
	last  float64
	known bool
}

func timesOf(side io.Reader, info Info) *times {
	return &times{lines: bufio.NewScanner(side), info: info}
}

// next reads up to a line like "frame:7 pts:233333 pts_time:0.233333"; pts is in
// microseconds. A picture without a time comes a mean frame after the one before.
// At the end of the output it gives errNoTime.
func (t *times) next() (float64, error) {
	for t.lines.Scan() {
		_, rest, found := strings.Cut(t.lines.Text(), " pts:")
		if !found {
			continue
		}
		pts, _, _ := strings.Cut(rest, " ")
		v, err := strconv.ParseInt(pts, 10, 64)
		at := float64(v) / 1e6
		if err != nil {
			if at = 0; !math.IsNaN(t.info.Start) {
				at = t.info.Start
			}
			if t.known {
				at = t.last + 1/max(t.info.FrameRate, 1)
			}
		}
		t.last, t.known = at, true
		return at, nil
	}
	if err := t.lines.Err(); err != nil {
		return 0, readFailure(err)
	}
	return 0, errNoTime
}

var errNoTime = fault.New(fault.Permanent, "the decoder gave a picture without a time")

// stalling reads from a pipe and gives up when nothing comes for stallTimeout.
type stalling struct{ f *os.File }

var errStalled = errors.New("stalled")

func (s stalling) Read(p []byte) (int, error) {
	if err := s.f.SetReadDeadline(time.Now().Add(stallTimeout)); err != nil {
		return 0, err
	}
	n, err := s.f.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, errStalled
	}
	return n, err
}
