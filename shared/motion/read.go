package motion

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Limits of a result.
const (
	MaxResultBytes = 16 << 20
	MaxResultClips = 64
)

// ErrTooLarge says that a result exceeds a limit.
var ErrTooLarge = errors.New("document too large")

// ReadResult reads a Result's JSON from a pose pass, refusing other versions,
// values outside their range and anything that JSON does not allow.
func ReadResult(r io.Reader) (Result, error) {
	var out Result
	if err := readJSON(r, MaxResultBytes, &out); err != nil {
		return Result{}, fmt.Errorf("read a pose result: %w", err)
	}
	if out.Version != ResultVersion {
		return Result{}, fmt.Errorf("read a pose result: version %d, want %d", out.Version, ResultVersion)
	}
	if len(out.Clips) > MaxResultClips {
		return Result{}, fmt.Errorf("read a pose result: %d clips: %w", len(out.Clips), ErrTooLarge)
	}
	for _, c := range out.Clips {
		for _, m := range c.Measures {
			if m.Band < 0 || m.Confidence < 0 || m.Confidence > 1 {
				return Result{}, fmt.Errorf("read a pose result: clip %d: %s: band %v, confidence %v", c.Index, m.Name, m.Band, m.Confidence)
			}
		}
		for _, s := range c.Series {
			if len(s.Times) != len(s.Values) {
				return Result{}, fmt.Errorf("read a pose result: clip %d: series %s has %d times and %d values", c.Index, s.Name, len(s.Times), len(s.Values))
			}
		}
	}
	return out, nil
}

// readJSON decodes exactly one document of at most limit bytes.
func readJSON(r io.Reader, limit int64, to any) error {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return err
	}
	if int64(len(b)) > limit {
		return fmt.Errorf("more than %d bytes: %w", limit, ErrTooLarge)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the document")
	}
	return nil
}
