package engine_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"fastbowlinglab/shared/pose"
)

type xy = [2]float64

// TestAngles compares the angles in the picture that the product measures from
// these joints with those of the true joints. With ACCURACY=all it prints the
// table of ../README.md.
func TestAngles(t *testing.T) {
	e := open(t, os.Getenv("MODEL"))
	clips := []string{"variants/bowler_240fps"}
	if os.Getenv("ACCURACY") == "all" {
		clips = append(clips, "bowler", "variants/bowler_left_arm", "variants/bowler_portrait")
	}
	for _, clip := range clips {
		tr := readTruth(t, root(t, "integration", "samples", clip+".truth.json"))
		_, chunks := follow(t, e, root(t, "integration", "samples", clip+".mp4"))
		off := map[string][]float64{}
		for i, f := range framesOf(chunks) {
			if len(f.Points) == 0 {
				continue
			}
			got := func(k int) xy { return xy{f.Points[k].X, f.Points[k].Y} }
			want := func(k int) xy { return tr.Frames[i].Joints[pose.Name(k)] }
			for _, side := range [2]int{0, 1} {
				for name, j := range map[string][3]int{
					"elbow": {pose.LeftShoulder, pose.LeftElbow, pose.LeftWrist},
					"knee":  {pose.LeftHip, pose.LeftKnee, pose.LeftAnkle},
				} {
					a, b, c := j[0]+side, j[1]+side, j[2]+side
					if f.Points[a].Present() && f.Points[b].Present() && f.Points[c].Present() {
						off[name] = append(off[name], math.Abs(bend(got(a), got(b), got(c))-bend(want(a), want(b), want(c))))
					}
				}
			}
			d := math.Remainder(lean(got)-lean(want), 360)
			if tr.Travel == "left" {
				d = -d
			}
			off["trunk"] = append(off["trunk"], math.Abs(d))
			off["forward"] = append(off["forward"], d)
		}
		fmt.Printf("| %s | %s | %.1f, %.1f | %.1f, %.1f | %.1f, %.1f | %+.1f |\n", clip, e.Model(),
			quantile(off["elbow"], 0.5), quantile(off["elbow"], 0.95), quantile(off["knee"], 0.5), quantile(off["knee"], 0.95),
			quantile(off["trunk"], 0.5), quantile(off["trunk"], 0.95), quantile(off["forward"], 0.5))
		for name, most := range map[string]float64{"elbow": 10, "knee": 10, "trunk": 4} {
			if m := quantile(off[name], 0.5); m > most {
				t.Errorf("%s: %s off by %.1f degrees in the median", clip, name, m)
			}
		}
	}
}

// bend is the angle at b, 180 when straight.
func bend(a, b, c xy) float64 {
	v := math.Atan2(a[1]-b[1], a[0]-b[0]) - math.Atan2(c[1]-b[1], c[0]-b[0])
	return math.Abs(math.Remainder(v, 2*math.Pi)) * 180 / math.Pi
}

// lean is the trunk's angle to the vertical, to the right positive.
func lean(at func(int) xy) float64 {
	l, r, m, n := at(pose.LeftShoulder), at(pose.RightShoulder), at(pose.LeftHip), at(pose.RightHip)
	return math.Atan2(l[0]+r[0]-m[0]-n[0], m[1]+n[1]-l[1]-r[1]) * 180 / math.Pi
}
