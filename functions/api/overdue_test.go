package api_test

import (
	"strings"
	"testing"
	"time"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/names"
)

// Field case 14: a confirm after the reservation's time is refused as after its end,
// which it writes: what the reconciler has done by then makes no difference.
func TestConfirmAfterItsTime(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	id := w.reserve("k")
	w.bucket.put(names.ClipKey(id, 0), "video")
	later := time.Now().Add(names.ReservedDeadline + time.Second)
	late := api.New(clocked(w.deps, func() time.Time { return later }))
	for range 2 { // the second finds the end
		w.send(late, call{route: confirm, id: id}.event()).want(t, 409, "analysis_ended")
	}
	show := w.do(call{route: "GET /v1/analyses/{analysis_id}", id: id})
	if show.str("status") != "expired" || !strings.Contains(show.Body, `"refunded":true`) {
		t.Errorf("afterwards: %s", show.Body)
	}
	if c := w.do(call{route: "GET /v1/credits"}); !strings.Contains(c.Body, `"balance":1`) {
		t.Errorf("credits: %s", c.Body)
	}
}
