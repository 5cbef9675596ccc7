package asl

import (
	"errors"
	"fmt"
	"maps"
)

// Selector is an InputPath or an OutputPath.
type Selector struct {
	Null bool  // the field is null: the value is an empty object
	Path *Path // nil: the whole value
}

// Get applies the selector. A path that finds nothing is a States.Runtime error.
func (s Selector) Get(field string, value, context any) (any, error) {
	switch {
	case s.Null:
		return map[string]any{}, nil
	case s.Path == nil:
		return value, nil
	}
	v, ok := s.Path.Get(value, context)
	if !ok {
		return nil, &Error{ErrRuntime, fmt.Sprintf("Invalid path '%s': no value for %s in the input '%s'", s.Path, field, Encode(value))}
	}
	return v, nil
}

// ResultPath says where a result goes in a state's input. The zero value
// replaces the input by the result.
type ResultPath struct {
	Null  bool     // the field is null: the result is thrown away
	Names []string // members, from the outside in
}

// parseResultPath reads a reference path made of names alone.
func parseResultPath(s string) (ResultPath, error) {
	p, err := ParsePath(s)
	if err != nil {
		return ResultPath{}, err
	}
	if p.Context {
		return ResultPath{}, errors.New("a result cannot be put into the context object")
	}
	var out ResultPath
	for _, st := range p.steps {
		if st.kind != stepName {
			return ResultPath{}, fmt.Errorf("path %q: only names are supported here", s)
		}
		out.Names = append(out.Names, st.name)
	}
	return out, nil
}

// Put gives input with result at the path. The input is not changed: it may be
// shared with other branches and with the history.
func (r ResultPath) Put(input, result any) (any, error) {
	switch {
	case r.Null:
		return input, nil
	case len(r.Names) == 0:
		return result, nil
	}
	return put(input, r.Names, result)
}

func put(into any, names []string, result any) (any, error) {
	if len(names) == 0 {
		return result, nil
	}
	obj, ok := into.(map[string]any)
	if !ok {
		return nil, &Error{ErrResultPathMatchFailure, fmt.Sprintf("Unable to apply ResultPath at '%s' to input '%s'", names[0], Encode(into))}
	}
	inner, ok := obj[names[0]]
	if !ok {
		inner = map[string]any{}
	}
	v, err := put(inner, names[1:], result)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(obj)
	if out == nil {
		out = map[string]any{}
	}
	out[names[0]] = v
	return out, nil
}
