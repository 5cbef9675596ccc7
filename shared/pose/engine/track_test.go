package engine_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/pose/engine"
)

func bytesOf(t *testing.T, c pose.Chunk) string {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestResumedRunsAreEqual goes on after every chunk in turn, from its stored
// form, and wants the rest to the last byte.
func TestResumedRunsAreEqual(t *testing.T) {
	e := open(t, "lite")
	clip := root(t, "integration", "samples", "bowler.mp4")
	info, chunks := follow(t, e, clip)
	if len(chunks) != 3 || !chunks[2].Last || chunks[1].Last {
		t.Fatalf("%d chunks", len(chunks))
	}
	for i, c := range chunks {
		var stored pose.Chunk
		if err := json.Unmarshal([]byte(bytesOf(t, c)), &stored); err != nil {
			t.Fatal(err)
		}
		next := i + 1
		err := e.Track(t.Context(), clip, info, &stored, func(c pose.Chunk) error {
			if next >= len(chunks) {
				t.Fatalf("after chunk %d: chunk %d follows the last one", i, c.Index)
			}
			if bytesOf(t, c) != bytesOf(t, chunks[next]) {
				t.Errorf("after chunk %d: chunk %d differs from the uninterrupted run's", i, next)
			}
			next++
			return nil
		})
		if err != nil || next != len(chunks) {
			t.Errorf("after chunk %d: %d chunks in all, %v", i, next, err)
		}
	}
}

func TestStateOfAnotherVersionIsRefused(t *testing.T) {
	e := open(t, "lite")
	clip := root(t, "integration", "samples", "bowler.mp4")
	info, err := media.Probe(t.Context(), clip, media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{``, `{}`, `{"version":1,"model":"heavy","next":64,"chunk":64}`, `{"version":1,"model":"lite","next":64,"chunk":0}`, `{"version":99,"model":"lite","next":64,"chunk":64}`, `[1]`} {
		c := pose.Chunk{State: json.RawMessage(state)}
		if err := e.Track(t.Context(), clip, info, &c, func(pose.Chunk) error { return nil }); err == nil {
			t.Errorf("state %s was gone on from", state)
		}
	}
}

func TestEmitsErrorEndsTheRun(t *testing.T) {
	e := open(t, "lite")
	clip := root(t, "integration", "samples", "bowler.mp4")
	info, err := media.Probe(t.Context(), clip, media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("lease lost")
	n := 0
	err = e.Track(t.Context(), clip, info, nil, func(pose.Chunk) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d chunks", err, n)
	}
}

// ffmpeg makes a clip for a test.
func ffmpeg(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("ffmpeg", append([]string{"-nostdin", "-v", "error", "-y"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
}

// TestFollowsTheRunnerNotWhoStands puts a larger person, who stands still in
// view from the first frame, beside the bowler.
func TestFollowsTheRunnerNotWhoStands(t *testing.T) {
	e := open(t, "lite")
	tr := readTruth(t, root(t, "integration", "samples", "bowler.truth.json"))
	samples := root(t, "integration", "samples")
	clip := filepath.Join(t.TempDir(), "two.mp4")
	// One frame of the walking figure, enlarged, stands in 400 pixels added at
	// the left.
	ffmpeg(t, "-i", filepath.Join(samples, "bowler.mp4"), "-i", filepath.Join(samples, "not_bowling.mp4"), "-filter_complex",
		"[0]pad=iw+400:ih:400:0:color=0x6a8f4a[w];[1]trim=start_frame=80:end_frame=81,crop=260:460:x=500:y=200,scale=-2:640,loop=-1:1,setpts=N/60/TB[u];[w][u]overlay=x=10:y=H-h:shortest=1",
		"-c:v", "libx264", "-preset", "ultrafast", "-crf", "18", clip)
	_, chunks := follow(t, e, clip)
	near, tracked := 0, 0
	for i, f := range framesOf(chunks) {
		if len(f.Points) == 0 || i >= len(tr.Frames) {
			continue
		}
		tracked++
		want := tr.Frames[i].Joints["left_hip"]
		if d := f.Points[pose.LeftHip].X - 400 - want[0]; d > -100 && d < 100 {
			near++
		}
	}
	if near < 140 || tracked-near > 3 {
		t.Errorf("of %d tracked frames %d are the bowler's", tracked, near)
	}
}

func TestNobodyGivesNoPoints(t *testing.T) {
	e := open(t, "lite")
	clip := filepath.Join(t.TempDir(), "empty.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=30:duration=3", "-c:v", "libx264", "-preset", "ultrafast", clip)
	_, chunks := follow(t, e, clip)
	fs := framesOf(chunks)
	if len(fs) != 90 {
		t.Fatalf("%d frames", len(fs))
	}
	for _, f := range fs {
		if len(f.Points) != 0 || f.Score != 0 {
			t.Fatalf("frame %d has a person", f.Index)
		}
	}
}

func TestCutFileIsARefusal(t *testing.T) {
	e := open(t, "lite")
	b, err := os.ReadFile(root(t, "integration", "samples", "bowler.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	// Most of the bytes are there, so that Probe lets it through; frames are missing.
	whole := filepath.Join(t.TempDir(), "whole.mp4")
	if err := os.WriteFile(whole, b, 0o600); err != nil {
		t.Fatal(err)
	}
	front := filepath.Join(t.TempDir(), "front.mp4")
	ffmpeg(t, "-i", whole, "-c", "copy", "-movflags", "+faststart", front)
	if b, err = os.ReadFile(front); err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.mp4")
	if err := os.WriteFile(cut, b[:len(b)*82/100], 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := media.Probe(t.Context(), cut, media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	err = e.Track(t.Context(), cut, info, nil, func(pose.Chunk) error { return nil })
	var r *media.Refusal
	if !errors.As(err, &r) || r.Code != "media_cut" {
		t.Errorf("got %v, want media_cut", err)
	}
}

func TestWeightsAreChecked(t *testing.T) {
	models := need(t, root(t, "node_modules", "@mediapipe", "pose"))
	dir := t.TempDir()
	for _, name := range []string{"pose_solution_packed_assets.data", "pose_landmark_lite.tflite"} {
		b, err := os.ReadFile(filepath.Join(models, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".tflite") {
			b[len(b)/2] ^= 1
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lib := need(t, root(t, "node_modules", "onnxruntime-node", "bin", "napi-v6", "linux", "x64", "libonnxruntime.so.1"))
	_, err := engine.Open(engine.Config{ModelsDir: dir, ORTLibrary: lib, Model: "lite"})
	if err == nil || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("altered weights: %v", err)
	}
	if _, err := engine.Open(engine.Config{ModelsDir: dir, ORTLibrary: lib, Model: "enormous"}); err == nil {
		t.Error("a model that does not exist was opened")
	}
}
