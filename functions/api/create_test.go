package api_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
)

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
