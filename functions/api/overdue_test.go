package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
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
	got := w.do(call{route: show, id: id})
	if got.str("status") != "expired" || !strings.Contains(got.Body, `"refunded":true`) {
		t.Errorf("afterwards: %s", got.Body)
	}
	if c := w.do(call{route: "GET /v1/credits"}); !strings.Contains(c.Body, `"balance":1`) {
		t.Errorf("credits: %s", c.Body)
	}
}

// Two confirms around the deadline, by clocks that differ: one is in time, and the
// other does not deny it.
func TestConfirmByTwoClocks(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	id := w.reserve("k")
	w.bucket.put(names.ClipKey(id, 0), "video")
	late := clocked(w.deps, func() time.Time { return time.Now().Add(names.ReservedDeadline + time.Second) })
	late.Ends.DB = &meanwhile{late.Ends.DB, func() { w.do(call{route: confirm, id: id}).want(t, 202, "") }}
	w.send(api.New(late), call{route: confirm, id: id}.event()).want(t, 202, "")
	if got := w.do(call{route: show, id: id}); got.str("status") != "queued" {
		t.Errorf("afterwards: %s", got.Body)
	}
}

// meanwhile lets something happen before the first read.
type meanwhile struct {
	outcome.DB
	first func()
}

func (m *meanwhile) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if f := m.first; f != nil {
		m.first = nil
		f()
	}
	return m.DB.GetItem(ctx, in, o...)
}
