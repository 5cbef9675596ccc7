package engine_test

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"fastbowlinglab/shared/pose"
)

var joints = []int{
	pose.LeftShoulder, pose.RightShoulder, pose.LeftElbow, pose.RightElbow, pose.LeftWrist, pose.RightWrist,
	pose.LeftHip, pose.RightHip, pose.LeftKnee, pose.RightKnee, pose.LeftAnkle, pose.RightAnkle,
}

// accuracy is how a track compares with a rendered clip's truth; distances in
// torso lengths.
type accuracy struct {
	frames, tracked int
	median, p95     float64 // of every joint in every tracked frame
	visible         float64 // median of those that the camera sees
	present         float64 // 95th percentile of those given as present
	absent          float64 // share of joints given as absent
	swaps           int     // pairs of elbows, wrists, knees or ankles that fit better exchanged
	releaseArm      float64 // largest error of the bowling arm's joints, three frames about release
}

func compare(tr truth, got []pose.Frame) accuracy {
	a := accuracy{frames: len(tr.Frames)}
	torso := tr.torso()
	var all, seen, present []float64
	for i, f := range got {
		if i >= len(tr.Frames) || len(f.Points) == 0 {
			continue
		}
		a.tracked++
		want := tr.Frames[i].Joints
		off := func(k, as int) float64 {
			w := want[pose.Name(as)]
			return math.Hypot(f.Points[k].X-w[0], f.Points[k].Y-w[1]) / torso
		}
		for _, k := range joints {
			all = append(all, off(k, k))
			if f.Points[k].Present() {
				present = append(present, off(k, k))
			}
			if tr.Frames[i].Visible[pose.Name(k)] {
				seen = append(seen, off(k, k))
			}
		}
		for _, k := range [...]int{pose.LeftElbow, pose.LeftWrist, pose.LeftKnee, pose.LeftAnkle} {
			o := pose.Opposite(k)
			right, exchanged := off(k, k)+off(o, o), off(k, o)+off(o, k)
			if right > 0.4 && exchanged < 0.7*right {
				a.swaps++
			}
		}
		if rel := tr.Events.Release.Frame; tr.Arm != "" && i >= rel-1 && i <= rel+1 {
			arm := [...]int{pose.RightShoulder, pose.RightElbow, pose.RightWrist}
			for _, k := range arm {
				if tr.Arm == "left" {
					k = pose.Opposite(k)
				}
				a.releaseArm = max(a.releaseArm, off(k, k))
			}
		}
	}
	a.median, a.p95, a.visible = quantile(all, 0.5), quantile(all, 0.95), quantile(seen, 0.5)
	a.present, a.absent = quantile(present, 0.95), 1-float64(len(present))/float64(max(1, len(all)))
	return a
}

// TestAccuracy holds tracking against rendered truth. With ACCURACY=all it runs
// every clip and prints the table of ../README.md.
func TestAccuracy(t *testing.T) {
	e := open(t, os.Getenv("MODEL"))
	clips := []string{"bowler"}
	if os.Getenv("ACCURACY") == "all" {
		clips = append(clips, "variants/bowler_left_arm", "variants/bowler_portrait", "variants/bowler_240fps", "not_bowling")
	}
	for _, clip := range clips {
		tr := readTruth(t, root(t, "integration", "samples", clip+".truth.json"))
		start := time.Now()
		_, chunks := follow(t, e, root(t, "integration", "samples", clip+".mp4"))
		ms := time.Since(start).Seconds() * 1000 / float64(len(tr.Frames))
		a := compare(tr, framesOf(chunks))
		fmt.Printf("| %s | %s | %d/%d | %.3f | %.3f | %.3f | %.3f | %.0f %% | %d | %.2f | %.0f |\n",
			clip, e.Model(), a.tracked, a.frames, a.median, a.p95, a.visible, a.present, 100*a.absent, a.swaps, a.releaseArm, ms)
		if a.tracked != a.frames {
			t.Errorf("%s: %d of %d frames tracked", clip, a.tracked, a.frames)
		}
		if a.median > 0.10 || a.p95 > 0.35 {
			t.Errorf("%s: joint error median %.3f, 95th percentile %.3f torso", clip, a.median, a.p95)
		}
		if a.swaps > 2 {
			t.Errorf("%s: %d exchanged pairs of joints", clip, a.swaps)
		}
		if a.releaseArm > 0.35 {
			t.Errorf("%s: the bowling arm is off by %.2f torso at release", clip, a.releaseArm)
		}
	}
}
