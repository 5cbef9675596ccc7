package media

import (
	"time"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

// Together bounds the work on several clips, taken in their order.
type Together struct {
	MaxFrames int
	MaxTime   time.Duration
	Takes     func(frames, pixels int) time.Duration // work on a clip

	frames int
	time   time.Duration
}

// DefaultTogether are the product's bounds on the clips of an analysis, whose pass is by
// a model.
func DefaultTogether(model string) *Together {
	return &Together{MaxFrames: names.MaxFrames, MaxTime: names.PassTime, Takes: names.PassTakes(model)}
}

// Fits refuses a clip that takes those before it and itself over the bounds. It does
// not count the clip.
func (t *Together) Fits(info Info) error {
	if took := t.time + t.takes(info, info.Frames); t.frames+info.Frames > t.MaxFrames || took > t.MaxTime {
		return refuse(reason.MediaTooLong, "%d frames of %d x %d after %d of other clips: %s of work; the limits are %d and %s",
			info.Frames, info.CodedWidth, info.CodedHeight, t.frames, took.Truncate(time.Second), t.MaxFrames, t.MaxTime)
	}
	return nil
}

// Add counts a clip that held so many frames, if they are more than it says.
func (t *Together) Add(info Info, held int) {
	n := max(info.Frames, held)
	t.frames, t.time = t.frames+n, t.time+t.takes(info, n)
}

func (t *Together) takes(info Info, frames int) time.Duration {
	return t.Takes(frames, max(info.CodedWidth*info.CodedHeight, info.Width*info.Height))
}
