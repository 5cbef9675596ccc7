package names

import "time"

// PoseSpeed is how many pictures a second a pass reads at least, by model, on a worker
// of one core: decoding included, of clips of any size within the limits, of which 4K
// is the slowest. functions/poseworker/README.md has the measurements.
var PoseSpeed = map[string]int{"lite": 12, "full": 10, "heavy": 5}

// PassTime is what the longest pass may take of PoseTimeout. The rest is for workers
// that are lost on the way, each of which costs a heartbeat and the start of another.
const PassTime = PoseTimeout - 20*time.Minute

// FramesFor is how many frames the clips of one analysis may have together where a
// model reads them: what a pass ends in time, and never more than MaxFrames. More would
// be worked on for hours and refunded all the same. A model that nobody has measured is
// held to be the slowest.
func FramesFor(model string) int {
	speed, known := PoseSpeed[model]
	if !known {
		for _, s := range PoseSpeed {
			if speed == 0 || s < speed {
				speed = s
			}
		}
	}
	return min(MaxFrames, speed*int(PassTime/time.Second))
}
