package names

import (
	"testing"
	"time"
)

// The longest analysis that is let in is one that a pass ends in time, though two
// workers are lost on the way.
func TestTheLongestPassEndsInTime(t *testing.T) {
	const lost = 2 * (PoseHeartbeat + WakeTime)
	if PassTime+lost > PoseTimeout || PassTime+lost > AnalysingDeadline {
		t.Errorf("the longest pass takes %s, and two lost workers %s: more than %s", PassTime, lost, PoseTimeout)
	}
}

func TestPassTakes(t *testing.T) {
	ships := PassTakes(DefaultPoseModel)
	if took := ships(MaxFrames, 1280*720); took > PassTime {
		t.Errorf("%d frames of 1280 x 720, by the model that ships: %s, more than %s", MaxFrames, took, PassTime)
	}
	if took := ships(MaxClips*30*240, 1920*1080); took > PassTime {
		t.Errorf("%d clips of 30 s at 240 a second, 1920 x 1080: %s, more than %s", MaxClips, took, PassTime)
	}
	if took := PassTakes("heavy")(MaxFrames, 1280*720); took <= PassTime {
		t.Errorf("heavy ends %d frames in %s: what the README says of it is wrong", MaxFrames, took)
	}
	if a, b := PassTakes("unheard-of")(100, 1e6), PassTakes("heavy")(100, 1e6); a != b || b != 100*(140+26)*time.Millisecond {
		t.Errorf("a model that nobody has measured takes %s, heavy %s", a, b)
	}
}
