package media

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"fastbowlinglab/shared/fault"
)

// jpegScale is ffmpeg's quality of a JPEG, from 1, the best, to 31: at 3 the pictures
// of our samples come to 41 to 47 dB.
const jpegScale = 3

// maxJPEG bounds one encoded picture in bytes.
const maxJPEG = 32 << 20

// bitmap is a picture in memory, in a pixel format of ffmpeg's.
type bitmap struct {
	format        string
	width, height int
	pix           []byte
}

// JPEG encodes the frame, of which all must be filled in.
func (f Frame) JPEG(ctx context.Context) ([]byte, error) {
	return bitmap{format: "rgb24", width: f.Width, height: f.Height, pix: f.Pix}.jpeg(ctx)
}

// jpeg encodes the picture with ffmpeg, in a quarter of the time that image/jpeg takes.
func (b bitmap) jpeg(ctx context.Context) ([]byte, error) {
	out, err := b.encode(ctx)
	if err != nil {
		return nil, fmt.Errorf("encode a picture of %d x %d: %w", b.width, b.height, err)
	}
	return out, nil
}

func (b bitmap) encode(ctx context.Context) ([]byte, error) {
	in, feed, err := os.Pipe()
	if err != nil {
		return nil, fault.Wrap(fault.Transient, err, "make a pipe")
	}
	defer feed.Close()
	widen(feed)
	p, err := start(ctx, channels{input: in}, "ffmpeg", "-nostdin", "-hide_banner", "-v", "error", "-protocol_whitelist", "pipe", "-nofind_stream_info",
		"-f", "rawvideo", "-pixel_format", b.format, "-video_size", fmt.Sprintf("%dx%d", b.width, b.height), "-i", "pipe:0",
		"-filter_threads", "1", "-vf", "setsar=1", // for the header
		"-frames:v", "1", "-threads", "1", "-c:v", "mjpeg", "-huffman", "default", "-pix_fmt", "yuvj420p", "-q:v", strconv.Itoa(jpegScale), "-flags", "+bitexact",
		"-f", "mjpeg", "pipe:1")
	in.Close()
	if err != nil {
		return nil, err
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		_, _ = feed.Write(b.pix) // what the encoder did not get it does not give back
		feed.Close()
	}()
	defer func() { <-fed }()
	out, err := io.ReadAll(io.LimitReader(stalling{p.stdout}, maxJPEG+1))
	switch {
	case err != nil:
	case len(out) > maxJPEG:
		err = fmt.Errorf("more than %d bytes", maxJPEG)
	default:
		err = io.EOF
	}
	if err := p.finish(ctx, err); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		// Whatever it is, it says nothing of the clip.
		return nil, fault.New(fault.Transient, "the encoder ended: %v", err)
	}
	if !whole(out) {
		return nil, fault.New(fault.Transient, "the encoder gave %d bytes, which are no picture: %s", len(out), &p.stderr)
	}
	return out, nil
}

// whole reports whether a JPEG has its beginning and its end.
func whole(b []byte) bool {
	n := len(b)
	return n > 4 && b[0] == 0xff && b[1] == 0xd8 && b[n-2] == 0xff && b[n-1] == 0xd9
}
