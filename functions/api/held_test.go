package api_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/analysis"
	athletes "fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/stamp"
	"fastbowlinglab/shared/tags"
	"fastbowlinglab/shared/usage"
)

// at walks into an answer: "a.b" is b of a, or of each element of a.
func at(v any, path string) (out []any) {
	if path == "" {
		return []any{v}
	}
	head, rest, _ := strings.Cut(path, ".")
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, at(e, path)...)
		}
	case map[string]any:
		if e, ok := v[head]; ok {
			return at(e, rest)
		}
	}
	return out
}

func (w *world) put(table string, v any) {
	w.t.Helper()
	item, err := stamp.MarshalMap(v)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		w.t.Fatal(err)
	}
}

// delivered is an analysis with a report, of which every table holds something.
func (w *world) delivered(key string) (id string) {
	w.t.Helper()
	id = w.confirmed(key)
	w.begin(id)
	if _, err := w.deps.Ends.Deliver(w.t.Context(), id, 1, "x", outcome.Report{PDFKey: "p", JSONKey: "j"}); err != nil {
		w.t.Fatal(err)
	}
	row, err := w.deps.Life.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(names.PoseJobs.Name, map[string]any{"analysis_id": id, "state": "done", "attempt": 1, "model": "model-of-" + id})
	w.put(names.Tags.Name, map[string]any{"day": row.EndedDay, "item": tags.PartRow + id + "#tags-1", "analysis_id": id, "tags_version": "tags-1",
		"action_type": "action-of-" + id, "flags": []string{}, "written_at": time.Now()})
	w.bucket.put(names.ChunkKey(id, 1, 1, 0, 0), "keypoints")
	err = usage.Record(w.t.Context(), w.db, names.Usage.Name, usage.Call{AnalysisID: id, Attempt: 1, Task: "findings", Fence: 1, Provider: "rules",
		Model: "call-of-" + id, At: time.Now(), Outcome: "ok"})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// The export shows what every table holds of an athlete, as the rules say, and
// nothing of anybody else's.
func TestExportShowsEveryTable(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.delivered("k")
	if err := w.deps.People.Suppress(t.Context(), "z@example.com", athletes.Bounced); err != nil {
		t.Fatal(err)
	}
	w.do(call{route: "PUT /v1/me", body: `{"channels":{"email":true,"push":false},"version":0}`}).want(t, 200, "")
	w.do(call{route: "DELETE /v1/me"}).want(t, 202, "")
	ex := w.do(call{route: "GET /v1/me/export"}).want(t, 200, "")
	for _, tb := range names.Tables() {
		rule, ok := erasure.Rules()[tb.Name]
		if !ok || len(rule.Exported) == 0 && rule.Unseen == "" {
			t.Errorf("table %s: no rule says how an athlete sees what it holds of them", tb.Name)
		}
		for _, path := range rule.Exported {
			vs := at(ex.body, path)
			if len(vs) == 0 || fmt.Sprint(vs[0]) == "[]" || fmt.Sprint(vs[0]) == "" {
				t.Errorf("table %s: the export has no %s: %s", tb.Name, path, ex.Body)
			}
		}
	}
	for path, want := range map[string]string{"analyses.pose_job.model": "model-of-" + id, "analyses.tags.action_type": "action-of-" + id,
		"analyses.model_calls.model": "call-of-" + id, "analyses.email_suppressed": "bounce", "analyses.notices.kind": "ready",
		"ledger.kind": "reserve", "me.channels.push": "false", "me.erasure.state": "open", "balance": "1"} {
		if vs := at(ex.body, path); len(vs) == 0 || fmt.Sprint(vs[0]) != want {
			t.Errorf("%s = %v, want %s", path, vs, want)
		}
	}
	other := w.do(call{route: "GET /v1/me/export", sub: "ath-2"}).want(t, 200, "")
	if strings.Contains(other.Body, id) || strings.Contains(other.Body, "z@example.com") {
		t.Errorf("somebody else's export: %s", other.Body)
	}
	for _, secret := range []string{"token1", "token2", "request_hash", "version_id"} {
		if strings.Contains(ex.Body, `"`+secret) {
			t.Errorf("the export shows %s", secret)
		}
	}
}

// Every field of an analysis's row is in its export, or named here with why not.
func TestExportKnowsEveryField(t *testing.T) {
	ours := map[string]string{
		"AthleteID": "me.athlete_id", "RequestHash": "a digest of the request", "Execution": "a name made of the id", "EndedBy": "which program",
		"EndedDay": "of ended_at", "Open": "of status", "ReportPDF": "files", "ReportJSON": "files", "ResultKey": "files", "Revisions": "files", "SweptAt": "when the name was removed",
	}
	w := newWorld(t)
	var doc document
	if err := json.Unmarshal([]byte(w.do(call{route: "GET /v1/openapi.json"}).Body), &doc); err != nil {
		t.Fatal(err)
	}
	schema := doc.Components.Schemas["exportAnalysis"].Properties
	if len(schema) < 20 {
		t.Fatalf("the document's exportAnalysis has %d members", len(schema))
	}
	row := reflect.TypeFor[analysis.Row]()
	for i := range row.NumField() {
		f := row.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("dynamodbav"), ",")
		if _, ok := schema[name]; !ok && ours[f.Name] == "" {
			t.Errorf("analysis.Row.%s is held and not exported: add it to exportAnalysis, or say here why not", f.Name)
		}
	}
}

// A page of an export is cut where its answer would grow too large for Lambda,
// between two analyses, and all of them come in the end.
func TestExportPagesAreBounded(t *testing.T) {
	w := newWorld(t)
	w.grant(4)
	for _, k := range []string{"a", "b", "c", "d"} {
		id := w.reserve(k)
		for i := range 800 {
			w.bucket.put(names.ChunkKey(id, 1, 1, 0, i), "keypoints")
		}
	}
	seen, pages, q := 0, 0, map[string]string{}
	for {
		r := w.do(call{route: "GET /v1/me/export", query: q}).want(t, 200, "")
		if len(r.Body) > 5<<20 {
			t.Errorf("a page of %d bytes", len(r.Body))
		}
		for _, a := range r.body["analyses"].([]any) {
			seen++
			if n := len(a.(map[string]any)["files"].([]any)); n != 800 {
				t.Errorf("%d files, want 800", n)
			}
		}
		if r.body["ledger"] != nil != (pages == 0) {
			t.Errorf("page %d: ledger %v", pages, r.body["ledger"])
		}
		pages++
		if r.str("next_cursor") == "" {
			break
		}
		q = map[string]string{"cursor": r.str("next_cursor")}
	}
	if seen != 4 || pages != 2 {
		t.Errorf("%d analyses on %d pages, want 4 on 2", seen, pages)
	}
}
