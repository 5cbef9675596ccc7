package aitask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxAnswer bounds the text of an answer, in bytes.
const maxAnswer = 256 << 10

// parse reads an answer into out and checks it. The document may be fenced or
// stand in prose: each place where one could begin is tried, and the first that
// is whole and of the right shape wins, so that a brace in the prose does no
// harm. An answer that is cut or of other types is an error.
func parse(text string, out func() output) (output, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("%w: the answer is empty", Empty)
	}
	if len(text) > maxAnswer {
		return nil, fmt.Errorf("%w: the answer has %d bytes, limit %d", Shape, len(text), maxAnswer)
	}
	var first error
	for i, tries := 0, 0; i < len(text) && tries < 64; i++ {
		if text[i] != '{' {
			continue
		}
		tries++
		o := out()
		n, err := decodeStrict(text[i:], o)
		if err == nil {
			if err = o.check(); err == nil {
				return o, nil
			}
		}
		if first == nil || n > 0 { // the complaint about a whole document tells most
			first = err
		}
		if n > 0 { // a whole document of another shape: what lies inside it is no answer
			i += n - 1
		}
	}
	if first == nil {
		first = fmt.Errorf("%w: the answer holds no JSON object", Declined)
	}
	var why Why
	if !errors.As(first, &why) {
		first = fmt.Errorf("%w: %w", Shape, first)
	}
	return nil, first
}

// decodeStrict decodes the JSON value that s begins with; n is its length when
// it is whole, 0 when it is not. Unknown fields are refused: they are another
// shape.
func decodeStrict(s string, to any) (n int, err error) {
	d := json.NewDecoder(strings.NewReader(s))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, fmt.Errorf("%w: the answer is cut off", Cut)
		}
		return 0, err
	}
	n = int(d.InputOffset())
	d = json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return n, d.Decode(to)
}
