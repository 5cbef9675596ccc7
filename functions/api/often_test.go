package api_test

import (
	"fmt"
	"testing"
	"time"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/reason"
)

// TestOneCreditBuysNoFloodOfMails: an analysis that is cancelled costs nothing, and
// mails whatever address it names. So much of it a day is enough; what was begun is
// still shown to whoever asks again, and another day begins.
func TestOneCreditBuysNoFloodOfMails(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	create := func(n int) call {
		return call{route: "POST /v1/analyses", key: fmt.Sprint("k", n), body: goodBody}
	}
	for n := range names.MaxGivenBack {
		w.do(call{route: cancel, id: w.do(create(n)).want(t, 201, "").str("analysis_id")}).want(t, 200, "")
	}
	r := w.do(create(names.MaxGivenBack)).want(t, 429, "too_many_given_back")
	if r.Headers["Retry-After"] == "" {
		t.Errorf("headers %v, want Retry-After", r.Headers)
	}
	if c := w.do(call{route: "GET /v1/credits"}).want(t, 200, ""); c.body["balance"] != 1.0 {
		t.Errorf("credits %s, want a balance of 1", c.Body)
	}
	w.do(create(3)).want(t, 201, "") // a repeat
	w.deps.Now = func() time.Time { return time.Now().Add(names.GivenBackWindow + time.Minute) }
	w.fn = api.New(w.deps)
	w.do(create(names.MaxGivenBack)).want(t, 201, "")
}

// What failed by our fault is not held against the athlete.
func TestOurFailuresAreNotHeldAgainstAnyone(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	for n := range names.MaxGivenBack + 1 {
		id := w.confirmed(fmt.Sprint("k", n))
		if res, err := w.deps.Ends.Fail(t.Context(), id, 1, "", "settle", reason.PoseFailed); err != nil || res != (outcome.Result{Won: true, Status: "failed", Reason: reason.PoseFailed, Attempt: 1}) {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	w.reserve("new")
}

// A rerun is as free as an analysis, until it is worked on.
func TestRerunsAreCountedToo(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	of := w.confirmed("first")
	w.do(call{route: cancel, id: of}).want(t, 200, "")
	for n := 1; n < names.MaxGivenBack; n++ {
		r := w.do(call{route: rerun, id: of, key: fmt.Sprint("k", n)}).want(t, 201, "")
		w.do(call{route: cancel, id: r.str("analysis_id")}).want(t, 200, "")
	}
	w.do(call{route: rerun, id: of, key: "more"}).want(t, 429, "too_many_given_back")
}
