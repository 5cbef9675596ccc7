package media

import (
	"context"
	"errors"
)

var errUnderWork = errors.New("media: under work")

// Probe tells what the clip at src is.
func Probe(ctx context.Context, src string, lim Limits) (Info, error) { return Info{}, errUnderWork }

// Frame is one decoded picture: upright, square pixels, SDR, RGB.
type Frame struct {
	Index  int     // from 0
	Time   float64 // seconds from the clip's first shown frame, strictly rising
	Width  int
	Height int
	Pix    []byte // rgb24, 3*Width*Height bytes
}

// Options of Frames.
type Options struct {
	MaxSide int     // longer side of the pictures; 0 for the displayed size
	From    float64 // first time wanted, seconds from the clip's start
	Alloc   func(n int) []byte
}

// Frames decodes the clip and calls fn for each frame in order.
func Frames(ctx context.Context, src string, info Info, opt Options, fn func(Frame) error) error {
	return errUnderWork
}

// Still gives, as JPEG, the first frame at or after at.
func Still(ctx context.Context, src string, info Info, at float64, maxWidth int) ([]byte, error) {
	return nil, errUnderWork
}

// Sample gives n frames spread over the clip.
func Sample(ctx context.Context, src string, info Info, n, maxWidth int) ([]Frame, error) {
	return nil, errUnderWork
}
