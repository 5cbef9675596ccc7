// Package vision is what the pose worker sees with: media, the pose engine and
// the measurement of motion, as one value. It needs cgo; the worker around it
// does not.
package vision

import (
	"context"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/pose/engine"
)

// Vision is the real poseworker.Vision.
type Vision struct {
	Limits  media.Limits
	Tracker *engine.Engine
}

// Engine implements poseworker.Vision.
func (v Vision) Engine() string { return v.Tracker.Name() }

// Model implements poseworker.Vision.
func (v Vision) Model() string { return v.Tracker.Model() }

// Probe implements poseworker.Vision. What is decoded of the clip is kept for those
// who read it next, until the Info is released.
func (v Vision) Probe(ctx context.Context, src string) (media.Info, error) {
	return media.Open(ctx, src, v.Limits)
}

// Track implements poseworker.Vision.
func (v Vision) Track(ctx context.Context, src string, info media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	return v.Tracker.Track(ctx, src, info, after, emit)
}

// Stills implements poseworker.Vision.
func (v Vision) Stills(ctx context.Context, src string, info media.Info, at []float64, maxWidth int, each func(i int, jpeg []byte, err error)) {
	media.Stills(ctx, src, info, at, maxWidth, each)
}

// Analyse implements poseworker.Vision.
func (v Vision) Analyse(clip int, track pose.Track, _ media.Info) motion.Clip {
	return motion.Analyse(clip, track)
}
