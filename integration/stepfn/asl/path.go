package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path is a JSONPath. Supported are the root ($, or $$ for the context object),
// member names (.name, ['name'], ["name"]), indices ([0], [-1] from the end),
// slices ([1:3], open ends allowed) and wildcards (.* and [*]). Filters, unions,
// scripts and deep scans (..) are refused.
type Path struct {
	text    string
	Context bool // starts at the context object ($$)
	steps   []step
	many    bool // holds a wildcard or a slice: the result is an array
}

type stepKind int

const (
	stepName stepKind = iota
	stepIndex
	stepSlice
	stepAll
)

type step struct {
	kind     stepKind
	name     string
	from, to int // of a slice; from is the index of an index
	hasTo    bool
}

// String gives the path as it was written.
func (p *Path) String() string { return p.text }

// ParsePath reads a path.
func ParsePath(s string) (*Path, error) {
	p := &Path{text: s}
	rest := s
	switch {
	case strings.HasPrefix(rest, "$$"):
		p.Context, rest = true, rest[2:]
	case strings.HasPrefix(rest, "$"):
		rest = rest[1:]
	default:
		return nil, fmt.Errorf("path %q does not start with $", s)
	}
	for rest != "" {
		if len(p.steps) >= maxDepth {
			return nil, fmt.Errorf("path %q has more than %d steps", s, maxDepth)
		}
		var st step
		var err error
		if st, rest, err = parseStep(rest); err != nil {
			return nil, fmt.Errorf("path %q: %w", s, err)
		}
		p.many = p.many || st.kind == stepAll || st.kind == stepSlice
		p.steps = append(p.steps, st)
	}
	return p, nil
}

func parseStep(s string) (step, string, error) {
	switch {
	case strings.HasPrefix(s, ".."):
		return step{}, "", errors.New("deep scan (..) is not supported")
	case strings.HasPrefix(s, ".*"):
		return step{kind: stepAll}, s[2:], nil
	case strings.HasPrefix(s, "."):
		n := strings.IndexFunc(s[1:], func(r rune) bool { return !nameRune(r) })
		if n < 0 {
			n = len(s) - 1
		}
		if n == 0 {
			return step{}, "", errors.New("a name is missing after a dot")
		}
		if !utf8.ValidString(s[1 : 1+n]) {
			return step{}, "", errors.New("a name is not valid UTF-8")
		}
		return step{kind: stepName, name: s[1 : 1+n]}, s[1+n:], nil
	case strings.HasPrefix(s, "["):
		return parseBracket(s[1:])
	}
	return step{}, "", fmt.Errorf("%q is not supported in a path", firstRune(s))
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// nameRune says which characters a name may hold without brackets and quotes.
func nameRune(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func parseBracket(s string) (step, string, error) {
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		return parseQuoted(s)
	}
	body, rest, ok := strings.Cut(s, "]")
	if !ok {
		return step{}, "", errors.New("a bracket is not closed")
	}
	if body == "*" {
		return step{kind: stepAll}, rest, nil
	}
	from, to, slice := strings.Cut(body, ":")
	st := step{kind: stepIndex}
	var err error
	if slice {
		st.kind = stepSlice
	}
	if from != "" || !slice {
		if st.from, err = strconv.Atoi(from); err != nil {
			return step{}, "", fmt.Errorf("[%s] is not supported: only 'names', indices, slices and *", body)
		}
	}
	if slice && to != "" {
		st.hasTo = true
		if st.to, err = strconv.Atoi(to); err != nil {
			return step{}, "", fmt.Errorf("[%s] is not supported: only 'names', indices, slices and *", body)
		}
	}
	return st, rest, nil
}

func parseQuoted(s string) (step, string, error) {
	quote := s[0]
	var name strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			name.WriteByte(s[i])
		case s[i] == quote:
			rest, ok := strings.CutPrefix(s[i+1:], "]")
			if !ok {
				return step{}, "", errors.New("a quoted name is not followed by ] (several names are not supported)")
			}
			if !utf8.ValidString(name.String()) {
				return step{}, "", errors.New("a name is not valid UTF-8")
			}
			return step{kind: stepName, name: name.String()}, rest, nil
		default:
			name.WriteByte(s[i])
		}
	}
	return step{}, "", errors.New("a quoted name is not closed")
}

// Get reads the value at the path from input or, for a $$ path, from the
// context object. A path with a wildcard or a slice gives an array of what it
// found, which may be empty; any other reports whether its value exists.
func (p *Path) Get(input, context any) (any, bool) {
	root := input
	if p.Context {
		root = context
	}
	found := []any{root}
	for _, st := range p.steps {
		var next []any
		for _, v := range found {
			next = st.apply(v, next)
		}
		found = next
	}
	if p.many {
		if found == nil {
			found = []any{}
		}
		return found, true
	}
	if len(found) == 0 {
		return nil, false
	}
	return found[0], true
}

// apply appends to out what the step selects of v.
func (st step) apply(v any, out []any) []any {
	switch v := v.(type) {
	case map[string]any:
		switch st.kind {
		case stepName:
			if x, ok := v[st.name]; ok {
				out = append(out, x)
			}
		case stepAll:
			for _, k := range sortedKeys(v) {
				out = append(out, v[k])
			}
		}
	case []any:
		switch st.kind {
		case stepIndex:
			i := st.from
			if i < 0 {
				i += len(v)
			}
			if i >= 0 && i < len(v) {
				out = append(out, v[i])
			}
		case stepAll:
			out = append(out, v...)
		case stepSlice:
			from, to := bounds(st, len(v))
			out = append(out, v[from:to]...)
		}
	}
	return out
}

func bounds(st step, n int) (from, to int) {
	clamp := func(i int) int {
		if i < 0 {
			i += n
		}
		return max(0, min(i, n))
	}
	from, to = clamp(st.from), n
	if st.hasTo {
		to = clamp(st.to)
	}
	return from, max(from, to)
}

// number reads a JSON number as a float64.
func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}
