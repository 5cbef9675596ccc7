package engine

import "fmt"

// Exercise reads so many regions of an empty picture with either model, as many at
// once as a pass does: what a pass would take if it did nothing but read. Reading is
// to sample the region to the model's input and to run the model.
func (e *Engine) Exercise(width, height, landmarks, detections int) error {
	p := picture{w: width, h: height, pix: make([]byte, 3*width*height)}
	whole := region{X: float64(width) / 2, Y: float64(height) / 2, Side: float64(min(width, height)) * 0.9}
	for _, x := range []struct {
		s    *session
		runs int
		side int
	}{{e.landmarks, landmarks, landmarkSide}, {e.detector, detections, detectorSide}} {
		t, err := x.s.team(e.threads)
		if err != nil {
			return fmt.Errorf("exercise: %w", err)
		}
		err = t.each(e.threads, func(b *bench, i int) error {
			for n := i; n < x.runs; n += e.threads {
				p.crop(whole, x.side, 1.0/255, 0, false, b.input())
				if err := b.run(); err != nil {
					return fmt.Errorf("exercise: %w", err)
				}
			}
			return nil
		})
		t.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Runs is how often the landmark model and the detector ran since the engine was
// opened.
func (e *Engine) Runs() (landmarks, detections int) {
	return int(e.landmarks.runs.Load()), int(e.detector.runs.Load())
}

// Side is the longer side, in pixels, of the pictures in which the engine looked for
// the bowler last; 0 before the first clip.
func (e *Engine) Side() int { return int(e.side.Load()) }
