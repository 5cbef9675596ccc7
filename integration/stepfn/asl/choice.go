package asl

import (
	"fmt"
	"strings"
	"time"
)

// Rule is a choice rule: a comparison, or And, Or, Not over rules.
type Rule struct {
	Next string // of a top-level rule

	And, Or []Rule
	Not     *Rule

	Variable *Path
	op       operator
	value    any   // the constant to compare with
	path     *Path // or where to read it
}

type kind string

const (
	kindString    kind = "a string"
	kindNumber    kind = "a number"
	kindBoolean   kind = "true or false"
	kindTimestamp kind = "an RFC 3339 timestamp"
	kindIs        kind = "" // a test of the variable alone
)

type operator struct {
	name string
	kind kind
	test func(order int) bool // of a comparison: -1, 0, 1
}

func equal(o int) bool          { return o == 0 }
func less(o int) bool           { return o < 0 }
func greater(o int) bool        { return o > 0 }
func lessOrEqual(o int) bool    { return o <= 0 }
func greaterOrEqual(o int) bool { return o >= 0 }

// operators lists the comparison operators by field name, without Path.
var operators = func() map[string]operator {
	out := map[string]operator{}
	add := func(name string, k kind, test func(int) bool) { out[name] = operator{name, k, test} }
	for prefix, k := range map[string]kind{"String": kindString, "Numeric": kindNumber, "Timestamp": kindTimestamp} {
		add(prefix+"Equals", k, equal)
		add(prefix+"LessThan", k, less)
		add(prefix+"GreaterThan", k, greater)
		add(prefix+"LessThanEquals", k, lessOrEqual)
		add(prefix+"GreaterThanEquals", k, greaterOrEqual)
	}
	add("BooleanEquals", kindBoolean, equal)
	add("StringMatches", kindString, nil)
	for _, name := range []string{"IsPresent", "IsNull", "IsString", "IsNumeric", "IsBoolean", "IsTimestamp"} {
		add(name, kindIs, nil)
	}
	return out
}()

func (p *parser) choice(n *node, s *State) {
	s.Choice = &Choice{Default: n.text("Default")}
	for _, c := range n.objects("Choices") {
		r := p.rule(c)
		r.Next = c.need("Next")
		c.text("Comment")
		c.done()
		s.Choice.Rules = append(s.Choice.Rules, r)
	}
	if !n.has("Choices") {
		n.wrong("Choices", "is missing")
	}
	n.paths(s)
}

func (p *parser) rule(n *node) Rule {
	var r Rule
	var given []string
	for _, key := range sortedKeys(n.fields) {
		switch key {
		case "And":
			r.And = p.rules(n, key)
		case "Or":
			r.Or = p.rules(n, key)
		case "Not":
			if c := n.object(key); c != nil {
				not := p.rule(c)
				c.done()
				r.Not = &not
			}
		default:
			if !p.comparison(n, key, &r) {
				continue
			}
		}
		given = append(given, key)
	}
	if len(given) != 1 {
		n.p.report(n.at, "a choice rule has exactly one operator; this has %d (%s)", len(given), strings.Join(given, ", "))
	}
	if r.And == nil && r.Or == nil && r.Not == nil {
		n.need("Variable")
		r.Variable = n.definite("Variable")
	}
	return r
}

func (p *parser) rules(n *node, key string) []Rule {
	var out []Rule
	for _, c := range n.objects(key) {
		out = append(out, p.rule(c))
		c.done()
	}
	return out
}

// comparison reads a comparison operator; it reports whether key is one.
func (p *parser) comparison(n *node, key string, r *Rule) bool {
	base, isPath := strings.CutSuffix(key, "Path")
	op, ok := operators[base]
	if !ok || isPath && (op.kind == kindIs || op.name == "StringMatches") {
		return false
	}
	r.op = op
	if isPath {
		r.path = n.definite(key)
		return true
	}
	v, _ := n.take(key)
	r.value = v
	want := op.kind
	if want == kindIs {
		want = kindBoolean
	}
	if !hasKind(v, want) {
		n.wrong(key, "must be %s", want)
	}
	return true
}

func parseTimestamp(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not an RFC 3339 timestamp", s)
	}
	return t, nil
}

func hasKind(v any, k kind) bool {
	switch k {
	case kindString:
		_, ok := v.(string)
		return ok
	case kindNumber:
		_, ok := number(v)
		return ok
	case kindBoolean:
		_, ok := v.(bool)
		return ok
	case kindTimestamp:
		s, ok := v.(string)
		if !ok {
			return false
		}
		_, err := parseTimestamp(s)
		return err == nil
	}
	return false
}
