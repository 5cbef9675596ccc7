package media

import (
	"fmt"
	"time"

	"fastbowlinglab/shared/reason"
)

// Info is what a clip is, as found in its content. Sizes are in pixels, times
// in seconds.
type Info struct {
	Container string // demuxer: mov, matroska, mpegts or avi
	Codec     string // as ffmpeg names it: h264, hevc, ...
	Stream    int    // index of the chosen video track in the file

	CodedWidth  int // as stored
	CodedHeight int
	Width       int  // as displayed: after pixel aspect and rotation
	Height      int  //
	Turn        Turn // from stored to displayed
	Mirrored    bool // the display matrix mirrors the picture: the athlete's left may be right

	Duration   float64 // of the track, as shown
	Frames     int     // frames that should be shown: the measure of a cut file
	Edited     bool    // an edit list hides some, so that Frames is an estimate
	FrameRate  float64 // mean, frames a second; never 0
	Start      float64 // presentation time of the first shown frame, in the container's time; NaN after Open
	FileStart  float64 // start of the file's earliest track, in the container's time
	Transfer   string  // colour transfer as ffmpeg names it
	HDR        bool    // PQ or HLG: mapped to SDR when decoded
	Interlaced bool    // de-interlaced when decoded
	SizeBytes  int64

	pixels, matrix, colourRange string // pixel format and colours as ffmpeg names them

	limits Limits
	kept   *kept // what was found by reading, for the next reader; nil when it is not kept
}

// Limits bound a clip before any work is done on it. A zero field is no limit.
type Limits struct {
	MaxBytes    int64
	MaxPixels   int // of the stored and of the displayed picture
	MaxSide     int // the same
	MinSide     int // shorter side as displayed
	MaxDuration time.Duration
	MinDuration time.Duration
	MaxFrames   int
	MinFrames   int
}

// DefaultLimits are the product's limits: up to 4K, up to 10 minutes.
func DefaultLimits() Limits {
	return Limits{
		MaxBytes: 512 << 20, MaxPixels: 4096 * 2304, MaxSide: 4096, MinSide: 144,
		MaxDuration: 10 * time.Minute, MinDuration: 400 * time.Millisecond,
		MaxFrames: 20_000, MinFrames: 10,
	}
}

// Refusal says that a clip cannot be analysed; its code has a sentence for the
// athlete. It is an answer about the file, never about the network or a bug:
// those come back as other errors, named by package fault.
type Refusal struct {
	Code   reason.Code
	Detail string // for the log; holds no URL and no name

	hung bool // a program gave nothing for too long
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Code, r.Detail) }

func refuse(c reason.Code, format string, a ...any) error {
	return &Refusal{Code: c, Detail: fmt.Sprintf(format, a...)}
}

// FitWidth gives the size of the picture scaled down to at most maxWidth
// pixels wide as displayed, aspect kept; 0 is the displayed size.
func (i Info) FitWidth(maxWidth int) (w, h int) {
	if maxWidth <= 0 || i.Width <= maxWidth {
		return i.Width, i.Height
	}
	return maxWidth, max(1, (i.Height*maxWidth+i.Width/2)/i.Width)
}

// FitSide gives the size of the picture scaled down so that its longer side is
// at most maxSide pixels.
func (i Info) FitSide(maxSide int) (w, h int) {
	if maxSide <= 0 || max(i.Width, i.Height) <= maxSide {
		return i.Width, i.Height
	}
	if i.Width >= i.Height {
		return i.FitWidth(maxSide)
	}
	return max(1, (i.Width*maxSide+i.Height/2)/i.Height), maxSide
}
