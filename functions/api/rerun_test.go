package api_test

import (
	"testing"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
)

const rerun = "POST /v1/analyses/{analysis_id}/rerun"

// failed ends a confirmed analysis, with its refund.
func (w *world) failed(id string) {
	w.t.Helper()
	if res, err := w.deps.Ends.Fail(w.t.Context(), id, 1, "", "test", reason.StageFailed); err != nil || !res.Won {
		w.t.Fatalf("%+v, %v", res, err)
	}
}

func TestRerun(t *testing.T) {
	w := newWorld(t)
	w.grant(2)
	id := w.confirmed("k")
	w.do(call{route: rerun, id: id, key: "r"}).want(t, 409, "analysis_running")
	w.failed(id)
	w.do(call{route: rerun, id: id}).want(t, 400, "idempotency_key_missing")
	w.do(call{route: rerun, id: id, key: "r", sub: "ath-2"}).want(t, 404, "analysis_not_found")
	first := w.do(call{route: rerun, id: id, key: "r"}).want(t, 201, "")
	again := w.do(call{route: rerun, id: id, key: "r"}).want(t, 201, "")
	if first.Body != again.Body || first.str("analysis_id") == id || first.str("status") != "queued" {
		t.Errorf("%s, then %s", first.Body, again.Body)
	}
	w.balance(1)
	old, err := w.deps.Life.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	row, err := w.deps.Life.Get(t.Context(), first.str("analysis_id"))
	if err != nil || row.Clips[0].Key != old.Clips[0].Key || row.Clips[0].VersionID != old.Clips[0].VersionID || row.RerunOf != id || !row.Consent {
		t.Errorf("the rerun is of other clips: %+v, %v", row, err)
	}
	if n := w.steps.started[analysis.ExecutionName(row.AnalysisID, 1)]; n != 2 { // the repeat looked it up
		t.Errorf("%d requests to start the rerun, want 2", n)
	}
	if w.do(call{route: rerun, id: id, key: "other"}).want(t, 201, ""); true {
		w.do(call{route: rerun, id: id, key: "third"}).want(t, 402, "no_credit")
	}
	// A lost answer is no 402, though the credit is spent.
	w.do(call{route: rerun, id: id, key: "other"}).want(t, 201, "")
	w.balance(0)
}

func TestRerunWithoutClips(t *testing.T) {
	w := newWorld(t)
	w.grant(3)
	never := w.reserve("never")
	w.do(call{route: cancel, id: never}).want(t, 200, "")
	w.do(call{route: rerun, id: never, key: "r"}).want(t, 409, "clips_gone")
	id := w.confirmed("k")
	w.failed(id)
	old := time.Now().Add(-names.ClipLifecycle + names.QueuedDeadline)
	w.bucket.uploaded = &old // the lifecycle would take them while the rerun waits
	w.do(call{route: rerun, id: id, key: "r"}).want(t, 409, "clips_gone")
	w.bucket.uploaded = nil
	delete(w.bucket.objects, names.ClipKey(id, 0))
	w.do(call{route: rerun, id: id, key: "r"}).want(t, 409, "clips_gone")
	w.balance(3)
}

// Field case 43.
func TestOneCreditTwentyCreates(t *testing.T) {
	w := newWorld(t)
	w.grant(1)
	answers := make(chan reply, 20)
	for i := range 20 {
		go func() {
			answers <- w.do(call{route: "POST /v1/analyses", key: string(rune('a' + i)), body: goodBody})
		}()
	}
	got := map[int]int{}
	for range 20 {
		got[(<-answers).StatusCode]++
	}
	if got[201] != 1 || got[402] != 19 {
		t.Errorf("answers %v, want one 201 and nineteen 402", got)
	}
	w.balance(0)
}
