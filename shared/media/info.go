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
	Width       int // as displayed: after pixel aspect and rotation
	Height      int
	Rotation    int  // degrees clockwise from stored to displayed: 0, 90, 180 or 270
	Mirrored    bool // the display matrix mirrors the picture; decoded frames are upright but left is right

	Duration   float64 // of the track, as shown
	Frames     int     // frames that should be shown; the measure of a cut file
	FrameRate  float64 // mean, frames a second
	Start      float64 // presentation time of the first shown frame, in the container's own time
	HDR        bool    // PQ or HLG transfer: mapped to SDR when decoded
	Interlaced bool
	SizeBytes  int64

	fileStart float64 // start of the whole file, to which ffmpeg's -ss is relative
	transfer  string  // color_transfer as probed
	edited    bool    // Frames is an estimate: an edit list hides some
}

// Limits bound a clip before any work is done on it. A zero field is no limit.
type Limits struct {
	MaxBytes     int64
	MaxPixels    int // of the stored picture
	MaxSide      int // of the stored picture
	MinSide      int // shorter side as displayed
	MaxDuration  time.Duration
	MinDuration  time.Duration
	MaxFrames    int
	MinFrames    int
	ProbeTimeout time.Duration // for all of Probe
}

// DefaultLimits are the product's limits: up to 4K, up to 10 minutes.
func DefaultLimits() Limits {
	return Limits{
		MaxBytes: 512 << 20, MaxPixels: 4096 * 2304, MaxSide: 4096, MinSide: 144,
		MaxDuration: 10 * time.Minute, MinDuration: 400 * time.Millisecond,
		MaxFrames: 20_000, MinFrames: 10, ProbeTimeout: 60 * time.Second,
	}
}

// Refusal says that a clip cannot be analysed and whose sentence the athlete
// gets. It is an answer about the file, never about the network or a bug: those
// come back as other errors, and may be tried again.
type Refusal struct {
	Code   reason.Code
	Detail string // for the log; holds no URL and no name
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Code, r.Detail) }

func refuse(c reason.Code, format string, a ...any) error {
	return &Refusal{Code: c, Detail: fmt.Sprintf(format, a...)}
}
