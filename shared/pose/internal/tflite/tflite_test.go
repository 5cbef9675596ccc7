package tflite

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// model reads one of the files of the npm package, skipped where it is missing.
func model(t testing.TB, name string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	b, err := os.ReadFile(filepath.Join(dir, "node_modules", "@mediapipe", "pose", name))
	if err != nil {
		t.Skipf("skipped: %s is not installed", name)
	}
	return b
}

const detector = "pose_solution_packed_assets.data"

func TestReadTheModels(t *testing.T) {
	for name, want := range map[string]struct{ side, outputs int }{
		detector: {224, 2}, "pose_landmark_lite.tflite": {256, 5}, "pose_landmark_full.tflite": {256, 5},
	} {
		m, err := Read(model(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h, w := m.InputSize(); h != want.side || w != want.side || len(m.Outputs()) != want.outputs {
			t.Errorf("%s: %d x %d, outputs %v", name, h, w, m.Outputs())
		}
		all := len(m.ops)
		if err := m.Keep("Identity", "Identity_1"); err != nil {
			t.Fatal(err)
		}
		if name != detector && len(m.ops) >= all {
			t.Errorf("%s: nothing was pruned of %d operators", name, all)
		}
		onnx, err := m.ONNX()
		if err != nil || len(onnx) < 1<<20 {
			t.Errorf("%s: %d bytes of ONNX, %v", name, len(onnx), err)
		}
		if err := m.Keep("Identity_9"); err == nil {
			t.Errorf("%s: an output that is not there was kept", name)
		}
	}
}

// TestCutFilesAreErrors cuts a model at many places and damages it at others.
func TestCutFilesAreErrors(t *testing.T) {
	whole := model(t, detector)[:2_962_288]
	for n := 0; n < len(whole); n += len(whole) / 40 {
		if m, err := Read(whole[:n]); err == nil {
			if _, err := m.ONNX(); err == nil {
				t.Errorf("%d of %d bytes were read as a model", n, len(whole))
			}
		}
	}
	for _, v := range []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff} {
		for at := 0; at < 400; at += 4 { // the root table, and what it points at
			b := append([]byte{}, whole[:min(len(whole), 3_000_000)]...)
			binary.LittleEndian.PutUint32(b[at:], v)
			if m, err := Read(b); err == nil {
				_, _ = m.ONNX() // an error or not: no panic
			}
			if at > 40 {
				at += 56
			}
		}
	}
}

func TestHalf(t *testing.T) {
	for h, want := range map[uint16]float32{
		0: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0400: 1.0 / 16384, 0x0001: 1.0 / (1 << 24), 0x3555: 0.33325195,
	} {
		if got := half(h); got != want {
			t.Errorf("%#04x: %g, want %g", h, got, want)
		}
	}
	if v := half(0x8000); v != 0 || !math.Signbit(float64(v)) {
		t.Errorf("minus zero: %g", v)
	}
	if v := half(0x7c00); !math.IsInf(float64(v), 1) {
		t.Errorf("infinity: %g", v)
	}
	if v := half(0x7e00); !math.IsNaN(float64(v)) {
		t.Errorf("not a number: %g", v)
	}
}

// TestDensify expands a 2 x 4 matrix whose rows are compressed, by hand:
// 0 5 0 7 / 6 0 0 0.
func TestDensify(t *testing.T) {
	w := sparseWalk{values: []float32{5, 7, 6}, shape: []int{2, 4}, order: []int{0, 1},
		dims: []dimension{{size: 2}, {compressed: true, segments: []int{0, 2, 3}, vals: []int{1, 3, 0}}},
		out:  make([]float32, 8), at: make([]int, 2)}
	if err := w.check(); err != nil {
		t.Fatal(err)
	}
	if err := w.walk(0, 0); err != nil {
		t.Fatal(err)
	}
	for i, v := range []float32{0, 5, 0, 7, 6, 0, 0, 0} {
		if w.out[i] != v {
			t.Fatalf("%v", w.out)
		}
	}
	w.dims[1].vals[1], w.next = 4, 0
	if err := w.walk(0, 0); err == nil {
		t.Error("an index outside the shape was taken")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("\x18\x00\x00\x00TFL3"))
	if b := model(f, detector); len(b) > 60_000 {
		f.Add(append([]byte{}, b[:200]...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(b)
		if err == nil {
			_, _ = m.ONNX()
		}
	})
}

// FuzzDamaged writes two words into a whole model.
func FuzzDamaged(f *testing.F) {
	b := model(f, "pose_landmark_lite.tflite")
	root := binary.LittleEndian.Uint32(b)
	f.Add(root, uint32(7), root+20, uint32(1<<31))
	f.Add(uint32(len(b)-400), uint32(0xffffffff), uint32(len(b)-4000), uint32(3))
	f.Fuzz(func(t *testing.T, at, v, at2, v2 uint32) {
		damaged := append([]byte{}, b...)
		n := uint32(len(damaged) - 4)
		binary.LittleEndian.PutUint32(damaged[at%n:], v)
		binary.LittleEndian.PutUint32(damaged[at2%n:], v2)
		m, err := Read(damaged)
		if err == nil {
			_, _ = m.ONNX()
		}
	})
}
