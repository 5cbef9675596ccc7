package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/reason"
)

// root is the folder of go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

// need gives the path of an input, skipping the test when it is not there.
func need(t testing.TB, parts ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{root(t)}, parts...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("%s is not here", filepath.Join(parts...))
	}
	return p
}

var installed = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "report-fonts-")
	if err != nil {
		return "", err
	}
	wd, _ := os.Getwd()
	for wd != "/" {
		if _, err := os.Stat(filepath.Join(wd, "go.mod")); err == nil {
			break
		}
		wd = filepath.Dir(wd)
	}
	_, err = InstallFonts(filepath.Join(wd, "node_modules", "@expo-google-fonts"), dir)
	return dir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := installed(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func reporter(t testing.TB) *Reporter {
	t.Helper()
	need(t, "node_modules", "@expo-google-fonts")
	dir, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// truth is what the tests read of a rendered clip's ground truth.
type truth struct {
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	FPS      float64 `json:"fps"`
	PerFrame []struct {
		Frame   int                   `json:"frame"`
		PTS     float64               `json:"pts"`
		Joints  map[string][2]float64 `json:"joints_2d"`
		Visible map[string]bool       `json:"visible"`
	} `json:"per_frame"`
}

// landmarkNames are the 33 points in order, as the truth names them.
var landmarkNames = strings.Fields(`nose left_eye_inner left_eye left_eye_outer right_eye_inner right_eye
	right_eye_outer left_ear right_ear mouth_left mouth_right left_shoulder right_shoulder left_elbow right_elbow
	left_wrist right_wrist left_pinky right_pinky left_index right_index left_thumb right_thumb left_hip right_hip
	left_knee right_knee left_ankle right_ankle left_heel right_heel left_foot_index right_foot_index`)

// rendered analyses a rendered clip from its true joints, as if a perfect
// tracker had found them.
func rendered(t testing.TB, clip string) motion.Clip {
	t.Helper()
	data, err := os.ReadFile(need(t, "..", "shared", "samples", clip+".truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tr truth
	if err := json.Unmarshal(data, &tr); err != nil {
		t.Fatal(err)
	}
	track := pose.Track{Width: tr.Width, Height: tr.Height}
	for _, f := range tr.PerFrame {
		fr := pose.Frame{Index: f.Frame, Time: f.PTS, Score: 1}
		for _, n := range landmarkNames {
			j, v := f.Joints[n], 0.97
			if !f.Visible[n] {
				v = 0.4
			}
			fr.Points = append(fr.Points, pose.Point{X: j[0], Y: j[1], Visibility: v})
		}
		track.Frames = append(track.Frames, fr)
	}
	return motion.Analyse(0, track)
}

var frameCache sync.Map

// frames cuts frames out of a rendered clip as JPEGs.
func frames(t testing.TB, clip string, ns []int) {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not here")
	}
	want := make([]string, len(ns))
	for i, n := range ns {
		want[i] = fmt.Sprintf("eq(n\\,%d)", n)
	}
	var out, msg bytes.Buffer
	cmd := exec.Command("ffmpeg", "-v", "error", "-i", need(t, "..", "shared", "samples", clip+".mp4"),
		"-vf", "select="+strings.Join(want, "+"), "-fps_mode", "passthrough", "-q:v", "3", "-f", "image2pipe", "-c:v", "mjpeg", "-")
	cmd.Stdout, cmd.Stderr = &out, &msg
	if err := cmd.Run(); err != nil {
		t.Fatalf("cut frames of %s: %v: %s", clip, err, msg.String())
	}
	soi := []byte{0xFF, 0xD8, 0xFF}
	parts := bytes.Split(out.Bytes(), soi)[1:]
	if len(parts) != len(ns) {
		t.Fatalf("cut frames of %s: %d of %d", clip, len(parts), len(ns))
	}
	for i, p := range parts {
		frameCache.Store(fmt.Sprintf("%s#%d", clip, ns[i]), append(bytes.Clone(soi), p...))
	}
}

// sample is a whole analysis made from the rendered clips.
func sample(t testing.TB, clips ...string) Input {
	t.Helper()
	in := Input{
		AnalysisID: "an-k3v7m2q4x5z6a7b8c9d0e1f2g3", Attempt: 1, Athlete: "Kavin Sridharan", TimeZone: "Asia/Colombo",
		Submitted: time.Date(2026, 3, 31, 20, 30, 0, 0, time.UTC),
		Result:    motion.Result{Version: motion.ResultVersion, Engine: "ONNX Runtime 1.30.0", Model: "full"},
		Findings: Findings{Author: aitask.Author{Provider: aitask.RulesProvider, Model: "rules", Version: "1"}, FindingsText: aitask.FindingsText{
			Summary: "A braced front leg and an upright arm. The trunk leans less at release than in most bowlers of this pace.",
			Items: []aitask.Finding{
				{Title: "The front leg is braced", Kind: aitask.Strength, Detail: "The front knee stays close to straight from landing to release. A braced leg lets the run-up turn into ball speed: the hip stops and the trunk and arm go on over it.", Evidence: []string{"Front knee angle at release 168° ± 9°"}},
				{Title: "The trunk stays upright at release", Kind: aitask.WorkOn, Detail: "At release the trunk leans forward by 15°, less than what is usual with this arm path. Some of the speed that the body could give is lost.", Evidence: []string{"Trunk lean, forward, at release 15° ± 6°"}},
				{Title: "Release comes soon after landing", Kind: aitask.Observation, Detail: "The ball leaves the hand 0.12 s after the front foot lands, which is quick and goes with a braced leg.", Evidence: []string{"Front foot to release 0.12 s ± 0.02 s"}},
				{Title: "The side-on view hides the sideways lean", Kind: aitask.Limits, Detail: "Film one delivery from behind as well to have it measured."},
			}}},
		Coaching: Coaching{Author: aitask.Author{Provider: aitask.RulesProvider, Model: "rules", Version: "1"}, CoachingText: aitask.CoachingText{
			Summary: "One thing to keep, one to work on.",
			Safety:  "Warm up first, stop when something hurts, and count these balls towards the week's limit.",
			Drills: []aitask.Drill{
				{Title: "Wall drill for the braced leg", Purpose: "Keeps the front knee firm as the body comes over it.", Steps: []string{"Stand side on, a stride from a wall, front foot planted.", "Push the hips forward until the hand touches the wall, without letting the knee bend.", "Hold for two seconds."}, Dose: "3 sets of 8, twice a week", Finding: "The front leg is braced"},
				{Title: "Follow-through over the front leg", Purpose: "Lets the trunk go on over the braced leg.", Steps: []string{"Bowl from a standing start at half pace.", "Finish with the bowling hand past the outside of the front knee."}, Dose: "4 sets of 6", Finding: "The trunk stays upright at release"},
			}}},
		Frame: func(_ context.Context, key string) ([]byte, error) {
			if b, ok := frameCache.Load(key); ok {
				return b.([]byte), nil
			}
			return nil, ErrNoFrame
		},
	}
	for i, name := range clips {
		if name == "" {
			in.Result.Clips = append(in.Result.Clips, motion.Clip{Index: i, Refused: reason.MediaCut})
			in.ClipNames = append(in.ClipNames, "IMG_0042.MOV")
			continue
		}
		c := rendered(t, name)
		c.Index = i
		var missing []int
		for j := range c.Phases {
			key := fmt.Sprintf("%s#%d", name, c.Phases[j].Frame)
			c.Phases[j].FrameKey = key
			if _, ok := frameCache.Load(key); !ok {
				missing = append(missing, c.Phases[j].Frame)
			}
		}
		if len(missing) > 0 {
			frames(t, name, missing)
		}
		in.Result.Clips = append(in.Result.Clips, c)
		in.ClipNames = append(in.ClipNames, filepath.Base(name)+".mp4")
	}
	return in
}

// build makes a report and fails the test if it cannot.
func build(t testing.TB, r *Reporter, in Input) (pdf, js []byte) {
	t.Helper()
	pdf, js, err := r.Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, pdf, js)
	return pdf, js
}

// keep writes the report where REPORT_OUT says, to be looked at.
func keep(t testing.TB, pdf, js []byte) {
	dir := os.Getenv("REPORT_OUT")
	if dir == "" {
		return
	}
	name := filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "_"))
	os.WriteFile(name+".pdf", pdf, 0o644)
	os.WriteFile(name+".json", js, 0o644)
}
