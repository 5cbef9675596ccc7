package asl

import (
	"strings"
	"testing"
)

func value(t testing.TB, s string) any {
	t.Helper()
	v, err := Decode([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func TestPathGet(t *testing.T) {
	const doc = `{"a":{"b":[10,20,30],"x y":1,"it's":2,"é":3,"n":null},"list":[{"k":1},{"k":2},{}],"big":12345678901234567890}`
	for _, tc := range []struct{ path, want string }{ // want "" when nothing is found
		{`$`, doc},
		{`$.a.b[0]`, `10`},
		{`$.a.b[-1]`, `30`},
		{`$.a.b[3]`, ``},
		{`$.a.b[-4]`, ``},
		{`$.a.b[1:]`, `[20,30]`},
		{`$.a.b[:-1]`, `[10,20]`},
		{`$.a.b[2:1]`, `[]`},
		{`$.a.b[*]`, `[10,20,30]`},
		{`$.a['x y']`, `1`},
		{`$.a["it's"]`, `2`},
		{`$.a['it\'s']`, `2`},
		{`$.a.é`, `3`},
		{`$['a'].n`, `null`},
		{`$.a.missing`, ``},
		{`$.a.b.c`, ``},
		{`$.big`, `12345678901234567890`},
		{`$.list[*].k`, `[1,2]`},
		{`$.list.*.k`, `[1,2]`},
		{`$.nothing[*]`, `[]`},
		{`$$.Execution.Name`, `"x-1"`},
		{`$$`, `{"Execution":{"Name":"x-1"}}`},
	} {
		t.Run(tc.path, func(t *testing.T) {
			p, err := ParsePath(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := p.Get(value(t, doc), value(t, `{"Execution":{"Name":"x-1"}}`))
			switch {
			case ok != (tc.want != ""):
				t.Errorf("found: %t", ok)
			case ok && string(Encode(got)) != string(Encode(value(t, tc.want))):
				t.Errorf("got %s, want %s", Encode(got), tc.want)
			}
		})
	}
}

func TestPathRefused(t *testing.T) {
	for _, tc := range []struct{ path, want string }{
		{``, "does not start with $"},
		{`a.b`, "does not start with $"},
		{`$..a`, "deep scan"},
		{`$.a[?(@.b==1)]`, "only 'names', indices, slices and *"},
		{`$.a['b','c']`, "several names"},
		{`$.a[0,1]`, "is not supported"},
		{`$.a[`, "not closed"},
		{`$.a['b`, "not closed"},
		{`$.a.`, "a name is missing"},
		{`$a`, `"a" is not supported in a path`},
		{`$.a.length()`, `"(" is not supported`},
		{`$` + strings.Repeat(".a", 101), "more than 100 steps"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			if _, err := ParsePath(tc.path); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestResultPathPut(t *testing.T) {
	for _, tc := range []struct{ path, input, want string }{
		{`$`, `{"a":1}`, `"r"`},
		{`$.b`, `{"a":1}`, `{"a":1,"b":"r"}`},
		{`$.a`, `{"a":1}`, `{"a":"r"}`},
		{`$.b.c`, `{"b":{"d":1}}`, `{"b":{"c":"r","d":1}}`},
		{`$.x.y.z`, `{}`, `{"x":{"y":{"z":"r"}}}`},
		{`$['x y']`, `{}`, `{"x y":"r"}`},
		{`$.a.b`, `{"a":1}`, `States.ResultPathMatchFailure`},
		{`$.a`, `[1]`, `States.ResultPathMatchFailure`},
		{`$.a`, `null`, `States.ResultPathMatchFailure`},
	} {
		t.Run(tc.path+" into "+tc.input, func(t *testing.T) {
			r, err := parseResultPath(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			in := value(t, tc.input)
			got, err := r.Put(in, "r")
			text := string(Encode(got))
			if e, ok := err.(*Error); ok {
				text = e.Name
			}
			if text != tc.want {
				t.Errorf("got %s (%v), want %s", text, err, tc.want)
			}
			if string(Encode(in)) != string(Encode(value(t, tc.input))) {
				t.Errorf("the input was changed: %s", Encode(in))
			}
		})
	}
	for _, path := range []string{`$.a[0]`, `$.a[*]`, `$$.a`, `a`} {
		if _, err := parseResultPath(path); err == nil {
			t.Errorf("%s is accepted", path)
		}
	}
}

func TestDecodeKeepsNumbers(t *testing.T) {
	const doc = `{"a":12345678901234567890,"b":1.10,"c":"<&>"}`
	if got := string(Encode(value(t, doc))); got != doc {
		t.Errorf("got %s", got)
	}
	for _, bad := range []string{``, `{`, `{} {}`, `nope`} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
