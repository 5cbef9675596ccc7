package engine

import "fmt"

// Exercise runs the models so often, on empty input and as many at once as a pass
// does: what a pass would take if it did nothing else.
func (e *Engine) Exercise(landmarks, detections int) error {
	for _, x := range []struct {
		s    *session
		runs int
	}{{e.landmarks, landmarks}, {e.detector, detections}} {
		t, err := x.s.team(e.threads)
		if err != nil {
			return fmt.Errorf("exercise: %w", err)
		}
		err = t.each(e.threads, func(b *bench, i int) error {
			for n := i; n < x.runs; n += e.threads {
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
