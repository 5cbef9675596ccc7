package motion

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fastbowlinglab/shared/motion/tracktest"
	"fastbowlinglab/shared/pose"
)

// landmarkNames are the 33 names in model order, as the truth files spell them.
var landmarkNames = strings.Fields(`nose left_eye_inner left_eye left_eye_outer right_eye_inner right_eye right_eye_outer
	left_ear right_ear mouth_left mouth_right left_shoulder right_shoulder left_elbow right_elbow left_wrist right_wrist
	left_pinky right_pinky left_index right_index left_thumb right_thumb left_hip right_hip left_knee right_knee
	left_ankle right_ankle left_heel right_heel left_foot_index right_foot_index`)

// repoFile gives a path inside the repository.
func repoFile(t testing.TB, elem ...string) string {
	t.Helper()
	d, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return filepath.Join(append([]string{d}, elem...)...)
		}
	}
	t.Fatal("no go.mod above the test")
	return ""
}

// jointsOf makes a track of the true joints of a rendered clip.
func jointsOf(t testing.TB, name string) pose.Track {
	t.Helper()
	file := repoFile(t, "integration", "samples", name+".truth.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("%s is missing", file)
	}
	var d struct {
		Width  int `json:"width"`
		Height int `json:"height"`
		Frames []struct {
			PTS    float64               `json:"pts"`
			Joints map[string][2]float64 `json:"joints_2d"`
		} `json:"per_frame"`
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	tr := pose.Track{Width: d.Width, Height: d.Height}
	for i, f := range d.Frames {
		pf := pose.Frame{Index: i, Time: f.PTS, Score: 1, Points: make([]pose.Point, pose.Landmarks)}
		for k, n := range landmarkNames {
			p, ok := f.Joints[n]
			if !ok {
				t.Fatalf("%s: frame %d has no %s", file, i, n)
			}
			pf.Points[k] = pose.Point{X: p[0], Y: p[1], Visibility: 0.95}
		}
		tr.Frames = append(tr.Frames, pf)
	}
	return tr
}

// each gives a copy of the track with every frame changed by f.
func each(t pose.Track, f func(i int, fr *pose.Frame)) pose.Track {
	out := t
	out.Frames = nil
	for i, fr := range t.Frames {
		fr.Points = append([]pose.Point{}, fr.Points...)
		f(i, &fr)
		out.Frames = append(out.Frames, fr)
	}
	return out
}

// swapSides exchanges left and right of all paired landmarks from k on.
func swapSides(fr *pose.Frame, from, to int) {
	for k := from; k < to; k += 2 {
		fr.Points[k], fr.Points[k+1] = fr.Points[k+1], fr.Points[k]
	}
}

// measure finds a measure that must be there.
func measure(t testing.TB, c Clip, name string, p PhaseName) Measure {
	t.Helper()
	for _, m := range c.Measures {
		if m.Name == name && m.Phase == p {
			return m
		}
	}
	t.Fatalf("no measure %s at %s", name, p)
	return Measure{}
}

func phaseTime(c Clip, p PhaseName) (float64, bool) {
	for _, x := range c.Phases {
		if x.Name == p {
			return x.Time, true
		}
	}
	return 0, false
}

// expectBowler checks a clip against the truth of the sample bowler.
func expectBowler(t *testing.T, c Clip, frames, degrees float64) {
	t.Helper()
	if c.Refused != "" || c.Arm != Right || c.Travel != "right" {
		t.Fatalf("refused %q, arm %q, travel %q; want a right-arm delivery to the right", c.Refused, c.Arm, c.Travel)
	}
	for p, want := range map[PhaseName]float64{BackFootContact: 1.1, FrontFootContact: 79.0 / 60, Release: 86.0 / 60} {
		got, ok := phaseTime(c, p)
		if !ok || math.Abs(got-want)*60 > frames {
			t.Errorf("%s at %.4f s (found %v), want %.4f within %.1f frames", p, got, ok, want, frames)
		}
	}
	for _, w := range []struct {
		name  string
		phase PhaseName
		want  float64
	}{{ElbowAngle, Release, 171.7 - bandElbow.offset}, {FrontKneeAngle, FrontFootContact, 168.1}, {FrontKneeAngle, Release, 168.2}, {TrunkForward, Release, 15.3}} {
		m := measure(t, c, w.name, w.phase)
		limit := degrees
		if w.phase == FrontFootContact { // the rendered knee springs by 10 degrees as it lands
			limit = math.Max(limit, 9)
		}
		if m.NotMeasured != "" || math.Abs(m.Value-w.want) > limit {
			t.Errorf("%s at %s: %.1f (%s), want %.1f within %.0f degrees", w.name, w.phase, m.Value, m.NotMeasured, w.want, limit)
		}
		if math.Abs(m.Value-w.want) > m.Band {
			t.Errorf("%s at %s: %.1f ± %.1f does not hold the truth %.1f", w.name, w.phase, m.Value, m.Band, w.want)
		}
	}
}

func TestTrueJoints(t *testing.T) {
	expectBowler(t, Analyse(0, jointsOf(t, "bowler")), 1, 4)
}

func TestTrueJointsDisturbed(t *testing.T) {
	clean := jointsOf(t, "bowler")
	for _, c := range []struct {
		name            string
		frames, degrees float64
		change          func(r *rand.Rand) pose.Track
	}{
		{"Noise", 2, 12, func(r *rand.Rand) pose.Track {
			return each(clean, func(_ int, fr *pose.Frame) {
				for k := range fr.Points {
					fr.Points[k].X += r.NormFloat64() * 2
					fr.Points[k].Y += r.NormFloat64() * 2
				}
			})
		}},
		{"ArmsExchangedBeforeRelease", 1, 5, func(*rand.Rand) pose.Track {
			return each(clean, func(i int, fr *pose.Frame) {
				if i >= 77 && i <= 83 && i != 82 {
					swapSides(fr, pose.LeftShoulder, pose.LeftHip)
				}
			})
		}},
		{"LegsExchangedNowAndThen", 1, 5, func(r *rand.Rand) pose.Track {
			return each(clean, func(i int, fr *pose.Frame) {
				if r.IntN(6) == 0 {
					swapSides(fr, pose.LeftHip, pose.Landmarks)
				}
			})
		}},
		{"StrayWrist", 1, 5, func(*rand.Rand) pose.Track {
			return each(clean, func(i int, fr *pose.Frame) {
				if i%9 == 5 {
					fr.Points[pose.RightWrist].X -= 120
				}
			})
		}},
		{"ZeroedPoints", 1, 5, func(r *rand.Rand) pose.Track {
			return each(clean, func(_ int, fr *pose.Frame) {
				for k := range fr.Points {
					if r.IntN(12) == 0 {
						fr.Points[k] = pose.Point{}
					}
				}
			})
		}},
		{"UntrackedFrames", 2, 8, func(r *rand.Rand) pose.Track {
			return each(clean, func(_ int, fr *pose.Frame) {
				if r.IntN(10) == 0 {
					fr.Points, fr.Score = nil, 0
				}
			})
		}},
		{"AnotherPersonForAMoment", 1, 5, func(*rand.Rand) pose.Track {
			return each(clean, func(i int, fr *pose.Frame) {
				if i >= 20 && i < 34 {
					for k := range fr.Points {
						fr.Points[k].X += 500
					}
				}
			})
		}},
		{"TwiceAsLarge", 1, 4, func(*rand.Rand) pose.Track {
			d := each(clean, func(_ int, fr *pose.Frame) {
				for k := range fr.Points {
					fr.Points[k].X, fr.Points[k].Y = 2*fr.Points[k].X, 2*fr.Points[k].Y
				}
			})
			d.Width, d.Height = 2*d.Width, 2*d.Height
			return d
		}},
		{"UnevenAndRepeatedTimes", 2, 6, func(r *rand.Rand) pose.Track {
			d := each(clean, func(i int, fr *pose.Frame) {
				switch i {
				case 30: // repeats the time before
					fr.Time = 29.0 / 60
				case 40: // goes back
					fr.Time = 0.1
				case 50:
					fr.Time = math.NaN()
				case 55: // far ahead
					fr.Time = 900
				}
			})
			return d
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectBowler(t, Analyse(0, c.change(rand.New(rand.NewPCG(7, 7)))), c.frames, c.degrees)
		})
	}
}

// TestMirroredTrack turns the right-arm bowler into a left-arm one running left.
func TestMirroredTrack(t *testing.T) {
	clean := jointsOf(t, "bowler")
	m := Analyse(0, mirrored(clean))
	if m.Refused != "" || m.Arm != Left || m.Travel != "left" {
		t.Fatalf("refused %q, arm %q, travel %q", m.Refused, m.Arm, m.Travel)
	}
	r := Analyse(0, clean)
	for i := range r.Measures {
		a, b := r.Measures[i], m.Measures[i]
		if a.Name != b.Name || math.Abs(a.Value-b.Value) > 0.11 || math.Abs(a.Band-b.Band) > 0.11 {
			t.Errorf("mirrored %s at %s: %.2f ± %.2f, want %.2f ± %.2f", a.Name, a.Phase, b.Value, b.Band, a.Value, a.Band)
		}
	}
}

// mirrored is the track of a bowler as a tracker sees him in a mirror.
func mirrored(t pose.Track) pose.Track {
	return each(t, func(_ int, fr *pose.Frame) {
		seen := slices.Clone(fr.Points)
		for k, p := range seen {
			p.X = float64(t.Width) - p.X
			fr.Points[pose.Opposite(k)] = p
		}
	})
}

// TestClipMarkedAsMirrored: a selfie camera's clip that says so. The arm is the
// athlete's own; what is seen stays as it is in the picture.
func TestClipMarkedAsMirrored(t *testing.T) {
	seen := mirrored(jointsOf(t, "bowler"))
	seen.Mirrored = true
	c := Analyse(0, seen)
	if c.Refused != "" || c.Arm != Right || c.Travel != "left" {
		t.Fatalf("refused %q, arm %q, travel %q; want the right arm, to the left", c.Refused, c.Arm, c.Travel)
	}
	if !slices.Contains(c.Warnings, mirrorWarning) {
		t.Errorf("the report does not say so: %q", c.Warnings)
	}
	for _, p := range c.Phases {
		if p.Name == Release && p.Points[pose.RightWrist].Y > p.Points[pose.LeftWrist].Y {
			t.Error("at release the wrist above is not named the right one")
		}
	}
}

// TestSeveralDeliveries: the clearest one is measured, and the report says so.
func TestSeveralDeliveries(t *testing.T) {
	one := jointsOf(t, "bowler")
	if c := Analyse(0, one); len(c.Warnings) > 0 && strings.Contains(strings.Join(c.Warnings, " "), "more deliver") {
		t.Errorf("one delivery: %q", c.Warnings)
	}
	two := one // the second one back from where the first one ended
	gap := one.Frames[len(one.Frames)-1].Time + 1.0/60
	for _, f := range mirrored(one).Frames {
		f.Index, f.Time = f.Index+len(one.Frames), f.Time+gap
		two.Frames = append(two.Frames[:len(two.Frames):len(two.Frames)], f)
	}
	far := one
	far.OtherRuns = 2
	for want, tr := range map[string]pose.Track{"one more delivery": two, "2 more deliveries": far} {
		if c := Analyse(0, tr); c.Refused != "" || !strings.Contains(strings.Join(c.Warnings, " "), want) {
			t.Errorf("refused %q; no warning of %s: %q", c.Refused, want, c.Warnings)
		}
	}
}

// TestAnArmCutOffByTheEdge: the model squeezes it into the picture, and is sure.
func TestAnArmCutOffByTheEdge(t *testing.T) {
	c := Analyse(0, tracktest.Read(t, "testdata/s108.full.json.gz"))
	if c.Refused != "" || c.Arm != Right {
		t.Fatalf("refused %q, arm %q", c.Refused, c.Arm)
	}
	for _, name := range []string{ElbowAngle, ElbowExtension, ArmSpeed} {
		if m := measure(t, c, name, Release); m.NotMeasured != "the picture's edge cuts the arm off at that instant" {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if !strings.Contains(strings.Join(c.Warnings, " "), "room above the bowler") {
		t.Errorf("no advice: %q", c.Warnings)
	}
	if m := measure(t, c, FrontKneeAngle, Release); m.NotMeasured != "" {
		t.Errorf("the knee is in the picture, and not measured: %s", m.NotMeasured)
	}
}

// TestAFarElbowIsNotMeasured: the model reads it as nearly straight, whatever it is.
func TestAFarElbowIsNotMeasured(t *testing.T) {
	for clip, far := range map[string]bool{"s101": true, "s111": true, "s1": false, "s2": false} {
		c := Analyse(0, tracktest.Read(t, "testdata/"+clip+".full.json.gz"))
		for _, name := range []string{ElbowAngle, ElbowExtension} {
			if m := measure(t, c, name, Release); (m.NotMeasured == farElbow) != far || far && m.Value != 0 {
				t.Errorf("%s: %+v, on the far side: %v", clip, m, far)
			}
		}
		drawn := 0
		for _, s := range c.Series {
			for _, v := range s.Values {
				if s.Name == SeriesElbow && v != nil {
					drawn++
				}
			}
		}
		if (drawn == 0) != far {
			t.Errorf("%s: the elbow's curve has %d values, on the far side: %v", clip, drawn, far)
		}
		if m := measure(t, c, FrontKneeAngle, Release); m.NotMeasured != "" {
			t.Errorf("%s: the knee is not measured: %s", clip, m.NotMeasured)
		}
	}
}

// TestLowRateWithholds checks that what a frame rate cannot support is not given.
func TestLowRateWithholds(t *testing.T) {
	clean := jointsOf(t, "bowler")
	slow := clean
	slow.Frames = nil
	for i := 0; i < len(clean.Frames); i += 3 {
		f := clean.Frames[i]
		f.Index = i / 3
		slow.Frames = append(slow.Frames, f)
	}
	c := Analyse(0, slow)
	if c.Refused != "" {
		t.Fatalf("20 frames a second: refused %s", c.Refused)
	}
	if m := measure(t, c, ElbowExtension, Release); m.NotMeasured == "" || m.Value != 0 || m.Confidence != 0 {
		t.Errorf("elbow extension at 20 frames a second: %+v", m)
	}
	if len(c.Warnings) == 0 || !strings.Contains(c.Warnings[0], "120 to 240 frames a second") {
		t.Errorf("no advice on the frame rate: %q", c.Warnings)
	}
}
