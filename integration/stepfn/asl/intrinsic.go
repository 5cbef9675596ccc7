package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode"
)

// call is an intrinsic function with its arguments: literals, *Path or *call.
type call struct {
	text string
	name string
	args []any
}

// literal is an argument that is a constant.
type literal struct{ value any }

// intrinsics lists the supported functions with the number of arguments that
// each takes: at least the first, at most the second (-1: any number).
var intrinsics = map[string]struct{ least, most int }{
	"States.Array":        {0, -1},
	"States.Format":       {1, -1},
	"States.JsonToString": {1, 1},
	"States.MathAdd":      {2, 2},
	"States.StringToJson": {1, 1},
}

// parseCall reads an intrinsic function call such as
// States.Format('{} of {}', $.done, States.MathAdd($.total, 1)).
func parseCall(s string) (*call, error) {
	c, rest, err := readCall(s, 0)
	if err != nil {
		return nil, fmt.Errorf("intrinsic %q: %w", s, err)
	}
	if strings.TrimSpace(rest) != "" {
		return nil, fmt.Errorf("intrinsic %q: text after the closing bracket", s)
	}
	return c, nil
}

func readCall(s string, depth int) (*call, string, error) {
	if depth > 10 {
		return nil, "", errors.New("nested more than 10 deep")
	}
	name, rest, ok := strings.Cut(s, "(")
	name = strings.TrimSpace(name)
	arity, known := intrinsics[name]
	if !ok || !known {
		return nil, "", fmt.Errorf("function %q is not supported (supported: %s)", name, strings.Join(sortedKeys(intrinsics), ", "))
	}
	c := &call{text: s, name: name}
	rest = strings.TrimLeft(rest, " ")
	if after, empty := strings.CutPrefix(rest, ")"); empty {
		return c.checked(arity.least, arity.most, after)
	}
	for {
		var arg any
		var err error
		if arg, rest, err = readArg(strings.TrimLeft(rest, " "), depth); err != nil {
			return nil, "", err
		}
		c.args = append(c.args, arg)
		rest = strings.TrimLeft(rest, " ")
		switch {
		case strings.HasPrefix(rest, ","):
			rest = rest[1:]
		case strings.HasPrefix(rest, ")"):
			return c.checked(arity.least, arity.most, rest[1:])
		default:
			return nil, "", fmt.Errorf("%s: a comma or a closing bracket is missing", name)
		}
	}
}

func (c *call) checked(least, most int, rest string) (*call, string, error) {
	if len(c.args) < least || most >= 0 && len(c.args) > most {
		return nil, "", fmt.Errorf("%s: wrong number of arguments (%d)", c.name, len(c.args))
	}
	return c, rest, nil
}

func readArg(s string, depth int) (any, string, error) {
	switch {
	case strings.HasPrefix(s, "'"):
		return readString(s[1:])
	case strings.HasPrefix(s, "$"):
		n := pathEnd(s)
		p, err := ParsePath(s[:n])
		return p, s[n:], err
	case strings.HasPrefix(s, "States."):
		return readCall2(s, depth+1)
	}
	n := strings.IndexFunc(s, func(r rune) bool { return r == ',' || r == ')' || unicode.IsSpace(r) })
	if n < 0 {
		n = len(s)
	}
	switch word := s[:n]; word {
	case "null":
		return literal{nil}, s[n:], nil
	case "true", "false":
		return literal{word == "true"}, s[n:], nil
	default:
		v, err := Decode([]byte(word))
		if num, ok := v.(json.Number); ok && err == nil {
			return literal{num}, s[n:], nil
		}
		return nil, "", fmt.Errorf("argument %q is neither a path, a 'string', a number, true, false, null nor a function", word)
	}
}

// readCall2 gives a nested call as an argument; a nil *call must not become a
// non-nil any.
func readCall2(s string, depth int) (any, string, error) {
	c, rest, err := readCall(s, depth)
	if err != nil {
		return nil, "", err
	}
	return c, rest, nil
}

// pathEnd finds where a path argument ends: at a comma, space or closing
// bracket outside square brackets.
func pathEnd(s string) int {
	square := 0
	var quote byte
	for i := 0; i < len(s); i++ {
		ch := s[i]
		switch {
		case quote != 0:
			if ch == '\\' {
				i++
			} else if ch == quote {
				quote = 0
			}
		case square > 0 && (ch == '\'' || ch == '"'):
			quote = ch
		case ch == '[':
			square++
		case ch == ']':
			square--
		case square <= 0 && (ch == ',' || ch == ')' || ch == ' '):
			return i
		}
	}
	return len(s)
}

// rawString is a string literal whose escapes are still in it: the template of
// States.Format tells \\{ from {.
type rawString string

func (r rawString) text() string {
	var b strings.Builder
	for i := 0; i < len(r); i++ {
		if r[i] == '\\' && i+1 < len(r) {
			i++
		}
		b.WriteByte(r[i])
	}
	return b.String()
}

func readString(s string) (any, string, error) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			return literal{rawString(s[:i])}, s[i+1:], nil
		}
	}
	return nil, "", errors.New("a string is not closed")
}

func (c *call) eval(field string, input, context any) (any, error) {
	args := make([]any, len(c.args))
	for i, a := range c.args {
		var err error
		if args[i], err = evalArg(a, field, input, context); err != nil {
			return nil, err
		}
		if raw, ok := args[i].(rawString); ok && !(c.name == "States.Format" && i == 0) {
			args[i] = raw.text()
		}
	}
	v, err := c.apply(args)
	if err != nil {
		return nil, &Error{ErrIntrinsicFailure, fmt.Sprintf("%s for the field '%s': %v", c.text, field, err)}
	}
	return v, nil
}

func evalArg(a any, field string, input, context any) (any, error) {
	switch a := a.(type) {
	case literal:
		return a.value, nil
	case *call:
		return a.eval(field, input, context)
	case *Path:
		return evalPath(a, field, input, context)
	}
	panic(fmt.Sprintf("asl: argument of type %T", a))
}

func (c *call) apply(args []any) (any, error) {
	switch c.name {
	case "States.Array":
		return args, nil
	case "States.Format":
		return format(args)
	case "States.JsonToString":
		return string(Encode(args[0])), nil
	case "States.StringToJson":
		s, ok := args[0].(string)
		if !ok {
			return nil, errors.New("the argument is not a string")
		}
		return Decode([]byte(s))
	case "States.MathAdd":
		return mathAdd(args[0], args[1])
	}
	panic("asl: intrinsic " + c.name)
}

// format fills each {} of the first argument with the next of the others. Only
// a literal template has escapes; one read by a path is taken as it is.
func format(args []any) (any, error) {
	raw, escapes := args[0].(rawString)
	tmpl := string(raw)
	if !escapes {
		var ok bool
		if tmpl, ok = args[0].(string); !ok {
			return nil, errors.New("the template is not a string")
		}
	}
	rest := args[1:]
	var b strings.Builder
	for i := 0; i < len(tmpl); i++ {
		switch {
		case escapes && tmpl[i] == '\\' && i+1 < len(tmpl):
			i++
			b.WriteByte(tmpl[i])
		case strings.HasPrefix(tmpl[i:], "{}"):
			if len(rest) == 0 {
				return nil, errors.New("more {} than arguments")
			}
			if s, ok := rest[0].(string); ok {
				b.WriteString(s)
			} else {
				b.Write(Encode(rest[0]))
			}
			rest, i = rest[1:], i+1
		default:
			b.WriteByte(tmpl[i])
		}
	}
	if len(rest) > 0 {
		return nil, errors.New("more arguments than {}")
	}
	return b.String(), nil
}

// mathAdd adds integers, as AWS's function does.
func mathAdd(a, b any) (any, error) {
	x, okx := integer(a)
	y, oky := integer(b)
	if !okx || !oky {
		return nil, errors.New("an argument is not an integer")
	}
	return json.Number(new(big.Int).Add(x, y).String()), nil
}

func integer(v any) (*big.Int, bool) {
	n, ok := v.(json.Number)
	if !ok || len(n) > 40 {
		return nil, false
	}
	return new(big.Int).SetString(n.String(), 10)
}
