package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write schema/report-v1.schema.json anew")

const schemaFile = "schema/report-v1.schema.json"

// schemaOf derives a JSON schema from a type of json.go.
func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		s := schemaOf(t.Elem())
		s["type"] = []any{s["type"], "null"}
		return s
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Struct:
		props, required := map[string]any{}, []any{}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := schemaOf(f.Type)
			p["description"] = f.Tag.Get("doc")
			props[name] = p
			required = append(required, name)
		}
		return map[string]any{"type": "object", "additionalProperties": false, "required": required, "properties": props}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	panic("no schema for " + t.String())
}

func derived(t testing.TB) []byte {
	s := schemaOf(reflect.TypeFor[File]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "FastBowlingLab report"
	s["description"] = "report.json: the numbers and texts behind a report. Lengths of time are seconds, angles degrees, all in the picture plane."
	s["properties"].(map[string]any)["version"].(map[string]any)["const"] = Version
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

func TestSchemaIsPublished(t *testing.T) {
	want := derived(t)
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say; go test ./shared/report -run Schema -update writes it", schemaFile)
	}
	if strings.Contains(string(want), `"description": ""`) {
		t.Error("a field has no description")
	}
}

// validate checks report.json against the published schema.
func validate(t testing.TB, js []byte) {
	t.Helper()
	b, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(js, &doc); err != nil {
		t.Fatalf("report.json is not JSON: %v", err)
	}
	for _, e := range conform(schema, doc, "report") {
		t.Error(e)
	}
}

// conform is the part of JSON Schema that the published file uses.
func conform(schema map[string]any, v any, at string) (errs []string) {
	types, ok := schema["type"].([]any)
	if !ok {
		types = []any{schema["type"]}
	}
	kind := map[bool]string{true: "null"}[v == nil]
	switch x := v.(type) {
	case bool:
		kind = "boolean"
	case string:
		kind = "string"
	case float64:
		kind = "number"
		if x == float64(int64(x)) && slices.Contains(types, any("integer")) {
			kind = "integer"
		}
	case []any:
		kind = "array"
		for i, e := range x {
			if items, ok := schema["items"].(map[string]any); ok {
				errs = append(errs, conform(items, e, fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case map[string]any:
		kind = "object"
		props, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, r := range required {
			if _, ok := x[r.(string)]; !ok {
				errs = append(errs, fmt.Sprintf("%s: %s is missing", at, r))
			}
		}
		for k, e := range x {
			p, ok := props[k].(map[string]any)
			if !ok {
				errs = append(errs, fmt.Sprintf("%s: %s is not in the schema", at, k))
				continue
			}
			errs = append(errs, conform(p, e, at+"."+k)...)
		}
	}
	if !slices.Contains(types, any(kind)) {
		errs = append(errs, fmt.Sprintf("%s: %s, want %v", at, kind, types))
	}
	if c, ok := schema["const"]; ok && c != v {
		errs = append(errs, fmt.Sprintf("%s: %v, want %v", at, v, c))
	}
	return errs
}

func TestOutputFollowsTheSchema(t *testing.T) {
	_, js := build(t, reporter(t), sample(t, "bowler", ""))
	validate(t, js)
	_, js = build(t, reporter(t), Input{})
	validate(t, js)
}

// The validator itself must notice.
func TestSchemaCheckNotices(t *testing.T) {
	_, js := build(t, reporter(t), Input{})
	var schema map[string]any
	if err := json.Unmarshal(derived(t), &schema); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(map[string]any){
		"missing":  func(m map[string]any) { delete(m, "limits") },
		"extra":    func(m map[string]any) { m["legal"] = true },
		"type":     func(m map[string]any) { m["attempt"] = "1" },
		"fraction": func(m map[string]any) { m["attempt"] = 1.5 },
		"null":     func(m map[string]any) { m["clips"] = nil },
		"version":  func(m map[string]any) { m["version"] = 2.0 },
	} {
		var doc map[string]any
		if err := json.Unmarshal(js, &doc); err != nil {
			t.Fatal(err)
		}
		spoil(doc)
		if len(conform(schema, doc, "report")) == 0 {
			t.Errorf("%s: the schema check saw nothing", name)
		}
	}
}
