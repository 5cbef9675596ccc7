package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
)

// elsewhere are POST routes of other functions, and what tests their repeats.
var elsewhere = map[string]string{"POST " + names.PoseCallbackPath: "functions/callback: TestTaken, TestRepeatedCallbacks"}

// clocked gives the dependencies a clock.
func clocked(d api.Deps, now func() time.Time) api.Deps {
	d.Now, d.Life.Now, d.Ledger.Now, d.Ends.Now, d.Erasures.Now, d.Signer.Now = now, now, now, now, now, now
	return d
}

// signedAfresh are the parts of an upload form that follow from the moment at
// which it is signed; of the policy, its end.
var signedAfresh = []string{"X-Amz-Date", "X-Amz-Signature", "X-Amz-Credential", "policy"}

// plain is an answer as it is compared: status, body, and the headers that mean
// something; what is signed afresh is replaced by what it allows.
func plain(t *testing.T, r reply) string {
	t.Helper()
	var body any
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		t.Fatalf("%q: %v", r.Body, err)
	}
	if m, ok := body.(map[string]any); ok {
		ups, _ := m["uploads"].([]any)
		for _, u := range ups {
			form := u.(map[string]any)
			delete(form, "expires_at")
			fields := form["fields"].(map[string]any)
			b, err := base64.StdEncoding.DecodeString(fields["policy"].(string))
			var policy map[string]any
			if err != nil || json.Unmarshal(b, &policy) != nil {
				t.Fatalf("policy %q", fields["policy"])
			}
			conditions := strings.ReplaceAll(fmt.Sprint(policy["conditions"]), fmt.Sprint(fields["X-Amz-Date"]), "now")
			fields["allows"] = strings.ReplaceAll(conditions, fmt.Sprint(fields["X-Amz-Credential"]), "us")
			for _, k := range signedAfresh {
				if fields[k] == nil {
					t.Fatalf("the form has no %s: %v", k, form)
				}
				delete(fields, k)
			}
		}
	}
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string]string{}
	maps.Copy(headers, r.Headers)
	return fmt.Sprintf("%d %v %s", r.StatusCode, headers, b)
}

// repeat is how a route is tried: a request, made by prepare in a world where the
// athlete has just one credit, with its answer, and the same request with another
// body. sign makes the request again at another time, where it carries one.
type repeat struct {
	prepare func(w *world) call
	sign    func(c call, at time.Time) call
	status  int
	other   string
}

var repeats = map[string]repeat{
	"POST /v1/analyses": {status: 201, other: strings.Replace(goodBody, `"n"`, `"another note"`, 1),
		prepare: func(*world) call { return call{key: "k", body: goodBody} }},
	uploads: {status: 200, other: `{"clips":[0]}`,
		prepare: func(w *world) call { return call{id: w.reserve("k"), key: "u"} }},
	confirm: {status: 202, other: `{"clips":[0]}`, prepare: func(w *world) call {
		id := w.reserve("k")
		w.bucket.put(names.ClipKey(id, 0), "video")
		return call{id: id, key: "c"}
	}},
	cancel: {status: 200, other: `{"why":"no"}`,
		prepare: func(w *world) call { return call{id: w.confirmed("k"), key: "c"} }},
	rerun: {status: 201, other: `{"clips":[0]}`, prepare: func(w *world) call {
		id := w.confirmed("k")
		w.failed(id) // the credit is back, and the rerun takes it
		return call{id: id, key: "r"}
	}},
	"POST /v1/operator/grants": {status: 201, other: `{"athlete_id":"ath-1","credits":3,"reason":"r"}`, prepare: func(*world) call {
		return call{key: "g", sub: "op", groups: "[operators]", body: `{"athlete_id":"ath-1","credits":2,"reason":"r"}`}
	}},
	payments: {status: 200, other: purchase("p-1", 6),
		prepare: func(*world) call { return paid("ev-1", purchase("p-1", 5), time.Now()) },
		sign:    func(c call, at time.Time) call { return paid("ev-1", c.body, at) }},
}

// Every POST route, as the list of routes has them: the answer is lost after the
// commit, once and for good; the request comes again, 20 times at once, and an
// hour later. One effect, and the same answer to the letter but for signatures;
// never a 402 though the only credit is spent. Another body is 422.
func TestEveryPOSTRepeated(t *testing.T) {
	for _, route := range names.Routes() {
		if route.Method != "POST" || elsewhere[route.Key()] != "" {
			continue
		}
		c, ok := repeats[route.Key()]
		if !ok {
			t.Errorf("%s: say in repeats how it is tried", route.Key())
			continue
		}
		for _, lost := range []int{1, 99} {
			t.Run(fmt.Sprintf("%s lost %d", strings.ReplaceAll(route.Key(), "/", "_"), lost), func(t *testing.T) { c.try(t, route.Key(), lost) })
		}
	}
}

func (c repeat) try(t *testing.T, route string, lost int) {
	w := newWorld(t)
	w.grant(1)
	req := c.prepare(w)
	req.route = route
	if req.sub == "" {
		req.sub = athlete
	}
	// Whatever is answered to the first, it is lost.
	f := &dynamotest.Faults{}
	losses := 0
	f.Next = func(op string) dynamotest.Fault {
		if (op == "TransactWriteItems" || op == "UpdateItem" || op == "PutItem") && losses < lost {
			losses++
			return dynamotest.Lost
		}
		return dynamotest.OK
	}
	w.send(api.New(w.with(w.server.Faulty(f))), req.event())
	first := plain(t, w.do(req).want(t, c.status, ""))
	rows := w.rowsOf()
	started := len(w.steps.started)

	now := time.Now().Add(time.Hour)
	later := api.New(clocked(w.deps, func() time.Time { return now }))
	hour := req
	if c.sign != nil {
		hour = c.sign(req, now)
		hour.route, hour.sub = route, req.sub
	}
	answers := make(chan reply, 40)
	for range 20 {
		go func() { answers <- w.send(w.fn, req.event()) }()
	}
	for range 20 {
		go func() { answers <- w.send(later, hour.event()) }()
	}
	for range 40 {
		if again := plain(t, <-answers); again != first {
			t.Errorf("first %s\nthen  %s", first, again)
		}
	}
	if after := w.rowsOf(); after != rows {
		t.Errorf("the repeats wrote something:\n%s\n%s", rows, after)
	}
	if n := len(w.steps.started); n != started {
		t.Errorf("%d executions, then %d", started, n)
	}
	other := req
	other.body = c.other
	if c.sign != nil {
		other = c.sign(other, time.Now())
		other.route, other.sub = route, req.sub
	}
	if r := w.do(other); r.StatusCode != 422 {
		t.Errorf("another body: %d %s, want 422", r.StatusCode, r.Body)
	}
	if after := w.rowsOf(); after != rows {
		t.Error("another body wrote something")
	}
}

// A repeat is answered alike even when the analysis has gone on, or has ended,
// meanwhile: the answer is of what the request did.
func TestRepeatsAfterTheEnd(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.reserve("k")
	w.bucket.put(names.ClipKey(id, 0), "video")
	confirmed := plain(t, w.do(call{route: confirm, id: id}).want(t, 202, ""))
	w.begin(id)
	if again := plain(t, w.do(call{route: confirm, id: id}).want(t, 202, "")); again != confirmed {
		t.Errorf("while analysing: %s, then %s", confirmed, again)
	}
	w.failed(id)
	if again := plain(t, w.do(call{route: confirm, id: id}).want(t, 202, "")); again != confirmed {
		t.Errorf("after the end: %s, then %s", confirmed, again)
	}
	second := plain(t, w.do(call{route: rerun, id: id, key: "r"}).want(t, 201, ""))
	w.failed(analysis.RerunID(athlete, "r", id))
	if again := plain(t, w.do(call{route: rerun, id: id, key: "r"}).want(t, 201, "")); again != second {
		t.Errorf("the rerun after its end: %s, then %s", second, again)
	}
	if n := w.do(call{route: "POST /v1/analyses", key: "k", body: goodBody}).want(t, 201, ""); n.str("analysis_id") != id {
		t.Errorf("the create after the end: %s", n.Body)
	}
	w.balance(2)
}

// Somebody who was erased gets no new ledger: not by a grant, nor by a purchase
// that comes late. What was entered before is answered as ever.
func TestErasedAthletesGetNoLedger(t *testing.T) {
	w := newWorld(t)
	grant := call{route: "POST /v1/operator/grants", sub: "op", groups: "[operators]", key: "g", body: `{"athlete_id":"ath-1","credits":1,"reason":"r"}`}
	w.do(grant).want(t, 201, "")
	w.do(paid("ev-1", purchase("p-1", 5), time.Now())).want(t, 200, "")
	w.do(call{route: "DELETE /v1/me"}).want(t, 202, "")
	w.do(grant).want(t, 201, "")
	w.do(paid("ev-1", purchase("p-1", 5), time.Now())).want(t, 200, "")
	w.do(paid("ev-2", purchase("p-1", 5), time.Now())).want(t, 200, "") // the same payment, told twice
	rows := w.rowsOf()
	grant.key = "h"
	w.do(grant).want(t, 409, "athlete_erased")
	w.do(paid("ev-3", purchase("p-2", 5), time.Now())).want(t, 409, "athlete_erased")
	if after := w.rowsOf(); after != rows {
		t.Error("something was written")
	}
}
