package bedrock_test

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// valid checks a document against the part of JSON schema that the tasks use.
func valid(schema, doc any, at string) error {
	s := schema.(map[string]any)
	num := func(k string) (float64, bool) { v, ok := s[k].(float64); return v, ok }
	size := func(n int, least, most string) error {
		lo, okLo := num(least)
		hi, okHi := num(most)
		if okLo && float64(n) < lo || okHi && float64(n) > hi {
			return fmt.Errorf("%s: %d, want %g to %g", at, n, lo, hi)
		}
		return nil
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, doc) {
		return fmt.Errorf("%s: %v is none of %v", at, doc, enum)
	}
	switch s["type"] {
	case "string":
		v, ok := doc.(string)
		if !ok {
			return fmt.Errorf("%s is no string", at)
		}
		return size(utf8.RuneCountInString(v), "minLength", "maxLength")
	case "number", "integer":
		v, ok := doc.(float64)
		lo, hasLo := num("minimum")
		hi, hasHi := num("maximum")
		if !ok || hasLo && v < lo || hasHi && v > hi {
			return fmt.Errorf("%s is %v", at, doc)
		}
	case "array":
		v, ok := doc.([]any)
		if !ok {
			return fmt.Errorf("%s is no array", at)
		}
		for i, e := range v {
			if err := valid(s["items"], e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return size(len(v), "minItems", "maxItems")
	case "object":
		v, ok := doc.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is no object", at)
		}
		for _, k := range s["required"].([]any) {
			if _, ok := v[k.(string)]; !ok {
				return fmt.Errorf("%s has no %s", at, k)
			}
		}
		props := s["properties"].(map[string]any)
		for k, e := range v {
			if props[k] == nil {
				return fmt.Errorf("%s has %s, which is not in the schema", at, k)
			}
			if err := valid(props[k], e, at+"."+k); err != nil {
				return err
			}
		}
	}
	return nil
}
