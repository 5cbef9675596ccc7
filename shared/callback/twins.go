package callback

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrTwins says that an object names a member twice. Readers of JSON differ in
// which of the two counts, so what was signed would mean two things.
var ErrTwins = errors.New("callback: a member comes twice")

// maxDepth bounds how deep a body may nest.
const maxDepth = 16

// NoTwins refuses a body in which an object has a member twice, at any depth. What
// is not JSON at all is left to the one who reads it.
func NoTwins(body []byte) error {
	err := twins(json.NewDecoder(bytes.NewReader(body)), 0)
	if errors.Is(err, ErrTwins) {
		return err
	}
	return nil
}

func twins(dec *json.Decoder, depth int) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	open, ok := tok.(json.Delim)
	if !ok {
		return nil
	}
	if depth == maxDepth {
		return fmt.Errorf("%w, or it nests deeper than %d", ErrTwins, maxDepth)
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == '{' {
			tok, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ := tok.(string)
			if seen[name] {
				return ErrTwins
			}
			seen[name] = true
		}
		if err := twins(dec, depth+1); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}
