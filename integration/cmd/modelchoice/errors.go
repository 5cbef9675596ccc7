package main

import (
	"fmt"
	"math"
	"time"

	"fastbowlinglab/shared/pose"
)

// truth is what is read of a rendered clip's ground truth.
type truth struct {
	Label  string `json:"label"`
	Arm    string `json:"bowling_arm"`
	Travel string `json:"travel"`
	Events map[string]struct {
		PTS float64 `json:"pts"`
	} `json:"events"`
	Frames []struct {
		Torso  float64               `json:"torso_px"`
		Joints map[string][2]float64 `json:"joints_2d"`
	} `json:"per_frame"`
}

// errors of a model about the delivery: angles in degrees as seen in the picture,
// the bowling wrist's distance in torso lengths, and the frames in which the other
// wrist is where the bowling one should be.
type errors struct {
	elbow, knee, trunk, wrist []float64
	exchanged                 int
}

func (e *errors) add(o errors) {
	e.elbow, e.knee = append(e.elbow, o.elbow...), append(e.knee, o.knee...)
	e.trunk, e.wrist = append(e.trunk, o.trunk...), append(e.wrist, o.wrist...)
	e.exchanged += o.exchanged
}

func (e errors) row(clip, model string, cpu time.Duration, frames int) string {
	two := func(v []float64, places int) string {
		return fmt.Sprintf("%.*f, %.*f", places, quantile(v, .5), places, quantile(v, .95))
	}
	return fmt.Sprintf("| %s | %s | %d | %s | %s | %s | %s | %d | %.0f |", clip, model, len(e.wrist),
		two(e.elbow, 1), two(e.knee, 1), two(e.trunk, 1), two(e.wrist, 2), e.exchanged, cpu.Seconds()*1000/float64(max(1, frames)))
}

type point [2]float64

// indices of the joints of the left side; the right one's follows each.
var left = map[string]int{"shoulder": pose.LeftShoulder, "elbow": pose.LeftElbow, "wrist": pose.LeftWrist,
	"hip": pose.LeftHip, "knee": pose.LeftKnee, "ankle": pose.LeftAnkle}

// against compares a track with the truth from back-foot contact to 0.05 s after release.
func (t truth) against(track []pose.Frame) errors {
	var out errors
	front := "right"
	if t.Arm == "right" {
		front = "left"
	}
	for i, f := range track {
		if i >= len(t.Frames) || len(f.Points) == 0 ||
			f.Time < t.Events["back_foot_contact"].PTS || f.Time > t.Events["release"].PTS+.05 {
			continue
		}
		seen := func(side, joint string) point {
			k := left[joint]
			if side == "right" {
				k = pose.Opposite(k)
			}
			return point{f.Points[k].X, f.Points[k].Y}
		}
		is := func(side, joint string) point { return t.Frames[i].Joints[side+"_"+joint] }
		off := func(side string, a, b, c string) float64 {
			return math.Abs(angle(seen(side, a), seen(side, b), seen(side, c)) - angle(is(side, a), is(side, b), is(side, c)))
		}
		out.elbow = append(out.elbow, off(t.Arm, "shoulder", "elbow", "wrist"))
		out.knee = append(out.knee, off(front, "hip", "knee", "ankle"))
		out.trunk = append(out.trunk, math.Abs(lean(seen)-lean(is)))
		w := is(t.Arm, "wrist")
		own, other := apart(seen(t.Arm, "wrist"), w)/t.Frames[i].Torso, apart(seen(front, "wrist"), w)/t.Frames[i].Torso
		out.wrist = append(out.wrist, own)
		if other < own-.3 {
			out.exchanged++
		}
	}
	return out
}

func apart(a, b point) float64 { return math.Hypot(a[0]-b[0], a[1]-b[1]) }

// angle at b in degrees.
func angle(a, b, c point) float64 {
	ux, uy, vx, vy := a[0]-b[0], a[1]-b[1], c[0]-b[0], c[1]-b[1]
	return math.Abs(math.Atan2(ux*vy-uy*vx, ux*vx+uy*vy)) * 180 / math.Pi
}

// lean of the trunk from the vertical in degrees, to the right.
func lean(at func(side, joint string) point) float64 {
	mid := func(j string) point {
		a, b := at("left", j), at("right", j)
		return point{(a[0] + b[0]) / 2, (a[1] + b[1]) / 2}
	}
	s, h := mid("shoulder"), mid("hip")
	return math.Atan2(s[0]-h[0], h[1]-s[1]) * 180 / math.Pi
}
