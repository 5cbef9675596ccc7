package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep a request's JSON may nest.
const maxDepth = 16

// strict refuses what encoding/json would take in silence: a member in another
// case than its name, a member that comes twice (of which it takes the last), a
// null (which it takes for nothing), and text that is not UTF-8 (which it
// repairs). like is the type that b is read into.
func strict(b []byte, like reflect.Type) error {
	if !utf8.Valid(b) {
		return invalid("the body is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := walk(dec, like, "body", 0); !errors.Is(err, errMalformed) {
		return err
	}
	return nil // the decoder that comes after says how
}

// errMalformed ends the walk: after it a decoder says More for ever.
var errMalformed = errors.New("malformed JSON")

// walk reads one value. like is nil where the type is not known: the decoder
// that comes after complains of that.
func walk(dec *json.Decoder, like reflect.Type, at string, depth int) error {
	if depth > maxDepth {
		return invalid("%s: nested too deep", at)
	}
	tok, err := dec.Token()
	if err != nil {
		return errMalformed
	}
	switch tok {
	case nil:
		return invalid("%s: null; leave the member out", at)
	case json.Delim('{'):
		return walkObject(dec, like, at, depth)
	case json.Delim('['):
		var elem reflect.Type
		if like != nil && like.Kind() == reflect.Slice {
			elem = like.Elem()
		}
		for i := 0; dec.More(); i++ {
			if err := walk(dec, elem, fmt.Sprintf("%s[%d]", at, i), depth+1); err != nil {
				return err
			}
		}
		return closing(dec)
	}
	return nil
}

func closing(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return errMalformed
	}
	return nil
}

func walkObject(dec *json.Decoder, like reflect.Type, at string, depth int) error {
	known := members(like)
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return errMalformed
		}
		name, _ := tok.(string)
		if seen[name] {
			return invalid("%s: %q comes twice", at, clip(name))
		}
		seen[name] = true
		t, ok := known[name]
		if known != nil && !ok {
			return invalid("%s: unknown member %q", at, clip(name))
		}
		if err := walk(dec, t, strings.TrimPrefix(at+"."+clip(name), "body."), depth+1); err != nil {
			return err
		}
	}
	return closing(dec)
}

// members are the JSON members of a struct type, by their exact names.
func members(t reflect.Type) map[string]reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	out := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out[name] = f.Type
		}
	}
	return out
}

// clip shortens what a client sent before it is shown back.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
