// Package engine runs BlazePose through ONNX Runtime and follows the bowler
// through a clip. It needs cgo; the results (package pose) do not.
package engine

import (
	"errors"
	"fmt"
	"image"
	"sync/atomic"
	"time"

	ort "github.com/yalue/onnxruntime_go"

	"fastbowlinglab/shared/pose"
)

// Config says where weights and library are, and which landmark model runs.
type Config struct {
	ModelsDir    string // folder with the files of the npm package @mediapipe/pose
	ORTLibrary   string // path of libonnxruntime.so
	Model        string // lite, full or heavy; "" is full
	DetectorOnly bool   // no landmark model: for the precheck
	Threads      int    // readings of one picture that run side by side; 0 is 1
}

// Engine holds the loaded models. It may be used by several goroutines.
type Engine struct {
	model     string
	threads   int // of one pass
	detector  *session
	landmarks *session // nil with DetectorOnly
	side      atomic.Int64
}

// Open checks the weights against their sums and loads them.
func Open(cfg Config) (*Engine, error) {
	model := cfg.Model
	if model == "" {
		model = "full"
	}
	lw, ok := landmarkWeights[model]
	if !ok {
		return nil, fmt.Errorf("open pose engine: there is no model %q (lite, full, heavy)", cfg.Model)
	}
	e := &Engine{model: model, threads: max(1, cfg.Threads)}
	err := func() error {
		if err := initialise(cfg.ORTLibrary); err != nil {
			return err
		}
		var err error
		if e.detector, err = loadSession(detectorWeights, cfg.ModelsDir); err != nil || cfg.DetectorOnly {
			return err
		}
		e.landmarks, err = loadSession(lw, cfg.ModelsDir)
		return err
	}()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open pose engine: %w", err), e.Close())
	}
	return e, nil
}

// loadSession loads weights. Both kinds of model name their first two outputs
// alike: boxes and scores; landmarks and presence.
func loadSession(w weights, dir string) (*session, error) {
	file, err := w.load(dir)
	if err != nil {
		return nil, err
	}
	s, err := newSession(file, "Identity", "Identity_1")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.files[0], err)
	}
	return s, nil
}

// Close frees the models. The engine must not be in use.
func (e *Engine) Close() error {
	err := errors.Join(e.detector.close(), e.landmarks.close())
	e.detector, e.landmarks = nil, nil
	return err
}

// Name is the engine and its versions, for motion.Result.Engine and for
// checkpoints: one that bears another name cannot be gone on from.
func (e *Engine) Name() string {
	return fmt.Sprintf("blazepose-tracker%d/onnxruntime-%s", stateVersion, ort.GetVersion())
}

// Inference is the processor time that the models have taken, and how often they
// ran, since the engine was opened.
func (e *Engine) Inference() (cpu time.Duration, runs int64) {
	for _, s := range []*session{e.detector, e.landmarks} {
		if s != nil {
			cpu += time.Duration(s.cpu.Load())
			runs += s.runs.Load()
		}
	}
	return cpu, runs
}

// Model is the landmark model: lite, full or heavy.
func (e *Engine) Model() string { return e.model }

// Detect finds the people in a picture, best first, whom the detector gives a
// score of at least least.
func (e *Engine) Detect(img image.Image, least float64) ([]pose.Person, error) {
	t, err := e.detector.team(e.threads)
	if err != nil {
		return nil, fmt.Errorf("detect: %w", err)
	}
	defer t.close()
	found, err := t.detectAll(pictureOf(img), least)
	if err != nil {
		return nil, fmt.Errorf("detect: %w", err)
	}
	return found, nil
}

func pictureOf(img image.Image) picture {
	r := img.Bounds()
	p := picture{w: r.Dx(), h: r.Dy(), depth: rgbDepth, pix: make([]byte, 0, rgbDepth*r.Dx()*r.Dy())}
	if m, ok := img.(*image.RGBA); ok {
		for y := range p.h {
			row := m.Pix[y*m.Stride : y*m.Stride+4*p.w]
			for x := 0; x < len(row); x += 4 {
				p.pix = append(p.pix, row[x], row[x+1], row[x+2])
			}
		}
		return p
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c, g, b, _ := img.At(x, y).RGBA()
			p.pix = append(p.pix, byte(c>>8), byte(g>>8), byte(b>>8))
		}
	}
	return p
}
