package media_test

import (
	"errors"
	"testing"
	"time"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

func TestTogether(t *testing.T) {
	clip := func(frames int) media.Info {
		return media.Info{Frames: frames, Width: 10, Height: 10, CodedWidth: 10, CodedHeight: 10}
	}
	byPixel := func(frames, pixels int) time.Duration { return time.Duration(frames*pixels) * time.Second }
	for _, c := range []struct {
		name string
		all  media.Together
	}{
		{"Frames", media.Together{MaxFrames: 60, MaxTime: time.Hour * 24, Takes: byPixel}},
		{"Time", media.Together{MaxFrames: 1000, MaxTime: 60 * 100 * time.Second, Takes: byPixel}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := c.all
			if err := all.Fits(clip(60)); err != nil {
				t.Errorf("one clip of all that there may be: %v", err)
			}
			all.Add(clip(30), 20)
			all.Add(clip(10), 20) // it held more than it said
			if err := all.Fits(clip(10)); err != nil {
				t.Errorf("as many as are left: %v", err)
			}
			var r *media.Refusal
			if err := all.Fits(clip(11)); !errors.As(err, &r) || r.Code != reason.MediaTooLong {
				t.Errorf("one more than are left: %v", err)
			}
			if err := all.Fits(clip(10)); err != nil {
				t.Errorf("a clip that was refused took some: %v", err)
			}
		})
	}
}

// A clip by itself that is within the limits is within the time of a pass by the model
// that ships.
func TestOneClipWithinTheLimitsFits(t *testing.T) {
	l := media.DefaultLimits()
	all := media.DefaultTogether(names.DefaultPoseModel)
	if err := all.Fits(media.Info{Frames: l.MaxFrames, CodedWidth: l.MaxPixels / 2160, CodedHeight: 2160}); err != nil {
		t.Error(err)
	}
}
