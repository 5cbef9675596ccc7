package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/usage"
)

// truth is what the sample's generator knows.
type truth struct {
	Events map[string]struct {
		Frame int     `json:"frame"`
		Pts   float64 `json:"pts"`
	} `json:"events"`
	AtRelease map[string]float64 `json:"at_release"`
}

// measured is the part of report.json that is compared with the truth.
type measured struct {
	Clips []struct {
		Phases []struct {
			Name  string  `json:"name"`
			Time  float64 `json:"time"`
			Frame int     `json:"frame"`
		} `json:"phases"`
		Measures []struct {
			Name  string  `json:"name"`
			Phase string  `json:"phase"`
			Value float64 `json:"value"`
		} `json:"measures"`
	} `json:"clips"`
}

func TestMainJob(t *testing.T) {
	w := start(t)
	first := w.demo(sample(t, "bowler.mp4"), "")
	w.end(first, analysis.Ready, "")
	oneCallEach(t, first.Bill, "precheck", "findings", "coaching")
	if pdf, err := os.ReadFile(first.ReportPDF); err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Errorf("report.pdf: %v, starts with %.8q", err, pdf)
	}
	compare(t, first.ReportJSON)

	again := w.demo(sample(t, "bowler.mp4"), "")
	if again.AnalysisID != first.AnalysisID || !again.Replayed {
		t.Errorf("the same clip and key again: analysis %s, replayed %t; want %s, true", again.AnalysisID, again.Replayed, first.AnalysisID)
	}
	w.end(again, analysis.Ready, "")
}

// oneCallEach asserts that each of the tasks was called once, and no other.
func oneCallEach(t *testing.T, bill usage.Bill, tasks ...string) {
	t.Helper()
	calls := map[string]int{}
	for _, l := range bill.Lines {
		calls[l.Task]++
	}
	want := map[string]int{}
	for _, task := range tasks {
		want[task] = 1
	}
	if !maps.Equal(calls, want) {
		t.Errorf("model calls %v, want %v", calls, want)
	}
}

// compare checks a report of the rendered clip against its truth: the release
// frame within 2, elbow and front knee at release within 15 degrees.
func compare(t *testing.T, report string) {
	t.Helper()
	var want truth
	var got measured
	for path, v := range map[string]any{sample(t, "bowler.truth.json"): &want, report: &got} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatalf("%s: %v", filepath.Base(path), err)
		}
	}
	if len(got.Clips) != 1 {
		t.Fatalf("%d clips in report.json, want 1", len(got.Clips))
	}
	c, found := got.Clips[0], 0
	for _, p := range c.Phases {
		if e, ok := want.Events[p.Name]; ok {
			found++
			t.Logf("%s: frame %d, truth %d", p.Name, p.Frame, e.Frame)
			if p.Name == "release" && math.Abs(float64(p.Frame-e.Frame)) > 2 {
				t.Errorf("release at frame %d, truth %d", p.Frame, e.Frame)
			}
		}
	}
	for _, m := range c.Measures {
		key := map[string]string{"elbow_angle": "bowling_elbow_2d", "front_knee_angle": "front_knee_2d"}[m.Name]
		if m.Phase != "release" || key == "" {
			continue
		}
		found++
		t.Logf("%s at release: %.1f, truth %.1f", m.Name, m.Value, want.AtRelease[key])
		if math.Abs(m.Value-want.AtRelease[key]) > 15 {
			t.Errorf("%s at release: %.1f, truth %.1f", m.Name, m.Value, want.AtRelease[key])
		}
	}
	if found != 5 {
		t.Errorf("found %d of 3 phases and 2 angles in report.json", found)
	}
}

func TestRefusedClips(t *testing.T) {
	w := start(t)
	dir := t.TempDir()
	file := func(name string, body []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, body, 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole, err := os.ReadFile(sample(t, "bowler.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, clip string
		why        reason.Code
		calls      []string
	}{
		{"NotBowling", sample(t, "not_bowling.mp4"), reason.NotBowling, []string{"precheck"}},
		{"Empty", file("empty.mp4", nil), reason.MediaEmpty, nil},
		{"Text", file("text.mp4", []byte("this is not a video\n")), reason.MediaNotVideo, nil},
		{"Half", file("half.mp4", whole[:len(whole)/2]), reason.MediaCut, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &world{Cloud: w.Cloud, t: t, dir: t.TempDir(), db: w.db}
			sum := w.demo(tc.clip, "")
			w.end(sum, analysis.Rejected, string(tc.why))
			oneCallEach(t, sum.Bill, tc.calls...)
		})
	}
}

// Real bowlers, who are never committed.
func TestFootage(t *testing.T) {
	clips, err := filepath.Glob(filepath.Join(root(t), "..", "shared", "footage", "*.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	if len(clips) == 0 {
		t.Skip("../shared/footage is not here: no real footage to analyse")
	}
	w := start(t)
	for _, clip := range clips {
		t.Run(filepath.Base(clip), func(t *testing.T) {
			w := &world{Cloud: w.Cloud, t: t, dir: t.TempDir(), db: w.db}
			w.end(w.demo(clip, ""), analysis.Ready, "")
		})
	}
}
