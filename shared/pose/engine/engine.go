// Package engine runs BlazePose through ONNX Runtime and follows the bowler
// through a clip. It needs cgo.
package engine

import (
	"context"
	"errors"

	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/pose"
)

var errUnderWork = errors.New("engine: under work")

// Config says where weights and library are, and which landmark model runs.
type Config struct {
	ModelsDir    string
	ORTLibrary   string
	Model        string // lite, full or heavy; "" is full
	DetectorOnly bool   // no landmark model: for the precheck
}

// Engine holds the sessions. It may be used by several goroutines.
type Engine struct{}

// Open checks and loads the weights.
func Open(cfg Config) (*Engine, error) { return nil, errUnderWork }

// Close frees the sessions.
func (e *Engine) Close() error { return nil }

// Name is the engine and its version, for motion.Result.Engine.
func (e *Engine) Name() string { return "" }

// Model is the landmark model: lite, full or heavy.
func (e *Engine) Model() string { return "" }

// Track follows the bowler through the clip at src and calls emit for every
// chunk in order. after is the last chunk already done, nil for none.
func (e *Engine) Track(ctx context.Context, src string, info media.Info, after *pose.Chunk, emit func(pose.Chunk) error) error {
	return errUnderWork
}
