package media

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/shared/fault"
)

// decoding says what one run of ffmpeg is to give.
type decoding struct {
	width, height int     // of the pictures, as displayed
	from          float64 // seek here, seconds after the first shown frame; 0 or less for none
	every         float64 // only about one frame in so many seconds; 0 for all
	keys          bool    // one picture that needs no other: the last one up to from
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
	args := []string{"-nostdin", "-hide_banner", "-v", "error", "-copyts"}
	args = append(args, s.inputArgs(info.Container)...)
	args = append(args, "-noautorotate", "-threads", d.threads())
	if info.limits.MaxPixels > 0 { // a track may change its size on the way
		args = append(args, "-max_pixels", strconv.Itoa(info.limits.MaxPixels))
	}
	if d.keys {
		args = append(args, "-skip_frame", "nokey", "-noaccurate_seek")
	}
	if d.from > 0 {
		args = append(args, "-ss", strconv.FormatFloat(info.Start-info.FileStart+d.from, 'f', 6, 64))
	}
	args = append(args, "-i", s.input)
	if d.keys {
		args = append(args, "-frames:v", "1")
	}
	args = append(args, "-map", "0:"+strconv.Itoa(info.Stream), "-an", "-sn", "-dn",
		"-map_metadata", "-1", "-filter_threads", "1", "-vf", filters, "-fps_mode", "passthrough",
		"-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1")
	p, err := start(ctx, true, "ffmpeg", args...)
	if err != nil {
		return err
	}
	err = d.read(p, info, pulsing(ctx, fn))
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
	n := d.width * d.height * 3
	var own []byte
	if d.alloc == nil {
		own = make([]byte, n)
	}
	pix := bufio.NewReaderSize(stalling{p.stdout}, 1<<16)
	times := bufio.NewScanner(stalling{p.side})
	last, known := 0.0, false
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
		at, ok, err := nextTime(times)
		if err != nil {
			return err
		}
		if !ok { // a frame without a time: go on at the mean rate
			at = info.Start
			if known {
				at = last + 1/max(info.FrameRate, 1)
			}
		}
		last, known = at, true
		if err := fn(at, buf); err != nil {
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

// nextTime reads lines up to one like "frame:7 pts:233333 pts_time:0.233333";
// pts is in microseconds. It is not ok when the frame has no time.
func nextTime(lines *bufio.Scanner) (at float64, ok bool, err error) {
	for lines.Scan() {
		_, rest, found := strings.Cut(lines.Text(), " pts:")
		if !found {
			continue
		}
		pts, _, _ := strings.Cut(rest, " ")
		v, err := strconv.ParseInt(pts, 10, 64)
		return float64(v) / 1e6, err == nil, nil
	}
	if err := lines.Err(); err != nil {
		return 0, false, readFailure(err)
	}
	return 0, false, fault.New(fault.Permanent, "the decoder gave a picture without a time")
}

// filters builds the filter chain: de-interlace, thin out, scale (first, since
// all that follows is cheaper on fewer pixels), map to SDR, turn, tell the time.
func (d decoding) filters(ctx context.Context, info Info) (string, error) {
	var f []string
	if info.Interlaced {
		f = append(f, "yadif=mode=send_frame:deint=interlaced")
	}
	if d.every > 0 {
		f = append(f, fmt.Sprintf(`select=isnan(prev_selected_t)+gte(t-prev_selected_t\,%.6f)`, d.every))
	}
	w, h := d.width, d.height
	if info.Turn.sideways() {
		w, h = h, w
	}
	if info.HDR {
		ok, err := toneMapping(ctx)
		if err != nil {
			return "", err
		}
		if ok {
			f = append(f, fmt.Sprintf("zscale=w=%d:h=%d:tin=%s:min=bt2020nc:pin=bt2020:t=linear:npl=203", w, h, info.Transfer),
				"format=gbrpf32le", "zscale=p=bt709", "tonemap=tonemap=mobius:param=0.5:desat=0", "zscale=t=bt709:r=full", "format=gbrp")
		}
	}
	f = append(f, scaling(info, w, h)...)
	f = append(f, info.Turn.filters()...)
	f = append(f, "setsar=1", "settb=1/1000000",
		"metadata=mode=add:key=f:value=1", // print tells nothing of frames without metadata
		`metadata=mode=print:file=pipe\\:3:direct=1`)
	return strings.Join(f, ","), nil
}

// scaling brings a stored picture to w x h, before the turn. A track may change
// the shape of its picture on the way (the filters are then set up again): such
// a part is fitted in with black bars, never squashed.
func scaling(info Info, w, h int) []string {
	shape := float64(info.CodedWidth) / float64(info.CodedHeight)
	fit := func(size int, fitted string) string {
		return fmt.Sprintf(`if(lt(abs(iw/ih-%.6f)\,%.6f)\,%d\,max(2\,trunc(min(%s))))`, shape, shape/50, size, fitted)
	}
	return []string{
		fmt.Sprintf("scale=w=%s:h=%s:flags=bilinear",
			fit(w, fmt.Sprintf(`%d\,%d*iw/ih`, w, h)), fit(h, fmt.Sprintf(`%d\,%d*ih/iw`, h, w))),
		"format=rgb24", fmt.Sprintf("pad=%d:%d:-1:-1", w, h),
	}
}

// toneMapping reports whether this ffmpeg can map HDR to SDR (zscale, tonemap).
// Without it HDR clips are decoded as they are: pale, but in the right place.
func toneMapping(ctx context.Context) (bool, error) {
	toneOnce.Lock()
	defer toneOnce.Unlock()
	if toneOnce.known {
		return toneOnce.have, nil
	}
	out, _, err := output(ctx, maxProbeJSON, "ffmpeg", "-nostdin", "-hide_banner", "-v", "error", "-filters")
	if err != nil {
		var exit *exec.ExitError
		if errors.Is(err, errExit) || errors.As(err, &exit) {
			return false, fault.Wrap(fault.Permanent, err, "list ffmpeg's filters")
		}
		return false, err
	}
	list := string(out)
	toneOnce.known = true
	toneOnce.have = strings.Contains(list, " zscale ") && strings.Contains(list, " tonemap ")
	return toneOnce.have, nil
}

var toneOnce struct {
	sync.Mutex
	known, have bool
}

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
