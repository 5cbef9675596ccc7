package asl

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// MaxDefinition is AWS's limit on the size of a definition, in bytes.
const MaxDefinition = 1 << 20

// Problem is one thing that is wrong with a definition.
type Problem struct {
	Path    string // JSONPath of the place, such as $.States.Begin.Retry[0].MaxAttempts
	Message string
}

func (p Problem) String() string { return p.Path + ": " + p.Message }

// Problems is the error of Parse: everything that is wrong, in the order of the
// definition's places.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "; ")
}

type parser struct {
	problems Problems
	names    map[string]string // state name -> where it stands
}

func (p *parser) report(at, format string, a ...any) {
	p.problems = append(p.problems, Problem{at, fmt.Sprintf(format, a...)})
}

// Parse reads and checks a definition. The error is of type Problems.
func Parse(definition []byte) (*Machine, error) {
	if len(definition) > MaxDefinition {
		return nil, Problems{{"$", fmt.Sprintf("the definition has %d bytes; the limit is %d", len(definition), MaxDefinition)}}
	}
	v, err := decodeStrict(definition)
	if err != nil {
		return nil, Problems{{"$", "not readable as JSON: " + err.Error()}}
	}
	p := &parser{names: map[string]string{}}
	n := p.node("$", v)
	m := p.machine(n)
	if v := n.text("Version"); v != "" && v != "1.0" {
		n.wrong("Version", "only version 1.0 is supported")
	}
	m.Timeout = n.seconds("TimeoutSeconds", 1)
	n.done()
	if len(p.problems) > 0 {
		slices.SortStableFunc(p.problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
		return nil, p.problems
	}
	return m, nil
}

// machine reads the fields that a definition and a branch have in common. The
// caller reads its own and calls done.
func (p *parser) machine(n *node) *Machine {
	m := &Machine{Comment: n.text("Comment"), StartAt: n.need("StartAt"), States: map[string]*State{}}
	n.queryLanguage()
	states := n.object("States")
	if states == nil {
		return m
	}
	if len(states.fields) == 0 {
		n.wrong("States", "there is no state")
	}
	for _, name := range sortedKeys(states.fields) {
		at := childPath(states.at, name)
		if first, twice := p.names[name]; twice {
			p.report(at, "the name is taken by %s: names are unique in a whole definition", first)
		}
		p.names[name] = at
		if len([]rune(name)) > 80 {
			p.report(at, "the name has more than 80 characters")
		}
		if s := p.state(name, p.node(at, states.fields[name])); s != nil {
			m.States[name] = s
		}
	}
	p.links(n, m, states)
	return m
}

// links checks that every transition leads to a state and that every state can
// be reached.
func (p *parser) links(n *node, m *Machine, states *node) {
	if m.StartAt != "" && states.fields[m.StartAt] == nil {
		n.wrong("StartAt", "there is no state %q", m.StartAt)
	}
	reached := map[string]bool{}
	todo := []string{m.StartAt}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		s := m.States[name]
		if s == nil || reached[name] {
			continue
		}
		reached[name] = true
		todo = append(todo, s.Nexts()...)
	}
	for _, name := range sortedKeys(m.States) {
		at := childPath(states.at, name)
		for _, next := range m.States[name].Nexts() {
			if _, ok := states.fields[next]; !ok && next != "" {
				p.report(at, "leads to state %q, which does not exist", next)
			}
		}
		if !reached[name] && m.States[m.StartAt] != nil {
			p.report(at, "no path from StartAt leads here")
		}
	}
}

// node is an object of the definition while it is read. Each reading method
// marks its field as known; done refuses the others.
type node struct {
	p      *parser
	at     string
	fields map[string]any
	known  map[string]bool
}

func (p *parser) node(at string, v any) *node {
	fields, ok := v.(map[string]any)
	if !ok {
		p.report(at, "must be an object")
	}
	return &node{p, at, fields, map[string]bool{}}
}

func (n *node) wrong(field, format string, a ...any) {
	n.p.report(childPath(n.at, field), format, a...)
}

// done refuses every field that nobody asked for.
func (n *node) done() {
	for _, key := range sortedKeys(n.fields) {
		if !n.known[key] {
			n.wrong(key, "this field is not supported here")
		}
	}
}

func (n *node) take(field string) (any, bool) {
	n.known[field] = true
	v, ok := n.fields[field]
	return v, ok
}

func (n *node) has(field string) bool {
	_, ok := n.fields[field]
	return ok
}

// text reads an optional string.
func (n *node) text(field string) string {
	v, ok := n.take(field)
	s, isString := v.(string)
	if ok && !isString {
		n.wrong(field, "must be a string")
	}
	return s
}

// need reads a string that must be there.
func (n *node) need(field string) string {
	if !n.has(field) {
		n.known[field] = true
		n.wrong(field, "is missing")
		return ""
	}
	s := n.text(field)
	if s == "" {
		n.wrong(field, "must not be empty")
	}
	return s
}

func (n *node) boolean(field string) bool {
	v, ok := n.take(field)
	b, isBool := v.(bool)
	if ok && !isBool {
		n.wrong(field, "must be true or false")
	}
	return b
}

// maxSeconds is AWS's upper bound on every number of seconds.
const maxSeconds = 99999999

// integer reads an optional whole number of at least least.
func (n *node) integer(field string, least, fallback int) int {
	v, ok := n.take(field)
	if !ok {
		return fallback
	}
	num, _ := v.(json.Number)
	i, err := num.Int64()
	if err != nil || i < int64(least) || i > maxSeconds {
		n.wrong(field, "must be a whole number from %d to %d", least, maxSeconds)
		return fallback
	}
	return int(i)
}

func (n *node) seconds(field string, least int) time.Duration {
	return time.Duration(n.integer(field, least, 0)) * time.Second
}

func (n *node) float(field string, least, fallback float64) float64 {
	v, ok := n.take(field)
	if !ok {
		return fallback
	}
	f, isNum := number(v)
	if !isNum || f < least || math.IsInf(f, 0) {
		n.wrong(field, "must be a number of at least %g", least)
		return fallback
	}
	return f
}

// object reads an object that must be there; nil when it is not.
func (n *node) object(field string) *node {
	v, ok := n.take(field)
	if !ok {
		n.wrong(field, "is missing")
		return nil
	}
	c := n.p.node(childPath(n.at, field), v)
	if c.fields == nil {
		return nil
	}
	return c
}

// objects reads an optional array of objects.
func (n *node) objects(field string) []*node {
	v, ok := n.take(field)
	if !ok {
		return nil
	}
	list, isList := v.([]any)
	if !isList || len(list) == 0 {
		n.wrong(field, "must be an array that is not empty")
		return nil
	}
	out := make([]*node, len(list))
	for i, x := range list {
		out[i] = n.p.node(fmt.Sprintf("%s[%d]", childPath(n.at, field), i), x)
	}
	return out
}

// childPath gives the JSONPath of a member.
func childPath(at, key string) string {
	plain := key != "" && !strings.ContainsFunc(key, func(r rune) bool { return !nameRune(r) })
	if plain {
		return at + "." + key
	}
	return fmt.Sprintf("%s['%s']", at, strings.ReplaceAll(key, "'", `\'`))
}
