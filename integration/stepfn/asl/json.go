package asl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth bounds the nesting of a definition and of runtime JSON.
const maxDepth = 100

// Decode reads one JSON value. Numbers stay json.Number, so that an integer
// passes through a state machine unchanged whatever its size.
func Decode(b []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

// Encode writes v as compact JSON with keys in alphabetical order and without
// escaping <, > and &.
func Encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Only values made by Decode and by this module's packages get here.
		panic(fmt.Sprintf("asl: encode %T: %v", v, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decodeStrict is Decode that also refuses an object with the same key twice,
// of which encoding/json would keep the last in silence.
func decodeStrict(b []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	v, err := strictValue(dec, "$", 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the end of the definition")
	}
	return v, nil
}

func strictValue(dec *json.Decoder, at string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%s: nested more than %d deep", at, maxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	switch tok {
	case json.Delim('{'):
		return strictObject(dec, at, depth)
	case json.Delim('['):
		out := []any{}
		for dec.More() {
			v, err := strictValue(dec, fmt.Sprintf("%s[%d]", at, len(out)), depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err := dec.Token()
		return out, err
	}
	return tok, nil
}

func strictObject(dec *json.Decoder, at string, depth int) (any, error) {
	out := map[string]any{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		key, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("%s: an object's key must be a string", at)
		}
		if _, dup := out[key]; dup {
			return nil, fmt.Errorf("%s: field %q stands twice", at, key)
		}
		if out[key], err = strictValue(dec, childPath(at, key), depth+1); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return out, err
}
