package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/names"
)

// schema is a part of the document, as far as hostile bodies need it.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Const      any               `json:"const"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	MinLength  *int              `json:"minLength"`
	MaxLength  *int              `json:"maxLength"`
	MaxItems   *int              `json:"maxItems"`
	Format     string            `json:"format"`
}

// document is the served description.
type document struct {
	Paths map[string]map[string]struct {
		RequestBody *struct {
			Content map[string]struct {
				Schema schema `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

func (d document) resolve(s schema) schema {
	if s.Ref == "" {
		return s
	}
	return d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
}

// valid makes a value that the schema accepts, with every member.
func (d document) valid(s schema) any {
	s = d.resolve(s)
	switch {
	case s.Const != nil:
		return s.Const
	case s.Enum != nil:
		return s.Enum[len(s.Enum)-1]
	}
	switch s.Type {
	case "object":
		m := map[string]any{}
		for k, p := range s.Properties {
			m[k] = d.valid(p)
		}
		return m
	case "array":
		return []any{d.valid(*s.Items)}
	case "integer":
		return 1
	case "boolean":
		return true
	}
	if s.Format == "email" {
		return "z@example.com"
	}
	return "x"
}

// site is a place in a value: how to replace it, and its schema.
type site struct {
	path   string
	schema schema
	set    func(v any)
	drop   func()
}

// sites visits every member and element of v.
func (d document) sites(path string, s schema, v any, set func(any), drop func(), visit func(site)) {
	s = d.resolve(s)
	visit(site{path, s, set, drop})
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			d.sites(path+"."+k, s.Properties[k], v[k], func(n any) { v[k] = n }, func() { delete(v, k) }, visit)
		}
	case []any:
		for i := range v {
			d.sites(fmt.Sprintf("%s[%d]", path, i), *s.Items, v[i], func(n any) { v[i] = n }, nil, visit)
		}
	}
}

// wrong gives values that a place's schema refuses.
func wrong(s schema) []any {
	bad := []any{nil}
	for t, v := range map[string]any{"string": "text", "number": 1.5, "boolean": true, "array": []any{}, "object": map[string]any{}} {
		if s.Type != t {
			bad = append(bad, v)
		}
	}
	if s.Type == "integer" {
		bad = append(bad, json.RawMessage("1e999"), json.RawMessage("99999999999999999999"), json.RawMessage("1.0000001"))
	}
	if s.Maximum != nil {
		bad = append(bad, json.RawMessage(fmt.Sprintf("%.0f", *s.Maximum+1)))
	}
	if s.Minimum != nil {
		bad = append(bad, *s.Minimum-1)
	}
	if s.MaxLength != nil {
		bad = append(bad, strings.Repeat("அ", *s.MaxLength+1))
	}
	if s.MinLength != nil {
		bad = append(bad, "")
	}
	if s.Enum != nil || s.Format == "email" {
		bad = append(bad, "no such thing", "z@example.com\r\nBcc: all@example.com")
	}
	if b, ok := s.Const.(bool); ok {
		bad = append(bad, !b)
	}
	return bad
}

// rowsOf is all that the database holds.
func (w *world) rowsOf() string {
	w.t.Helper()
	var b strings.Builder
	for _, t := range names.Tables() {
		out, err := w.db.Scan(w.t.Context(), &dynamodb.ScanInput{TableName: &t.Name})
		if err != nil {
			w.t.Fatal(err)
		}
		var rows []string
		for _, it := range out.Items {
			j, _ := json.Marshal(it)
			rows = append(rows, string(j))
		}
		slices.Sort(rows)
		fmt.Fprintln(&b, t.Name, rows)
	}
	return b.String()
}

// old lists members that every client of now must send, by the document, and apps of
// before may leave out.
var old = map[string]bool{"PUT /v1/me version": true} // TestChannelsOfAnOldApp says what that does

// Every body that the document refuses is refused by the code: a 4xx problem, and
// nothing is written.
func TestHostileBodies(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	var doc document
	served := w.do(call{route: "GET /v1/openapi.json"}).want(t, 200, "")
	if err := json.Unmarshal([]byte(served.Body), &doc); err != nil {
		t.Fatal(err)
	}
	before, tried := w.rowsOf(), 0
	send := func(route, what string, body []byte) {
		t.Helper()
		tried++
		c := call{route: route, key: "k", body: string(body), groups: "[operators]"}
		if route == payments {
			c.headers = paid("ev", string(body), time.Now()).headers
		}
		if !utf8.Valid(body) { // the gateway encodes what is no text
			c.body, c.base64 = base64.StdEncoding.EncodeToString(body), true
		}
		if r := w.do(c); r.StatusCode < 400 || r.StatusCode > 499 {
			t.Errorf("%s with %s: %d %s\n%.300s", route, what, r.StatusCode, r.Body, body)
		}
	}
	for path, ops := range doc.Paths {
		for method, op := range ops {
			if op.RequestBody == nil {
				continue
			}
			route := strings.ToUpper(method) + " " + path
			s := op.RequestBody.Content["application/json"].Schema
			whole, err := json.Marshal(doc.valid(s))
			if err != nil {
				t.Fatal(err)
			}
			fresh := func() any {
				var v any
				if err := json.Unmarshal(whole, &v); err != nil {
					t.Fatal(err)
				}
				return v
			}
			var places []string
			doc.sites("body", s, fresh(), nil, nil, func(p site) { places = append(places, p.path) })
			for _, place := range places {
				at := func(do func(site)) []byte {
					v := fresh()
					root := v
					doc.sites("body", s, v, func(n any) { root = n }, nil, func(p site) {
						if p.path == place {
							do(p)
						}
					})
					b, err := json.Marshal(root)
					if err != nil {
						t.Fatal(err)
					}
					return b
				}
				var here schema
				at(func(p site) { here = p.schema })
				for _, bad := range wrong(here) {
					send(route, fmt.Sprintf("%s = %.40v", place, bad), at(func(p site) { p.set(bad) }))
				}
				for _, k := range here.Required {
					if old[route+" "+k] && place == "body" {
						continue
					}
					send(route, place+" without "+k, at(func(p site) {
						v := doc.valid(p.schema).(map[string]any)
						delete(v, k)
						p.set(v)
					}))
				}
				if here.Properties != nil {
					for _, extra := range []string{"extra", "__proto__", "", strings.ToUpper(slices.Sorted(maps.Keys(here.Properties))[0])} {
						send(route, fmt.Sprintf("%s with unknown %q", place, extra), at(func(p site) {
							v := doc.valid(p.schema).(map[string]any)
							v[extra] = 1
							p.set(v)
						}))
					}
				}
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 40 { // cut, and bytes that are no JSON or no UTF-8 in its place
				b := slices.Clone(whole)
				b[r.IntN(len(b)-1)] = []byte{0, 0xff, '"', '{', ']', '\\'}[r.IntN(6)]
				if !json.Valid(b) || strings.ContainsRune(string(b), '\ufffd') {
					send(route, "a wrong byte", b)
				}
				send(route, "a cut", whole[:r.IntN(len(whole))])
			}
			for what, b := range map[string]string{"10 MB": `{"notes":"` + strings.Repeat("x", 10<<20) + `"}`, "nothing": "", "null": "null", "a list": "[]",
				"deep": strings.Repeat("[", 100_000), "two documents": string(whole) + string(whole), "a BOM": "\ufeff" + string(whole),
				"a member twice": `{` + strings.Repeat(string(whole[1:len(whole)-1])+",", 1) + string(whole[1:])} {
				send(route, what, []byte(b))
			}
		}
	}
	t.Logf("%d bodies refused", tried)
	if tried < 500 {
		t.Errorf("only %d bodies were tried: the search is broken", tried)
	}
	if after := w.rowsOf(); after != before {
		t.Errorf("something was written:\n%s\n%s", before, after)
	}
}

// Any name is taken, and none gets into a key or turns a line around.
func TestHostileNames(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(root(t), "..", "shared", "cases", "payloads", "n_names.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skip("../shared/cases is not here")
	}
	var fixtures any
	if err := json.Unmarshal(b, &fixtures); err != nil {
		t.Fatal(err)
	}
	all := append(texts(fixtures), "../../etc/passwd", "-i", "%00", "clip%03d", "a\u202eb", "x\r\nBcc: y", "<script>alert(1)</script>", "\u0000", "💥")
	w.grant(len(all))
	for i, name := range all {
		if len([]rune(name)) > names.MaxNameRunes {
			continue
		}
		q, _ := json.Marshal(name)
		body := fmt.Sprintf(`{"athlete":{"name":%s},"notes":%s,"consent":true,"clips":[{"name":%s,"type":"video/quicktime"},{"name":%s}]}`, q, q, q, q)
		r := w.do(call{route: "POST /v1/analyses", key: fmt.Sprint("n", i), body: body}).want(t, 201, "")
		for _, up := range r.body["uploads"].([]any) {
			key := up.(map[string]any)["fields"].(map[string]any)["key"].(string)
			if !strings.HasPrefix(key, names.PrefixClips+r.str("analysis_id")+"/") {
				t.Errorf("%q became part of the key %q", name, key)
			}
		}
		row, err := w.deps.Life.Get(t.Context(), r.str("analysis_id"))
		if err != nil || strings.ContainsAny(row.AthleteName, "\r\n\u202e\x00") {
			t.Errorf("%q is stored as %q, %v", name, row.AthleteName, err)
		}
	}
}

// texts are the strings in a JSON value.
func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			out = append(out, texts(e)...)
		}
	case map[string]any:
		for _, e := range v {
			out = append(out, texts(e)...)
		}
	}
	return out
}

// root is the project's folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, e := os.Stat(filepath.Join(dir, "go.mod")); e == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("no go.mod above the working directory")
	return ""
}
