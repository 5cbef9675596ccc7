package names

import (
	"testing"
	"time"
)

// The longest analysis that is let in is one that a pass ends in time, whatever model
// reads it, though two workers are lost on the way.
func TestTheLongestPassEndsInTime(t *testing.T) {
	const lost = 2 * (PoseHeartbeat + WakeTime)
	for model, speed := range PoseSpeed {
		took := time.Duration(FramesFor(model)/speed) * time.Second
		if took+lost > PoseTimeout || took+lost > AnalysingDeadline {
			t.Errorf("%s: %d frames take %s, and %s with two workers lost; the limit is %s", model, FramesFor(model), took, took+lost, PoseTimeout)
		}
	}
	if n := FramesFor(DefaultPoseModel); n != MaxFrames {
		t.Errorf("%s, the model that ships, reads %d frames; what athletes are told is %d", DefaultPoseModel, n, MaxFrames)
	}
	if n := FramesFor("heavy"); n >= MaxFrames || n != FramesFor("unheard-of") {
		t.Errorf("heavy reads %d frames, a model that nobody knows %d", n, FramesFor("unheard-of"))
	}
}
