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

// JPEG encodes the frame.
func (f Frame) JPEG(ctx context.Context) ([]byte, error) {
	all, err := jpegs(ctx, []bitmap{{format: "rgb24", width: f.Width, height: f.Height, pix: f.Pix}})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// jpegs encodes pictures of one size and format with one ffmpeg, in a quarter of the
// time that image/jpeg takes: of five pictures, a third would be ffmpeg's start.
func jpegs(ctx context.Context, pictures []bitmap) ([][]byte, error) {
	b := pictures[0]
	out, err := encode(ctx, pictures)
	if err != nil {
		return nil, fmt.Errorf("encode %d pictures of %d x %d: %w", len(pictures), b.width, b.height, err)
	}
	return out, nil
}

func encode(ctx context.Context, pictures []bitmap) ([][]byte, error) {
	in, feed, err := os.Pipe()
	if err != nil {
		return nil, fault.Wrap(fault.Transient, err, "make a pipe")
	}
	defer feed.Close()
	widen(feed)
	b, n := pictures[0], strconv.Itoa(len(pictures))
	p, err := start(ctx, channels{input: in}, "ffmpeg", "-nostdin", "-hide_banner", "-v", "error", "-protocol_whitelist", "pipe", "-nofind_stream_info",
		"-f", "rawvideo", "-pixel_format", b.format, "-video_size", fmt.Sprintf("%dx%d", b.width, b.height), "-i", "pipe:0",
		"-filter_threads", "1", "-vf", "setsar=1", // for the header
		"-frames:v", n, "-threads", "1", "-c:v", "mjpeg", "-huffman", "default", "-pix_fmt", "yuvj420p", "-q:v", strconv.Itoa(jpegScale), "-flags", "+bitexact",
		"-fps_mode", "passthrough", "-f", "mjpeg", "pipe:1")
	in.Close()
	if err != nil {
		return nil, err
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		defer feed.Close()
		for _, b := range pictures {
			if _, err := feed.Write(b.pix); err != nil {
				return // what the encoder did not get it does not give back
			}
		}
	}()
	defer func() { <-fed }()
	most := maxJPEG * len(pictures)
	out, err := io.ReadAll(io.LimitReader(stalling{p.stdout}, int64(most)+1))
	switch {
	case err != nil:
	case len(out) > most:
		err = fmt.Errorf("more than %d bytes", most)
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
	all := apart(out)
	if len(all) != len(pictures) {
		return nil, fault.New(fault.Transient, "the encoder gave %d bytes, in which are %d whole pictures of %d: %s", len(out), len(all), len(pictures), &p.stderr)
	}
	return all, nil
}

// apart takes JPEGs apart that follow each other, as ITU-T T.81 marks their parts; none
// if any of them is not whole.
func apart(b []byte) (all [][]byte) {
	for len(b) > 0 {
		n := lengthOfJPEG(b)
		if n == 0 {
			return nil
		}
		all, b = append(all, b[:n:n]), b[n:]
	}
	return all
}

// lengthOfJPEG is that of the JPEG at the start of b, 0 if there is none that is whole.
func lengthOfJPEG(b []byte) int {
	const soi, eoi, sos = 0xd8, 0xd9, 0xda
	if len(b) < 2 || b[0] != 0xff || b[1] != soi {
		return 0
	}
	for i := 2; i+3 < len(b) && b[i] == 0xff; {
		segment := int(b[i+2])<<8 | int(b[i+3])
		scan := b[i+1] == sos
		if i += 2 + segment; !scan {
			continue
		}
		for ; i+1 < len(b); i++ { // in a scan, 0 follows each 0xff that is no marker
			if b[i] == 0xff && b[i+1] == eoi {
				return i + 2
			}
		}
	}
	return 0
}
