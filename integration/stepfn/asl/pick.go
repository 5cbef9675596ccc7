package asl

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Pick gives the name of the state to go on with. Errors are
// States.NoChoiceMatched, and States.Runtime for a path that finds nothing.
func (c *Choice) Pick(name string, input, context any) (string, error) {
	for _, r := range c.Rules {
		ok, err := r.holds(input, context)
		if err != nil {
			return "", err
		}
		if ok {
			return r.Next, nil
		}
	}
	if c.Default == "" {
		return "", &Error{ErrNoChoiceMatched, fmt.Sprintf("No choice rule of state '%s' holds, and there is no Default", name)}
	}
	return c.Default, nil
}

func (r *Rule) holds(input, context any) (bool, error) {
	switch {
	case r.And != nil:
		return anyHolds(r.And, false, input, context)
	case r.Or != nil:
		return anyHolds(r.Or, true, input, context)
	case r.Not != nil:
		ok, err := r.Not.holds(input, context)
		return !ok, err
	}
	v, present := r.Variable.Get(input, context)
	if r.op.name == "IsPresent" {
		return present == r.value.(bool), nil
	}
	if !present {
		return false, badVariable(r.Variable)
	}
	if r.op.kind == kindIs {
		return r.is(v) == r.value.(bool), nil
	}
	want := r.value
	if r.path != nil {
		if want, present = r.path.Get(input, context); !present {
			return false, badVariable(r.path)
		}
	}
	if !hasKind(v, r.op.kind) || !hasKind(want, r.op.kind) {
		return false, nil
	}
	if r.op.name == "StringMatches" {
		return glob(want.(string), v.(string)), nil
	}
	return r.op.test(compare(r.op.kind, v, want)), nil
}

// anyHolds looks for a rule whose outcome is sought; for And that is a false
// one, so that it stops as early as Or does.
func anyHolds(rules []Rule, sought bool, input, context any) (bool, error) {
	for i := range rules {
		ok, err := rules[i].holds(input, context)
		if err != nil || ok == sought {
			return ok, err
		}
	}
	return !sought, nil
}

func badVariable(p *Path) error {
	return &Error{ErrRuntime, fmt.Sprintf("Invalid path '%s': The choice state's condition path references an invalid value.", p)}
}

func (r *Rule) is(v any) bool {
	switch r.op.name {
	case "IsNull":
		return v == nil
	case "IsString":
		return hasKind(v, kindString)
	case "IsNumeric":
		_, ok := v.(json.Number)
		return ok
	case "IsBoolean":
		return hasKind(v, kindBoolean)
	case "IsTimestamp":
		return hasKind(v, kindTimestamp)
	}
	panic("asl: operator " + r.op.name)
}

// compare orders two values that both have the kind.
func compare(k kind, a, b any) int {
	switch k {
	case kindString:
		return strings.Compare(a.(string), b.(string))
	case kindNumber:
		x, _ := number(a)
		y, _ := number(b)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	case kindTimestamp:
		x, _ := parseTimestamp(a.(string))
		y, _ := parseTimestamp(b.(string))
		return x.Compare(y)
	}
	if a == b { // booleans, which are only ever compared for equality
		return 0
	}
	return 1
}

// glob matches s against a pattern in which * stands for any characters and \*
// for a star.
func glob(pattern, s string) bool {
	var parts []string // literal pieces between stars
	var cur strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern) && (pattern[i+1] == '*' || pattern[i+1] == '\\'):
			i++
			cur.WriteByte(pattern[i])
		case pattern[i] == '*':
			parts = append(parts, cur.String())
			cur.Reset()
		default:
			cur.WriteByte(pattern[i])
		}
	}
	last := cur.String()
	if len(parts) == 0 {
		return s == last
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, last)
}
