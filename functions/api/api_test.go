package api_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/stamp"
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

func TestCreate(t *testing.T) {
	w := newWorld(t)
	w.do(call{route: "POST /v1/analyses", key: "k", body: goodBody}).want(t, 402, "no_credit")
	w.grant(2)
	first := w.do(call{route: "POST /v1/analyses", key: "k", body: goodBody}).want(t, 201, "")
	if first.str("status") != "reserved" {
		t.Errorf("answer %s", first.Body)
	}
	again := w.do(call{route: "POST /v1/analyses", key: "k", body: strings.ReplaceAll(goodBody, "\n", " ")}).want(t, 201, "")
	if again.str("analysis_id") != first.str("analysis_id") {
		t.Errorf("the same request got another analysis: %s", again.Body)
	}
	w.do(call{route: "POST /v1/analyses", key: "k", body: strings.Replace(goodBody, `"n"`, `"other"`, 1)}).want(t, 422, "idempotency_key_reused")
	if c := w.do(call{route: "GET /v1/credits"}).want(t, 200, ""); c.body["balance"] != 1.0 {
		t.Errorf("credits %s, want a balance of 1", c.Body)
	}
	b64 := call{route: "POST /v1/analyses", key: "b64", body: base64.StdEncoding.EncodeToString([]byte(goodBody)), base64: true}
	w.do(b64).want(t, 201, "")
}

func TestCreateBadRequests(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	ok := strings.Replace(goodBody, "\n\t", "", 1)
	for name, tc := range map[string]struct {
		body, key, code string
		status          int
	}{
		"no key":           {ok, "", "idempotency_key_missing", 400},
		"key too long":     {ok, strings.Repeat("k", names.MaxIdempotency+1), "idempotency_key_invalid", 400},
		"key not ASCII":    {ok, "clé", "idempotency_key_invalid", 400},
		"no body":          {"", "k", "invalid_request", 400},
		"no JSON":          {"clips", "k", "invalid_request", 400},
		"array":            {"[]", "k", "invalid_request", 400},
		"null":             {"null", "k", "invalid_request", 400},
		"unknown field":    {strings.Replace(ok, `"notes"`, `"note"`, 1), "k", "invalid_request", 400},
		"wrong type":       {strings.Replace(ok, `:10`, `:"10"`, 1), "k", "invalid_request", 400},
		"fraction":         {strings.Replace(ok, `:10`, `:10.5`, 1), "k", "invalid_request", 400},
		"overflow":         {strings.Replace(ok, `:10`, `:99999999999999999999`, 1), "k", "invalid_request", 400},
		"something after":  {ok + "{}", "k", "invalid_request", 400},
		"cut":              {ok[:len(ok)-3], "k", "invalid_request", 400},
		"too large":        {ok + strings.Repeat(" ", names.MaxBodyBytes), "k", "body_too_large", 413},
		"no consent":       {strings.Replace(ok, "true", "false", 1), "k", "validation_failed", 422},
		"clip too large":   {strings.Replace(ok, ":10", fmt.Sprint(":", names.MaxClipBytes+1), 1), "k", "validation_failed", 422},
		"bad e-mail":       {strings.Replace(ok, "z@example.com", "z", 1), "k", "validation_failed", 422},
		"no clips":         {`{"consent":true}`, "k", "validation_failed", 422},
		"nested too deep?": {strings.Repeat("[", 20000), "k", "invalid_request", 400},
	} {
		t.Run(name, func(t *testing.T) {
			w.do(call{route: "POST /v1/analyses", key: tc.key, body: tc.body}).want(t, tc.status, tc.code)
		})
	}
	bad := call{route: "POST /v1/analyses", key: "k", body: "%%%", base64: true}
	w.do(bad).want(t, 400, "invalid_request")
	if c := w.do(call{route: "GET /v1/credits"}); c.body["balance"] != 1.0 {
		t.Errorf("a bad request cost a credit: %s", c.Body)
	}
}

// policy decodes the POST policy of an upload.
func policy(t *testing.T, up map[string]any) (conditions string, expires time.Time) {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(up["fields"].(map[string]any)["policy"].(string))
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Expiration time.Time
		Conditions json.RawMessage
	}
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	return string(p.Conditions), p.Expiration
}

func TestUploads(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	r := w.do(call{route: "POST /v1/analyses", key: "k", body: goodBody}).want(t, 201, "")
	id := r.str("analysis_id")
	for _, r := range []reply{r, w.do(call{route: uploads, id: id}).want(t, 200, "")} {
		ups := r.body["uploads"].([]any)
		if len(ups) != 1 {
			t.Fatalf("uploads = %s", r.Body)
		}
		up := ups[0].(map[string]any)
		cond, until := policy(t, up)
		for _, want := range []string{
			fmt.Sprintf(`["content-length-range",0,%d]`, names.MaxClipBytes), `["starts-with","$Content-Type",""]`,
			fmt.Sprintf(`"key":%q`, names.ClipKey(id, 0)), fmt.Sprintf(`"bucket":%q`, names.Bucket)} {
			if !strings.Contains(cond, want) {
				t.Errorf("policy %s lacks %s", cond, want)
			}
		}
		f := up["fields"].(map[string]any)
		if f["key"] != names.ClipKey(id, 0) || f["Content-Type"] != "video/mp4" || f["X-Amz-Security-Token"] != "session" {
			t.Errorf("fields = %v", f)
		}
		at, err := time.Parse(time.RFC3339, up["expires_at"].(string))
		if err != nil || until.Sub(at).Abs() > 2*time.Second || time.Until(at) > names.UploadLifetime {
			t.Errorf("expires_at %v, policy until %v, %v", at, until, err)
		}
	}
	w.bucket.put(names.ClipKey(id, 0), "video")
	w.do(call{route: confirm, id: id}).want(t, 202, "")
	w.do(call{route: uploads, id: id}).want(t, 409, "analysis_running")
	if again := w.do(call{route: "POST /v1/analyses", key: "k", body: goodBody}).want(t, 201, ""); len(again.body["uploads"].([]any)) != 0 || again.str("status") != "queued" {
		t.Errorf("create again after the confirm: %s", again.Body)
	}
}

func TestConfirm(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.reserve("k")
	if p := w.do(call{route: confirm, id: id}).want(t, 409, "clips_missing"); fmt.Sprint(p.body["clips"]) != "[0]" {
		t.Errorf("problem = %s", p.Body)
	}
	w.bucket.put(names.ClipKey(id, 0), "") // an empty file is the precheck's to refuse
	w.do(call{route: confirm, id: id, body: `{"x":1}`}).want(t, 422, "validation_failed")
	w.do(call{route: confirm, id: id, body: `[]`}).want(t, 400, "invalid_request")

	w.steps.err = errors.New("crash between queued and StartExecution")
	if r := w.do(call{route: confirm, id: id}); r.StatusCode < 500 {
		t.Fatalf("answer %d although nothing was started", r.StatusCode)
	}
	w.steps.err = nil
	for range 2 {
		if r := w.do(call{route: confirm, id: id, body: "{}"}).want(t, 202, ""); r.str("status") != "queued" {
			t.Errorf("answer %s", r.Body)
		}
	}
	name := analysis.ExecutionName(id, 1)
	if w.steps.started[name] != 2 || len(w.steps.started) != 1 || w.bucket.reads != 2 {
		t.Errorf("started %v, %d reads of the bucket; want one name, and one pin after one miss", w.steps.started, w.bucket.reads)
	}
	w.steps.closed[name] = true // it ended meanwhile: the answer is still the state of the analysis
	w.do(call{route: confirm, id: id}).want(t, 202, "")

	cancelled := w.reserve("k2")
	w.do(call{route: cancel, id: cancelled}).want(t, 200, "")
	w.do(call{route: confirm, id: cancelled}).want(t, 409, "analysis_ended")
}

func TestConfirmParallel(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	id := w.reserve("k")
	w.bucket.put(names.ClipKey(id, 0), "video")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if r := w.do(call{route: confirm, id: id}); r.StatusCode != 202 {
				t.Errorf("answer %d %s", r.StatusCode, r.Body)
			}
		})
	}
	wg.Wait()
	if len(w.steps.started) != 1 || w.steps.started[analysis.ExecutionName(id, 1)] == 0 {
		t.Errorf("started %v", w.steps.started)
	}
	row, err := w.deps.Life.Get(t.Context(), id)
	if err != nil || row.Status != analysis.Queued || row.Clips[0].VersionID == "" {
		t.Errorf("row %+v, %v", row, err)
	}
}

// A lost answer anywhere on the way from create to confirm costs nothing.
func TestLostAnswers(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	for _, op := range []string{"TransactWriteItems", "UpdateItem", "GetItem"} {
		fn := api.New(w.with(w.server.Faulty(&dynamotest.Faults{Next: dynamotest.First(99, op, dynamotest.Lost)})))
		r := w.send(fn, call{route: "POST /v1/analyses", key: "k", body: goodBody}.event())
		if op == "TransactWriteItems" && (r.StatusCode != 503 || r.Headers["Retry-After"] == "") {
			t.Errorf("create with every answer lost: %d %s, want 503 with Retry-After", r.StatusCode, r.Body)
		}
		id := analysis.ID(athlete, "k")
		w.bucket.put(names.ClipKey(id, 0), "video")
		w.send(fn, call{route: confirm, id: id}.event())
	}
	id := w.reserve("k") // the client asks again
	w.do(call{route: confirm, id: id}).want(t, 202, "")
	if c := w.do(call{route: "GET /v1/credits"}); c.body["balance"] != 0.0 || len(c.body["entries"].([]any)) != 2 {
		t.Errorf("credits %s; want one grant and one reservation", c.Body)
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

func (w *world) begin(id string) {
	w.t.Helper()
	if b, err := w.deps.Life.Begin(w.t.Context(), id, 1, analysis.ExecutionName(id, 1), nil); err != nil || !b.Proceed {
		w.t.Fatalf("begin: %+v, %v", b, err)
	}
}

func TestReport(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.confirmed("k")
	w.do(call{route: report, id: id}).want(t, 409, "report_not_ready")
	w.begin(id)
	if _, err := w.deps.Ends.Deliver(t.Context(), id, 1, "x", outcome.Report{PDFKey: "reports/p.pdf", JSONKey: "reports/p.json"}); err != nil {
		t.Fatal(err)
	}
	got := w.do(call{route: report, id: id}).want(t, 200, "")
	for member, key := range map[string]string{"report_pdf": "reports/p.pdf", "report_json": "reports/p.json"} {
		l := got.body[member].(map[string]any)
		u, err := url.Parse(l["url"].(string))
		if err != nil || !strings.HasSuffix(u.Path, key) || u.Query().Get("X-Amz-Expires") != "900" || u.Query().Get("X-Amz-Signature") == "" {
			t.Errorf("%s = %v, %v", member, l, err)
		}
	}
	failed := w.reserve("k2")
	w.do(call{route: cancel, id: failed}).want(t, 200, "")
	if p := w.do(call{route: report, id: failed}).want(t, 409, "no_report"); p.str("reason") != "cancelled" {
		t.Errorf("problem %s", p.Body)
	}
}

// TestReportRevisions: the newest report is served with its number; those before
// it stay.
func TestReportRevisions(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	id := w.confirmed("k")
	w.begin(id)
	if _, err := w.deps.Ends.Deliver(t.Context(), id, 1, "x", outcome.Report{PDFKey: "reports/p.pdf", JSONKey: "reports/p.json"}); err != nil {
		t.Fatal(err)
	}
	if got := w.do(call{route: report, id: id}).want(t, 200, ""); got.body["revision"] != 0.0 || got.body["changed"] != "" || len(got.body["revisions"].([]any)) != 1 {
		t.Errorf("as delivered: %s", got.Body)
	}
	v, err := stamp.MarshalMap(analysis.Revision{Number: 1, Name: "report-v2", Changed: "New words.", ReportPDF: "reports/r.pdf", ReportJSON: "reports/r.json", At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	set := "SET revisions = :v"
	if _, err := w.db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &names.Analyses.Name, Key: analysis.Key(id), UpdateExpression: &set,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":v": &ddb.AttributeValueMemberL{Value: []ddb.AttributeValue{&ddb.AttributeValueMemberM{Value: v}}}}}); err != nil {
		t.Fatal(err)
	}
	got := w.do(call{route: report, id: id}).want(t, 200, "")
	all := got.body["revisions"].([]any)
	if got.body["revision"] != 1.0 || got.body["changed"] != "New words." || len(all) != 2 {
		t.Fatalf("revised: %s", got.Body)
	}
	for i, want := range []string{"reports/p.pdf", "reports/r.pdf"} {
		u, err := url.Parse(all[i].(map[string]any)["report_pdf"].(map[string]any)["url"].(string))
		if err != nil || !strings.HasSuffix(u.Path, want) {
			t.Errorf("revision %d is at %v, %v; want %s", i, u, err, want)
		}
	}
	if u, err := url.Parse(got.body["report_pdf"].(map[string]any)["url"].(string)); err != nil || !strings.HasSuffix(u.Path, "reports/r.pdf") {
		t.Errorf("the newest is at %v, %v", u, err)
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
