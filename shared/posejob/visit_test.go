package posejob_test

import (
	"errors"
	"testing"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// at is the payload of a state entered at a second, on a try of that visit.
func (w *world) at(second string, retry int, token string) names.TokenIn {
	return names.TokenIn{Run: w.run, TaskToken: token, Entered: "2026-03-01T09:00:" + second + "Z", Retry: retry}
}

// A QueueJob call that was given up by its caller, and goes on late, must not
// take the fresh token 2 for a dead one, nor put its own dead token in place of
// a later one.
func TestSlowDuplicates(t *testing.T) {
	w := newWorld(t)
	must := func(j posejob.Job, err error) posejob.Job {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	must(w.store.Enqueue(t.Context(), w.at("01.000", 1, "t1")))
	if _, err := w.store.Enqueue(t.Context(), w.at("01.000", 0, "dead")); !errors.Is(err, posejob.ErrStale) {
		t.Errorf("the first try after the second: %v, want ErrStale", err)
	}
	w.claim("a")
	must(w.store.Await(t.Context(), w.at("02.5", 0, "t2")))
	for retry := range 2 {
		if _, err := w.store.Enqueue(t.Context(), w.at("01.000", retry, "dead")); !errors.Is(err, posejob.ErrStale) {
			t.Errorf("QueueJob behind AwaitPose: %v, want ErrStale", err)
		}
	}
	if j := w.get(); j.Token1 != "t1" || j.Token2 != "t2" || j.Returns != 0 {
		t.Errorf("after slow duplicates: tokens %q and %q, %d returns", j.Token1, j.Token2, j.Returns)
	}
	if j := must(w.store.Enqueue(t.Context(), w.at("09.25", 0, "t3"))); j.Returns != 1 || j.Token2 != "" || j.Token1 != "t3" {
		t.Errorf("a real return: %+v", j)
	}
	if _, err := w.store.Await(t.Context(), w.at("02.5", 1, "dead")); !errors.Is(err, posejob.ErrStale) {
		t.Errorf("AwaitPose behind the return: %v, want ErrStale", err)
	}
	if j := w.get(); j.Token2 != "" {
		t.Errorf("token 2 after the slow AwaitPose: %q", j.Token2)
	}
	must(w.store.Await(t.Context(), names.TokenIn{Run: w.run, TaskToken: "t4"})) // of a release before
}
