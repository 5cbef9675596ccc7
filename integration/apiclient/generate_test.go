package apiclient_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write generated.go anew")

// named are the Go names of schemas and operations that read better than those
// that the document's own would give; whatever is not here gets one all the same.
var named = map[string]string{
	"createIn": "CreateRequest", "athleteIn": "Athlete", "consentIn": "ConsentBy", "clipIn": "NewClip", "created": "Created", "standing": "Standing",
	"view": "Analysis", "listOut": "Page", "reportOut": "Report", "creditsOut": "Ledger", "meOut": "Me", "meIn": "Choice", "meInChannels": "ChosenChannels",
	"erasureOut": "Erasure", "grantIn": "GrantRequest", "grantOut": "Granted", "exportOut": "Export",
	"post_analyses": "Create", "get_analyses": "List", "get_analyses_one": "Show", "post_analyses_one_cancel": "Cancel", "post_analyses_one_confirm": "Confirm",
	"get_analyses_one_report": "Report", "post_analyses_one_rerun": "Rerun", "post_analyses_one_uploads": "Uploads", "get_credits": "Credits", "get_me": "Me",
	"put_me": "Choose", "delete_me": "Erase", "get_me_export": "Export", "post_operator_grants": "Grant", "get_usage": "Usage",
}

// goName makes a Go name of one of the document's.
func goName(s string) string {
	if n, ok := named[s]; ok {
		return n
	}
	var b strings.Builder
	for w := range strings.SplitSeq(s, "_") {
		switch {
		case w == "id" || w == "url" || w == "pdf" || w == "json" || w == "usd" || w == "ms":
			b.WriteString(strings.ToUpper(w))
		case w != "":
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return b.String()
}

type docSchema struct {
	Ref        string               `json:"$ref"`
	Type       any                  `json:"type"`
	Format     string               `json:"format"`
	Enum       []any                `json:"enum"`
	Properties map[string]docSchema `json:"properties"`
	Additional *docSchema           `json:"additionalProperties"`
	Items      *docSchema           `json:"items"`
	Required   []string             `json:"required"`
}

// UnmarshalJSON takes additionalProperties as a schema or as a word.
func (s *docSchema) UnmarshalJSON(b []byte) error {
	type plain docSchema
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if a := m["additionalProperties"]; bytes.Equal(a, []byte("false")) || bytes.Equal(a, []byte("true")) {
		delete(m, "additionalProperties")
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, (*plain)(s))
}

type docContent map[string]struct {
	Schema docSchema `json:"schema"`
}

type docOperation struct {
	ID         string `json:"operationId"`
	Summary    string `json:"summary"`
	Parameters []struct {
		In       string    `json:"in"`
		Name     string    `json:"name"`
		Required bool      `json:"required"`
		Schema   docSchema `json:"schema"`
	} `json:"parameters"`
	Body *struct {
		Content docContent `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content docContent `json:"content"`
	} `json:"responses"`
}

type openAPI struct {
	Paths      map[string]map[string]docOperation `json:"paths"`
	Components struct {
		Schemas map[string]docSchema `json:"schemas"`
	} `json:"components"`
}

// goType is the Go type of a schema; optional times, numbers and objects of an
// answer are pointers.
func goType(s docSchema, optional, request bool) string {
	name, nullable := "", false
	if list, ok := s.Type.([]any); ok {
		nullable = slices.Contains(list, any("null"))
		s.Type = list[0]
	}
	switch {
	case s.Ref != "":
		name = goName(s.Ref[strings.LastIndexByte(s.Ref, '/')+1:])
		nullable = nullable || optional && !request
	case s.Type == "string" && s.Format == "date-time":
		name, nullable = "time.Time", nullable || optional && !request
	case s.Type == "string":
		name = "string"
	case s.Type == "integer":
		name = "int64"
	case s.Type == "number":
		name = "float64"
	case s.Type == "boolean":
		name = "bool"
	case s.Type == "array":
		return "[]" + goType(*s.Items, false, request)
	case s.Additional != nil:
		return "map[string]" + goType(*s.Additional, false, request)
	default:
		return "any"
	}
	if nullable {
		return "*" + name
	}
	return name
}

// generate writes the client that the document describes.
func generate(t *testing.T, doc openAPI) []byte {
	var b bytes.Buffer
	b.WriteString("// Code generated from the API's OpenAPI document by go test -run Generated -update; DO NOT EDIT.\n\npackage apiclient\n\nimport (\n\t\"context\"\n\t\"net/http\"\n\t\"net/url\"\n\t\"time\"\n)\n")
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		s := doc.Components.Schemas[name]
		request := strings.Contains(name, "In")
		fmt.Fprintf(&b, "\n// %s is the document's %s.\ntype %[1]s struct {\n", goName(name), name)
		for _, p := range slices.Sorted(maps.Keys(s.Properties)) {
			optional := !slices.Contains(s.Required, p)
			tag := p
			if optional && request {
				tag += ",omitzero"
			}
			fmt.Fprintf(&b, "\t%s %s `json:%q`\n", goName(p), goType(s.Properties[p], optional, request), tag)
		}
		b.WriteString("}\n")
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			operation(t, &b, path, method, doc.Paths[path][method])
		}
	}
	out, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	return out
}

// operation writes a method; one whose body is signed byte by byte is for its
// sender to make.
func operation(t *testing.T, b *bytes.Buffer, path, method string, op docOperation) {
	args, query, key, tagged := []string{"ctx context.Context"}, []string{}, `""`, false
	target := `"` + path + `"`
	for _, p := range op.Parameters {
		switch {
		case p.Name == "X-Signature":
			return
		case p.In == "path":
			args = append(args, p.Name+" string")
			target = strings.Replace(target, "{"+p.Name+"}", `" + url.PathEscape(`+p.Name+`) + "`, 1)
		case p.Name == "Idempotency-Key":
			args, key = append(args, "key string"), "key"
		case p.Name == "If-None-Match":
			tagged = true
		case p.In == "query":
			name := strings.ReplaceAll(p.Name, "analysis_id", "analysisID")
			args = append(args, name+" "+goType(p.Schema, false, true))
			query = append(query, fmt.Sprintf("%q: text(%s)", p.Name, name))
		}
	}
	target = strings.ReplaceAll(strings.TrimSuffix(target, ` + ""`), `analysis_id`, `id`)
	in := "nil"
	if op.Body != nil {
		args, in = append(args, "in "+goType(op.Body.Content["application/json"].Schema, false, true)), "in"
	}
	out := ""
	for status, r := range op.Responses {
		if strings.HasPrefix(status, "2") {
			out = goType(r.Content["application/json"].Schema, false, false)
		}
	}
	if out == "" {
		t.Fatalf("%s has no answer", op.ID)
	}
	list := strings.ReplaceAll(strings.Join(args, ", "), "analysis_id string", "id string")
	q := "nil"
	if len(query) > 0 {
		q = "map[string]string{" + strings.Join(query, ", ") + "}"
	}
	constant := "http.Method" + strings.ToUpper(method[:1]) + method[1:]
	fmt.Fprintf(b, "\n// %[1]s is %[2]s. %[3]s\nfunc (c *Client) %[1]s(%[4]s) (out %[5]s, err error) {\n\treturn out, c.call(ctx, request{%[6]s, %[7]s, %[8]s, %[9]s, \"\"}, %[10]s, &out)\n}\n",
		goName(op.ID), strings.ToUpper(method)+" "+path, op.Summary, list, out, constant, target, q, key, in)
	if tagged {
		fmt.Fprintf(b, "\n// %[1]sSince is %[1]s for who has seen the answer with a tag; out is empty when it is still the same.\nfunc (c *Client) %[1]sSince(%[2]s, tag string) (out %[3]s, seen Seen, err error) {\n\treturn tagged[%[3]s](c, ctx, request{%[4]s, %[5]s, %[6]s, \"\", tag})\n}\n",
			goName(op.ID), list, out, constant, target, q)
	}
}

// The client is what the document gives, and nothing else.
func TestGenerated(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "functions", "api", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc openAPI
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	want := generate(t, doc)
	if *update {
		if err := os.WriteFile("generated.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("generated.go")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("generated.go is not what the document gives (%v); go test ./integration/apiclient -run Generated -update writes it", err)
	}
}
