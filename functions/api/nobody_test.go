package api_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"fastbowlinglab/shared/names"
)

// Routes that take no body refuse one, whatever it is, and do nothing.
func TestHostileBodiesWhereNoneIsTaken(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.reserve("k")
	w.bucket.put(names.ClipKey(id, 0), "video")
	var doc document
	if err := json.Unmarshal([]byte(w.do(call{route: "GET /v1/openapi.json"}).Body), &doc); err != nil {
		t.Fatal(err)
	}
	before, tried := w.rowsOf(), 0
	for path, ops := range doc.Paths {
		for method, op := range ops {
			if op.RequestBody != nil || method == "get" {
				continue
			}
			tried++
			for what, body := range map[string]string{"10 MB": `{"a":"` + strings.Repeat("x", 10<<20) + `"}`, "null": "null", "a list": "[]", "a number": "1", "a member": `{"a":1}`,
				"a cut": `{"a":`, "an open object": "{", "two objects": "{}{}", "no UTF-8": "\xff\xfe", "a BOM": "\ufeff{}", "deep": strings.Repeat(`{"a":`, 5000),
				"NUL": "\x00", "a member twice": `{"a":1,"a":2}`, "__proto__": `{"__proto__":{"admin":true}}`} {
				c := call{route: strings.ToUpper(method) + " " + path, id: id, key: "n", body: body}
				if !utf8.ValidString(body) {
					c.body, c.base64 = base64.StdEncoding.EncodeToString([]byte(body)), true
				}
				if r := w.do(c); r.StatusCode < 400 || r.StatusCode > 499 {
					t.Errorf("%s with %s: %d %s", c.route, what, r.StatusCode, r.Body)
				}
			}
		}
	}
	if tried < 5 {
		t.Errorf("%d routes were tried", tried)
	}
	if after := w.rowsOf(); after != before {
		t.Errorf("something was written:\n%s\n%s", before, after)
	}
}

// Queries and path parts that no client of ours sends: never a 5xx, nothing of
// anybody else's, nothing written.
func TestHostileQueriesAndPaths(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.reserve("k")
	hostile := []string{"", " ", "0", "-1", "101", "1e9", "999999999999999999999", "NaN", "null", "[object Object]", "%00", "\x00", "a\r\nX: y", "../../x", "' OR 1=1 --",
		"${jndi:ldap://x}", strings.Repeat("9", 5000), "பந்து", "💥", "\u202e", "e30", "eyJjIjoiIiwiaSI6IiJ9", base64.RawURLEncoding.EncodeToString([]byte(`{"c":1,"i":2}`)),
		base64.RawURLEncoding.EncodeToString([]byte(`{"c":"2026","i":"` + id + `","athlete_id":"ath-2"}`)), "2026-02-30", "an-" + strings.Repeat("a", 26)}
	before := w.rowsOf()
	for _, r := range names.Routes() {
		if r.Function != names.FnAPI || r.Method != "GET" {
			continue
		}
		for _, v := range hostile {
			for _, name := range []string{"limit", "cursor", "day", "analysis_id", "task", "model", "__proto__"} {
				c := call{route: r.Key(), id: id, sub: "ath-2", groups: "[operators]", query: map[string]string{name: v}}
				got := w.do(c)
				if got.StatusCode >= 500 {
					t.Errorf("%s?%s=%.60q: %d %s", r.Key(), name, v, got.StatusCode, got.Body)
				}
				if r.Access == names.AccessAthlete && strings.Contains(got.Body, id) {
					t.Errorf("%s?%s=%.60q shows somebody else's analysis: %s", r.Key(), name, v, got.Body)
				}
			}
			if strings.Contains(r.Path, "{analysis_id}") && v != "" {
				if got := w.do(call{route: r.Key(), id: v, sub: "ath-2"}); got.StatusCode != 404 {
					t.Errorf("%s of %.60q: %d %s", r.Key(), v, got.StatusCode, got.Body)
				}
			}
		}
	}
	for _, r := range names.Routes() {
		if r.Method != "POST" || !strings.Contains(r.Path, "{analysis_id}") {
			continue
		}
		for _, v := range hostile {
			if v == "" {
				continue
			}
			if got := w.do(call{route: r.Key(), id: v, key: "x"}); got.StatusCode != 404 {
				t.Errorf("%s of %.60q: %d %s", r.Key(), v, got.StatusCode, got.Body)
			}
		}
	}
	if after := w.rowsOf(); after != before {
		t.Error("something was written")
	}
}
