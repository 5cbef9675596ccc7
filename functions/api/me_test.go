package api_test

import (
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
)

func TestChannels(t *testing.T) {
	w := newWorld(t)
	me := w.do(call{route: "GET /v1/me"}).want(t, 200, "")
	if me.Body != `{"athlete_id":"ath-1","channels":{"email":true,"push":true},"version":0}` {
		t.Errorf("me %s", me.Body)
	}
	for _, bad := range []string{`{}`, `{"channels":{}}`, `{"channels":{"email":true}}`, `{"channels":{"email":"no","push":true}}`,
		`{"channels":{"email":true,"push":true},"version":null}`, `{"channels":{"email":true,"push":true},"version":-1}`} {
		w.do(call{route: "PUT /v1/me", body: bad}).want(t, 400, "invalid_request")
	}
	noMail := call{route: "PUT /v1/me", body: `{"channels":{"email":false,"push":true},"version":0}`}
	for range 2 { // the second as after a lost answer
		w.do(noMail).want(t, 200, "")
	}
	// The other tab still shows both, and wants no push: it does not bring the mail back.
	w.do(call{route: "PUT /v1/me", body: `{"channels":{"email":true,"push":false},"version":0}`}).want(t, 409, "channels_changed")
	again := w.do(call{route: "GET /v1/me", headers: map[string]string{"if-none-match": me.Headers["ETag"]}}).want(t, 200, "")
	if !strings.Contains(again.Body, `"email":false`) {
		t.Errorf("me %s", again.Body)
	}
	w.do(call{route: "GET /v1/me", headers: map[string]string{"if-none-match": again.Headers["ETag"]}}).want(t, 304, "")
}

// An app of before there were versions is heard when it declines, and never turns on
// what was declined elsewhere.
func TestChannelsOfAnOldApp(t *testing.T) {
	w := newWorld(t)
	put := func(channels string) call { return call{route: "PUT /v1/me", body: `{"channels":` + channels + `}`} }
	for range 2 { // the second as after a lost answer
		if r := w.do(put(`{"email":false,"push":true}`)).want(t, 200, ""); !strings.Contains(r.Body, `"channels":{"email":false,"push":true},"version":1`) {
			t.Errorf("no mail: %s", r.Body)
		}
	}
	for _, more := range []string{`{"email":true,"push":true}`, `{"email":true,"push":false}`} { // the old app still shows mail
		for range 2 {
			if r := w.do(put(more)).want(t, 409, "channels_changed"); !strings.Contains(r.Body, "needs an update") {
				t.Errorf("%s: %s", more, r.Body)
			}
		}
	}
	if me := w.do(call{route: "GET /v1/me"}).want(t, 200, ""); !strings.Contains(me.Body, `"channels":{"email":false,"push":false},"version":2`) {
		t.Errorf("me %s", me.Body)
	}
	w.do(call{route: "PUT /v1/me", body: `{"channels":{"email":true,"push":true},"version":2}`}).want(t, 200, "")
}

// A child's consent counts only when a parent gives it, by name.
func TestConsent(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	with := func(athlete, by string) string {
		return strings.Replace(strings.Replace(goodBody, `{"name":"Zoë"}`, `{"name":"Zoë"`+athlete+`}`, 1), `"consent":true`, `"consent":true`+by, 1)
	}
	for _, bad := range []string{with(`,"under_age":true`, ""), with(`,"under_age":true`, `,"consent_by":{"role":"self"}`),
		with(`,"under_age":true`, `,"consent_by":{"role":"parent"}`), with("", `,"consent_by":{"role":"coach","name":"C"}`),
		with(`,"under_age":true`, `,"consent_by":{"role":"parent","name":" \u202e "}`)} {
		w.do(call{route: "POST /v1/analyses", key: "k", body: bad}).want(t, 422, "validation_failed")
	}
	id := w.do(call{route: "POST /v1/analyses", key: "k", body: with(`,"under_age":true`, `,"consent_by":{"role":"parent","name":"Ana"}`)}).want(t, 201, "").str("analysis_id")
	row, err := w.deps.Life.Get(t.Context(), id)
	if err != nil || row.ConsentBy == nil || row.ConsentBy.Role != analysis.ConsentParent || row.ConsentBy.Name != "Ana" || !row.ConsentBy.UnderAge ||
		time.Since(row.ConsentBy.At) > time.Minute {
		t.Errorf("consent %+v, %v", row.ConsentBy, err)
	}
	own := w.reserve("own")
	if row, err = w.deps.Life.Get(t.Context(), own); err != nil || row.ConsentBy.Role != analysis.ConsentSelf {
		t.Errorf("consent %+v, %v", row.ConsentBy, err)
	}
}

func TestExport(t *testing.T) {
	w := newWorld(t)
	w.grant(7)
	for _, k := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		id := w.reserve(k)
		w.bucket.put(names.ClipKey(id, 0), "video")
		w.bucket.put(names.ChunkKey(id, 1, 1, 0, 0), "keypoints")
		w.bucket.put(names.ReportPDFKey(id, 1), "report")
	}
	w.bucket.put(names.ClipKey("an-other", 0), "somebody else's")
	seen, pages, cursor := map[string]bool{}, 0, ""
	for {
		q := map[string]string{}
		if cursor != "" {
			q["cursor"] = cursor
		}
		r := w.do(call{route: "GET /v1/me/export", query: q}).want(t, 200, "")
		for _, a := range r.body["analyses"].([]any) {
			m := a.(map[string]any)
			seen[m["analysis_id"].(string)] = true
			if len(m["files"].([]any)) != 3 || m["email"] != "z@example.com" || m["notes"] != "n" || m["athlete_name"] != "Zoë" {
				t.Errorf("analysis %v", m)
			}
		}
		pages++
		if cursor = r.str("next_cursor"); cursor == "" {
			break
		}
	}
	if len(seen) != 7 || pages != 2 {
		t.Errorf("%d analyses on %d pages, want 7 on 2", len(seen), pages)
	}
	if r := w.do(call{route: "GET /v1/me/export", sub: "ath-2"}).want(t, 200, ""); len(r.body["analyses"].([]any)) != 0 {
		t.Errorf("somebody else's export: %s", r.Body)
	}
}

func TestDeletionIsAskedForOnce(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.reserve("k")
	first := w.do(call{route: "DELETE /v1/me"}).want(t, 202, "")
	if again := w.do(call{route: "DELETE /v1/me"}).want(t, 202, ""); again.Body != first.Body || first.str("state") != "open" {
		t.Errorf("%s, then %s", first.Body, again.Body)
	}
	for _, c := range []call{{route: "POST /v1/analyses", key: "new", body: goodBody}, {route: confirm, id: id}, {route: uploads, id: id},
		{route: "PUT /v1/me", body: `{"channels":{"email":true,"push":true},"version":0}`}, {route: rerun, id: id, key: "r"}} {
		w.do(c).want(t, 409, "athlete_erased")
	}
	if me := w.do(call{route: "GET /v1/me"}).want(t, 200, ""); me.body["erasure"].(map[string]any)["state"] != "open" {
		t.Errorf("me %s", me.Body)
	}
	w.do(call{route: "POST /v1/analyses", key: "new", body: goodBody, sub: "ath-2"}).want(t, 402, "no_credit")
}

// A ledger in pages: every entry once.
func TestCreditsInPages(t *testing.T) {
	w := newWorld(t)
	for range 7 {
		w.grant(1)
	}
	seen, cursor := map[string]int{}, ""
	for pages := 1; ; pages++ {
		q := map[string]string{"limit": "3"}
		if cursor != "" {
			q["cursor"] = cursor
		}
		r := w.do(call{route: "GET /v1/credits", query: q}).want(t, 200, "")
		for _, e := range r.body["entries"].([]any) {
			seen[e.(map[string]any)["entry"].(string)]++
		}
		if cursor = r.str("next_cursor"); cursor == "" {
			if pages != 3 {
				t.Errorf("%d pages, want 3", pages)
			}
			break
		}
	}
	if len(seen) != 7 {
		t.Errorf("entries %v, want 7", seen)
	}
	for _, q := range []map[string]string{{"cursor": "x"}, {"cursor": "e30"}, {"limit": "0"}, {"limit": "101"}, {"limit": ""}} {
		w.do(call{route: "GET /v1/credits", query: q}).want(t, 400, "invalid_request")
	}
}

// The estimate follows from the progress, and the tag stands while nothing moves.
func TestEstimate(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	id := w.confirmed("k")
	if _, err := w.deps.Life.Begin(t.Context(), id, 1, analysis.ExecutionName(id, 1), nil); err != nil {
		t.Fatal(err)
	}
	w.transact(analysis.MarkClaimed(names.Analyses.Name, id, 1, time.Now().Add(-40*time.Second)))
	w.progress.part, w.progress.moved = 0.5, time.Now()
	r := w.do(call{route: show, id: id}).want(t, 200, "")
	end, err := time.Parse(time.RFC3339, r.str("estimated_end"))
	if d := time.Until(end); err != nil || d < 50*time.Second || d > 90*time.Second {
		t.Errorf("estimated end %s from now, %v: %s", d, err, r.Body)
	}
	w.do(call{route: show, id: id, headers: map[string]string{"if-none-match": r.Headers["ETag"]}}).want(t, 304, "")
	w.progress.part = 0.01
	if r := w.do(call{route: show, id: id}).want(t, 200, ""); r.str("estimated_end") != "" {
		t.Errorf("an estimate from nothing: %s", r.Body)
	}
}

// A key that a call can do without is checked all the same.
func TestNeedlessKeys(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	id := w.reserve("k")
	for _, route := range []string{uploads, confirm, cancel} {
		w.do(call{route: route, id: id, key: "cl\u00e9"}).want(t, 400, "idempotency_key_invalid")
	}
	w.do(call{route: uploads, id: id, key: "any"}).want(t, 200, "")
}
