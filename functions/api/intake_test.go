package api_test

import (
	"testing"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/names"
)

// TestIntakeClosed: nobody new is charged; what was begun goes on.
func TestIntakeClosed(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	create := call{route: "POST /v1/analyses", key: "before", body: goodBody}
	id := w.do(create).want(t, 201, "").str("analysis_id")

	w.deps.Closed = true
	w.fn = api.New(w.deps)
	refused := w.do(call{route: "POST /v1/analyses", key: "after", body: goodBody}).want(t, 503, "intake_closed")
	if refused.Headers["Retry-After"] == "" {
		t.Errorf("headers %v, want Retry-After", refused.Headers)
	}
	if c := w.do(call{route: "GET /v1/credits"}).want(t, 200, ""); c.body["balance"] != 1.0 {
		t.Errorf("credits %s, want a balance of 1", c.Body)
	}
	if again := w.do(create).want(t, 201, ""); again.str("analysis_id") != id {
		t.Errorf("the repeat got %s, want %s", again.Body, id)
	}
	w.do(call{route: "POST /v1/analyses/{analysis_id}/uploads", id: id}).want(t, 200, "")
}

func TestIntakeSetting(t *testing.T) {
	for value, want := range map[string]bool{names.IntakeOpen: false, names.IntakeClosed: true} {
		if got, err := api.IntakeClosed(value); err != nil || got != want {
			t.Errorf("IntakeClosed(%q) = %t, %v", value, got, err)
		}
	}
	if _, err := api.IntakeClosed("shut"); err == nil || err.Error() != `environment variable INTAKE is "shut": use open or closed` {
		t.Errorf("IntakeClosed(shut): %v", err)
	}
}
