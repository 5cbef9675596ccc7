package asl

import (
	"errors"
	"strings"
	"testing"
)

// fill compiles and fills a template.
func fill(t *testing.T, tmpl, input string) (any, error) {
	t.Helper()
	p := &parser{}
	node := p.template("$.P", value(t, tmpl))
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return (&Template{node}).Eval(value(t, input), value(t, `{"Task":{"Token":"tok"}}`))
}

func TestTemplate(t *testing.T) {
	const in = `{"n":7,"s":"ann","o":{"k":[1]},"j":"{\"z\":1}","huge":9007199254740993}`
	for _, tc := range []struct{ tmpl, want string }{
		{`{"a":1,"b":{"c.$":"$.n"},"d":[{"e.$":"$.s"},2,null]}`, `{"a":1,"b":{"c":7},"d":[{"e":"ann"},2,null]}`},
		{`{"t.$":"$$.Task.Token","all.$":"$"}`, `{"all":{"huge":9007199254740993,"j":"{\"z\":1}","n":7,"o":{"k":[1]},"s":"ann"},"t":"tok"}`},
		{`{"x.$":"States.Format('{}-{} of \\{{}\\}', $.s, $.n, 'q')"}`, `{"x":"ann-7 of {q}"}`},
		{`{"x.$":"States.Format('it\\'s {}', $.o)"}`, `{"x":"it's {\"k\":[1]}"}`},
		{`{"x.$":"States.Array($.n, 'a\\\\b', null, true, 1.5, States.Array())"}`, `{"x":[7,"a\\b",null,true,1.5,[]]}`},
		{`{"x.$":"States.StringToJson($.j)"}`, `{"x":{"z":1}}`},
		{`{"x.$":"States.JsonToString($.o)"}`, `{"x":"{\"k\":[1]}"}`},
		{`{"x.$":"States.MathAdd($.n, -8)"}`, `{"x":-1}`},
		{`{"x.$":"States.MathAdd($.huge, 1)"}`, `{"x":9007199254740994}`},
		{`{"x.$":"States.Format( '{}' , $['s'] )"}`, `{"x":"ann"}`},
	} {
		t.Run(tc.tmpl, func(t *testing.T) {
			got, err := fill(t, tc.tmpl, in)
			if err != nil {
				t.Fatal(err)
			}
			if string(Encode(got)) != tc.want {
				t.Errorf("got %s, want %s", Encode(got), tc.want)
			}
		})
	}
}

func TestTemplateFails(t *testing.T) {
	for _, tc := range []struct{ tmpl, input, want string }{
		{`{"x.$":"$.missing"}`, `{}`, "States.Runtime: The JSONPath '$.missing' specified for the field 'x.$' could not be found in the input '{}'"},
		{`{"x.$":"$$.Task.Nope"}`, `{}`, "States.Runtime"},
		{`{"x.$":"States.StringToJson($.s)"}`, `{"s":"{"}`, "States.IntrinsicFailure"},
		{`{"x.$":"States.StringToJson($.s)"}`, `{"s":1}`, "States.IntrinsicFailure"},
		{`{"x.$":"States.MathAdd($.s, 1)"}`, `{"s":1.5}`, "States.IntrinsicFailure"},
		{`{"x.$":"States.Format('{} {}', 1)"}`, `{}`, "States.IntrinsicFailure"},
		{`{"x.$":"States.Format('{}', 1, 2)"}`, `{}`, "States.IntrinsicFailure"},
		{`{"x.$":"States.Format($.n, 1)"}`, `{"n":1}`, "States.IntrinsicFailure"},
	} {
		t.Run(tc.tmpl, func(t *testing.T) {
			_, err := fill(t, tc.tmpl, tc.input)
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestTemplateRefused(t *testing.T) {
	for _, tc := range []struct{ tmpl, want string }{
		{`{"x.$":1}`, "$.P['x.$']: a field whose name ends in .$ must hold a path"},
		{`{"x.$":"plain"}`, "does not start with $"},
		{`{"x.$":"$.a","x":1}`, "the field stands twice"},
		{`{"x.$":"States.UUID()"}`, `function "States.UUID" is not supported (supported: States.Array, States.Format`},
		{`{"x.$":"States.MathAdd(1)"}`, "wrong number of arguments"},
		{`{"x.$":"States.Array(1"}`, "a closing bracket is missing"},
		{`{"x.$":"States.Array(1) "}`, ""},
		{`{"x.$":"States.Array(1) x"}`, "text after the closing bracket"},
		{`{"x.$":"States.Array('a)"}`, "a string is not closed"},
		{`{"x.$":"States.Array(nope)"}`, `argument "nope" is neither`},
		{`{"x.$":"States.Array($..a)"}`, "deep scan"},
		{`{"x.$":"` + strings.Repeat("States.Array(", 12) + strings.Repeat(")", 12) + `"}`, "nested more than 10 deep"},
	} {
		t.Run(tc.tmpl, func(t *testing.T) {
			_, err := fill(t, tc.tmpl, `{}`)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
}
