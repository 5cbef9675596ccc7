package media_test

import (
	"context"
	"os"
	"sync/atomic"
	"testing"

	"fastbowlinglab/shared/media"
)

func TestPulseBeatsWithEveryPictureTaken(t *testing.T) {
	const clip = "../../integration/samples/bowler.mp4"
	if _, err := os.Stat(clip); err != nil {
		t.Skip(err)
	}
	info, err := media.Probe(t.Context(), clip, media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var beats atomic.Int32
	ctx := media.WithPulse(context.Background(), func() { beats.Add(1) })
	taken := int32(0)
	err = media.Frames(ctx, clip, info, media.Options{MaxSide: 160}, func(media.Frame) error {
		if beats.Load() != taken {
			t.Errorf("%d beats after %d pictures taken", beats.Load(), taken)
		}
		taken++
		if taken == 20 {
			return media.ErrStop
		}
		return nil
	})
	if err != nil || beats.Load() != 19 {
		t.Errorf("%d beats, %v; the picture that ended it was not taken", beats.Load(), err)
	}
}
