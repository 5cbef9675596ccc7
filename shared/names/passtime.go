package names

import "time"

// PassTime is what the longest pass may take of PoseTimeout. The rest is for workers
// that are lost on the way, each of which costs a heartbeat and the start of another.
const PassTime = PoseTimeout - 20*time.Minute

// What one frame takes at most on a worker of one core: poseTimes is a model's part,
// with the bowler in every frame; megapixelTime is for decoding a million pixels twice
// and bringing the colours of HDR down. functions/poseworker/README.md has the
// measurements; those of an ordinary clip are a third to a half lower.
var poseTimes = map[string]time.Duration{
	"lite": 40 * time.Millisecond, "full": 50 * time.Millisecond, "heavy": 140 * time.Millisecond,
}

const megapixelTime = 26 * time.Millisecond

// PassTakes tells how long a pass by a model may take for so many frames of so many
// pixels each. Clips that together take longer than PassTime are not begun: they would
// be worked on for hours and refunded all the same. A model that nobody has measured is
// held to be as slow as the slowest.
func PassTakes(model string) func(frames, pixels int) time.Duration {
	each, known := poseTimes[model]
	if !known {
		for _, t := range poseTimes {
			each = max(each, t)
		}
	}
	return func(frames, pixels int) time.Duration {
		return time.Duration(float64(frames) * (float64(each) + float64(megapixelTime)*float64(pixels)/1e6))
	}
}
