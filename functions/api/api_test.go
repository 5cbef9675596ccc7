package api_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

func TestEveryRouteIsServed(t *testing.T) {
	w := newWorld(t)
	for _, r := range names.Routes() {
		if r.Function != names.FnAPI {
			continue
		}
		if got := w.do(call{route: r.Key(), id: "an-x", groups: "[operators]"}); got.StatusCode == 404 && got.str("code") == "no_such_route" {
			t.Errorf("%s is declared and not served", r.Key())
		}
	}
	w.do(call{route: "DELETE /v1/analyses"}).want(t, 404, "no_such_route")
}

func TestAccess(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	id := w.reserve("k")
	for _, route := range []string{show, report, uploads, confirm, cancel} {
		w.do(call{route: route, id: id, sub: "ath-2"}).want(t, 404, "analysis_not_found")
		w.do(call{route: route, id: "an-none"}).want(t, 404, "analysis_not_found")
		w.do(call{route: route, id: analysis.ID("nobody", "k")}).want(t, 404, "analysis_not_found")
	}
	grant := call{route: "POST /v1/operator/grants", key: "k", body: `{"athlete_id":"a","credits":1,"reason":"r"}`}
	for _, groups := range []string{"", "[athletes]", "operators2", "[not-operators]"} {
		grant.groups = groups
		w.do(grant).want(t, 403, "operators_only")
		w.do(call{route: "GET /v1/usage", groups: groups, query: map[string]string{"analysis_id": id}}).want(t, 403, "operators_only")
	}
	ev := call{route: "GET /v1/credits"}.event()
	ev.RequestContext.Authorizer = nil
	w.send(w.fn, ev).want(t, 401, "unauthorised")
}

// API Gateway's JWT authorizer does not look at token_use; an ID token of the
// same pool passes it.
func TestOnlyAccessTokensCount(t *testing.T) {
	w := newWorld(t)
	for _, use := range []string{"id", "refresh", ""} {
		ev := call{route: "GET /v1/credits"}.event()
		ev.RequestContext.Authorizer.JWT.Claims["token_use"] = use
		w.send(w.fn, ev).want(t, 401, "unauthorised")
	}
}

func TestShow(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.confirmed("k")
	first := w.do(call{route: show, id: id}).want(t, 200, "")
	if first.str("status") != "queued" || first.body["progress"] != nil || first.str("created_at") == "" || first.body["attempt"] != 1.0 {
		t.Errorf("queued: %s", first.Body)
	}
	tag := first.Headers["ETag"]
	if got := w.do(call{route: show, id: id, headers: map[string]string{"If-None-Match": `"x", W/` + tag}}); got.StatusCode != 304 || got.Body != "" {
		t.Errorf("with its tag: %d %q", got.StatusCode, got.Body)
	}
	w.begin(id)
	w.progress.part = 0.25
	running := w.do(call{route: show, id: id, headers: map[string]string{"if-none-match": tag}}).want(t, 200, "")
	if running.body["progress"] != 0.25 || !strings.Contains(running.str("stage"), "clip 1") {
		t.Errorf("running: %s", running.Body)
	}
	w.progress.err = errors.New("no answer")
	w.do(call{route: show, id: id}).want(t, 200, "") // the status is shown without the progress
	if strings.Contains(first.Body, names.ClipKey(id, 0)) || strings.Contains(first.Body, "z@example.com") {
		t.Errorf("shows keys or the address: %s", first.Body)
	}
	if _, err := w.deps.Ends.Reject(t.Context(), id, 1, "x", reason.NotBowling); err != nil {
		t.Fatal(err)
	}
	end := w.do(call{route: show, id: id}).want(t, 200, "")
	if end.str("status") != "rejected" || end.str("reason") != "not_bowling" || end.str("message") != reason.NotBowling.Sentence() ||
		end.body["refunded"] != true || end.str("ended_at") == "" {
		t.Errorf("rejected: %s", end.Body)
	}
}

func TestCancel(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.confirmed("k")
	for range 2 { // a lost answer is repaired by asking again
		if r := w.do(call{route: cancel, id: id}).want(t, 200, ""); r.str("status") != "failed" || r.str("reason") != "cancelled" {
			t.Errorf("answer %s", r.Body)
		}
	}
	if !w.steps.closed[analysis.ExecutionName(id, 1)] {
		t.Error("its execution goes on")
	}
	if c := w.do(call{route: "GET /v1/credits"}); c.body["balance"] != 2.0 {
		t.Errorf("credits %s", c.Body)
	}
	running := w.confirmed("k2")
	w.begin(running)
	mark := analysis.MarkClaimed(names.Analyses.Name, running, 1, time.Now())
	w.transact(mark)
	w.do(call{route: cancel, id: running}).want(t, 409, "analysis_running")
}

func TestListPages(t *testing.T) {
	w := newWorld(t)
	w.grant(5)
	for i := range 5 {
		w.reserve(fmt.Sprint("k", i))
	}
	seen := map[string]bool{}
	q := map[string]string{"limit": "2"}
	for pages := 0; ; pages++ {
		r := w.do(call{route: "GET /v1/analyses", query: q}).want(t, 200, "")
		for _, a := range r.body["analyses"].([]any) {
			seen[a.(map[string]any)["analysis_id"].(string)] = true
		}
		if r.str("next_cursor") == "" || pages > 5 {
			break
		}
		q["cursor"] = r.str("next_cursor")
	}
	if len(seen) != 5 {
		t.Errorf("%d analyses in all pages, want 5", len(seen))
	}
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"c":"` + strings.Repeat("9", 3000) + `","i":"an-x"}`)) // longer than a key may be
	for _, bad := range []map[string]string{{"limit": "0"}, {"cursor": "!"}, {"cursor": forged}} {
		w.do(call{route: "GET /v1/analyses", query: bad}).want(t, 400, "invalid_request")
	}
	if r := w.do(call{route: "GET /v1/analyses", sub: "nobody"}); r.Body != `{"analyses":[]}` {
		t.Errorf("of nobody: %s", r.Body)
	}
}

func TestGrant(t *testing.T) {
	w := newWorld(t)
	g := call{route: "POST /v1/operator/grants", sub: "op", groups: "operators", key: "k", body: `{"athlete_id":"ath-1","credits":2,"reason":"welcome"}`}
	first := w.do(g).want(t, 201, "")
	if again := w.do(g).want(t, 201, ""); again.Body != first.Body {
		t.Errorf("again: %s, first: %s", again.Body, first.Body)
	}
	g.body = `{"athlete_id":"ath-1","credits":3,"reason":"welcome"}`
	w.do(g).want(t, 422, "idempotency_key_reused")
	g.key = ""
	w.do(g).want(t, 400, "idempotency_key_missing")
	g.key = "other"
	for _, body := range []string{`{"athlete_id":"","credits":1,"reason":"r"}`, `{"athlete_id":"a","credits":0,"reason":"r"}`,
		`{"athlete_id":"a","credits":-5,"reason":"r"}`, `{"athlete_id":"a","credits":1}`, `{"athlete_id":"a","credits":99999999,"reason":"r"}`} {
		g.body = body
		w.do(g).want(t, 400, "invalid_request")
	}
	c := w.do(call{route: "GET /v1/credits"}).want(t, 200, "")
	e := c.body["entries"].([]any)
	if c.body["balance"] != 2.0 || len(e) != 1 || e[0].(map[string]any)["kind"] != "grant" || strings.Contains(c.Body, `"op"`) {
		t.Errorf("credits %s", c.Body)
	}
}

// What goes wrong inside is a problem document, and says nothing of the inside.
func TestPanicAndInternalErrors(t *testing.T) {
	w := newWorld(t)
	broken := w.deps
	broken.Usage.DB = nil
	r := w.send(api.New(broken), call{route: "GET /v1/usage", groups: "operators", query: map[string]string{"day": "2025-01-01"}}.event())
	if r.StatusCode != 500 || strings.Contains(r.Body, "nil") {
		t.Errorf("panic: %d %s", r.StatusCode, r.Body)
	}
	broken = w.deps
	broken.Life.Analyses = "no-such-table"
	r = w.send(api.New(broken), call{route: show, id: analysis.ID("a", "k")}.event())
	if r.StatusCode != 500 || strings.Contains(r.Body, "no-such-table") {
		t.Errorf("no table: %d %s", r.StatusCode, r.Body)
	}
}
