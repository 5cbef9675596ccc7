package engine

import (
	"encoding/json"
	"fmt"
	"math"

	"fastbowlinglab/shared/pose"
)

const (
	shortChunk = 64   // frames
	longChunk  = 128  // of a long clip, so that a job's checkpoints stay few
	longClip   = 4096 // frames
	lookAhead  = 16   // frames beyond a chunk that are seen before it is settled
	lookBack   = 2    // settled frames before a chunk that the repair goes on from
)

// stateVersion changes whenever a state written before can no longer be gone on
// from with the same result. It is part of the engine's name.
const stateVersion = 1

// state is the tracker's, between two chunks. With the frames that follow it
// decides all that follows.
type state struct {
	Version int          `json:"version"`
	Model   string       `json:"model"`
	Target  target       `json:"target"`
	Chunk   int          `json:"chunk"`  // frames a chunk
	Next    int          `json:"next"`   // index of the next chunk's first frame
	Time    float64      `json:"time"`   // of the last frame
	Region  *region      `json:"region"` // the bowler's in the last frame, nil when not tracked
	Before  []pose.Frame `json:"before"` // the last frames, with points
}

// decodeState reads the state of a chunk that another process may have written.
func (e *Engine) decodeState(c *pose.Chunk) (state, error) {
	var s state
	if err := json.Unmarshal(c.State, &s); err != nil {
		return s, fmt.Errorf("track: state of chunk %d: %w", c.Index, err)
	}
	if s.Version != stateVersion || s.Model != e.model {
		return s, fmt.Errorf("track: state of chunk %d is of version %d, model %q; this is %d, %q",
			c.Index, s.Version, s.Model, stateVersion, e.model)
	}
	if s.Next <= 0 || s.Chunk <= 0 || s.Chunk > longChunk || len(s.Before) > lookBack || math.IsNaN(s.Time) {
		return s, fmt.Errorf("track: state of chunk %d makes no sense", c.Index)
	}
	return s, nil
}

// fixed gives the settled frames as observations, for the repair to go on from.
func (s state) fixed() []observation {
	out := make([]observation, 0, len(s.Before))
	for _, f := range s.Before {
		o := observation{index: f.Index, time: f.Time, score: f.Score}
		if len(f.Points) == pose.Landmarks {
			o.readings = []reading{reading(f.Points)}
		}
		out = append(out, o)
	}
	return out
}

// rounded cuts a coordinate to a hundredth of a pixel and a visibility to a
// thousandth: finer than the model, and half the size when stored.
func rounded(p pose.Point) pose.Point {
	return pose.Point{X: math.Round(p.X*100) / 100, Y: math.Round(p.Y*100) / 100, Visibility: math.Round(p.Visibility*1000) / 1000}
}
