package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/pose"
	"fastbowlinglab/shared/pose/engine"
)

// root gives a path inside the project.
func root(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(append([]string{dir}, elem...)...)
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// need skips a test, by name, where an input is missing.
func need(t testing.TB, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("skipped: %s is not here", path)
	}
	return path
}

// open opens the engine with the npm packages' files; MODEL overrides the model.
func open(t testing.TB, model string) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Config{
		ModelsDir:  need(t, root(t, "node_modules", "@mediapipe", "pose")),
		ORTLibrary: need(t, root(t, "node_modules", "onnxruntime-node", "bin", "napi-v6", "linux", "x64", "libonnxruntime.so.1")),
		Model:      model,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// follow tracks a whole clip and gives its chunks.
func follow(t testing.TB, e *engine.Engine, path string) (media.Info, []pose.Chunk) {
	t.Helper()
	info, err := media.Probe(t.Context(), path, media.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var chunks []pose.Chunk
	err = e.Track(t.Context(), path, info, nil, func(c pose.Chunk) error {
		chunks = append(chunks, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return info, chunks
}

func framesOf(chunks []pose.Chunk) (out []pose.Frame) {
	for _, c := range chunks {
		out = append(out, c.Frames...)
	}
	return out
}

// truth is the part of a rendered clip's truth that is compared.
type truth struct {
	Events struct {
		Release struct {
			Frame int `json:"frame"`
		} `json:"release"`
	} `json:"events"`
	Arm    string `json:"bowling_arm"`
	Travel string `json:"travel"`
	Frames []struct {
		Torso   float64               `json:"torso_px"`
		Joints  map[string][2]float64 `json:"joints_2d"`
		Visible map[string]bool       `json:"visible"`
		Angles  map[string]float64    `json:"angles"`
	} `json:"per_frame"`
}

func readTruth(t testing.TB, path string) truth {
	t.Helper()
	b, err := os.ReadFile(need(t, path))
	if err != nil {
		t.Fatal(err)
	}
	var tr truth
	if err := json.Unmarshal(b, &tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

// torso is the median torso length of the clip, in pixels.
func (tr truth) torso() float64 {
	var v []float64
	for _, f := range tr.Frames {
		v = append(v, f.Torso)
	}
	return quantile(v, 0.5)
}

func quantile(v []float64, q float64) float64 {
	s := append([]float64{}, v...)
	sort.Float64s(s)
	if len(s) == 0 {
		return 0
	}
	return s[min(len(s)-1, int(q*float64(len(s))))]
}
