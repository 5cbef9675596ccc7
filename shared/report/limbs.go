package report

import (
	"math"

	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/pose"
)

// FileLimb is a line of the skeleton in the phase's picture.
type FileLimb struct {
	Part string  `json:"part" doc:"bowling_arm, front_leg or body"`
	X1   float64 `json:"x1" doc:"one end, in pixels of the picture as displayed, from the left"`
	Y1   float64 `json:"y1" doc:"from the top"`
	X2   float64 `json:"x2" doc:"the other end"`
	Y2   float64 `json:"y2" doc:"from the top"`
	Sure bool    `json:"sure" doc:"false when an end was hidden or guessed"`
}

// fileLimbs gives the lines that the PDF draws on a phase's picture.
func fileLimbs(points []pose.Point, arm motion.Side) []FileLimb {
	out := []FileLimb{}
	if len(points) < pose.Landmarks {
		return out
	}
	for _, m := range skeleton(arm) {
		for _, l := range m.limbs {
			a, b := points[l.a], points[l.b]
			v := min(a.Visibility, b.Visibility)
			if v < seen {
				continue
			}
			out = append(out, FileLimb{m.part, tenth(a.X), tenth(a.Y), tenth(b.X), tenth(b.Y), v >= seenWell})
		}
	}
	return out
}

// tenth rounds to a tenth of a pixel.
func tenth(v float64) float64 { return math.Round(v*10) / 10 }
