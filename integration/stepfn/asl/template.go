package asl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Template is a payload template (Parameters, ResultSelector, ItemSelector):
// JSON in which a field whose name ends in ".$" holds a path or an intrinsic
// function instead of a value.
type Template struct{ root tmplNode }

type tmplNode interface {
	eval(input, context any) (any, error)
}

type (
	constNode  struct{ v any }
	objectNode []member
	listNode   []tmplNode
	pathNode   struct {
		field string
		path  *Path
	}
	callNode struct {
		field string
		call  *call
	}
	member struct {
		name string
		node tmplNode
	}
)

// Eval fills the template. A path that finds nothing is a States.Runtime error.
func (t *Template) Eval(input, context any) (any, error) { return t.root.eval(input, context) }

func (n constNode) eval(any, any) (any, error) { return n.v, nil }

func (n objectNode) eval(input, context any) (any, error) {
	out := make(map[string]any, len(n))
	for _, m := range n {
		v, err := m.node.eval(input, context)
		if err != nil {
			return nil, err
		}
		out[m.name] = v
	}
	return out, nil
}

func (n listNode) eval(input, context any) (any, error) {
	out := make([]any, len(n))
	for i, x := range n {
		var err error
		if out[i], err = x.eval(input, context); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (n pathNode) eval(input, context any) (any, error) {
	return evalPath(n.path, n.field, input, context)
}

func (n callNode) eval(input, context any) (any, error) { return n.call.eval(n.field, input, context) }

// evalPath reads a path that a field needs. AWS documents the failure as
// States.ParameterPathFailure and reports States.Runtime, which nothing
// catches; ../README.md has the source.
func evalPath(p *Path, field string, input, context any) (any, error) {
	v, ok := p.Get(input, context)
	if ok {
		return v, nil
	}
	root := input
	if p.Context {
		root = context
	}
	return nil, &Error{ErrRuntime, fmt.Sprintf("The JSONPath '%s' specified for the field '%s' could not be found in the input '%s'", p, field, Encode(root))}
}

// template compiles v, reporting what is wrong with it.
func (p *parser) template(at string, v any) tmplNode {
	switch v := v.(type) {
	case map[string]any:
		return p.templateObject(at, v)
	case []any:
		out := make(listNode, len(v))
		for i, x := range v {
			out[i] = p.template(fmt.Sprintf("%s[%d]", at, i), x)
		}
		return out
	}
	return constNode{v}
}

func (p *parser) templateObject(at string, obj map[string]any) tmplNode {
	out := objectNode{}
	for _, key := range sortedKeys(obj) {
		here := childPath(at, key)
		name, dynamic := strings.CutSuffix(key, ".$")
		if !dynamic {
			out = append(out, member{key, p.template(here, obj[key])})
			continue
		}
		if _, both := obj[name]; both {
			p.report(here, "the field stands twice, with and without .$")
		}
		text, ok := obj[key].(string)
		if !ok {
			p.report(here, "a field whose name ends in .$ must hold a path or an intrinsic function")
			continue
		}
		out = append(out, member{name, p.dynamic(here, key, text)})
	}
	return out
}

func (p *parser) dynamic(at, field, text string) tmplNode {
	if strings.HasPrefix(text, "States.") {
		c, err := parseCall(text)
		if err != nil {
			p.report(at, "%v", err)
		}
		return callNode{field, c}
	}
	path, err := ParsePath(text)
	if err != nil {
		p.report(at, "%v", err)
	}
	return pathNode{field, path}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
