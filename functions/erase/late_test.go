package erase_test

import (
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
)

// A deletion whose first pass comes hours late, as after an outage, waits for whoever
// was at work on what that pass ended: not from the request on, which is long ago.
func TestEraseThatBeginsLate(t *testing.T) {
	w := newWorld(t)
	ids := w.few("ath-1")
	guard := aitask.Findings.EffectKey(ids[2]) // of a call that is being made
	w.put(names.Effects.Name, map[string]any{"effect": guard, "state": "claimed"})
	if _, err := w.deps.Erasures.Ask(t.Context(), "ath-1"); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(names.ErasureSettle + time.Hour)
	for range 4 {
		if out := w.run(); out.Finished != 0 {
			t.Fatalf("%+v: finished while a function may be at work", out)
		}
		w.now = w.now.Add(names.ErasePeriod)
	}
	if !strings.Contains(w.table(names.Effects.Name), guard) {
		t.Error("the guard of a paid call went while it may be made")
	}
	w.s3.put(names.TextKey(ids[2], 1, "findings")) // its answer
	w.now = w.now.Add(names.ErasureSettle)
	for range 3 {
		w.run()
	}
	if e, err := w.deps.Erasures.Look(t.Context(), "ath-1"); err != nil || e.State != erasure.Done {
		t.Errorf("%+v, %v; want it done", e, err)
	}
	if n := w.s3.left(ids[2]); n != 0 {
		t.Errorf("%d versions are left", n)
	}
	for _, trace := range append([]string{"ath-1"}, ids...) {
		if strings.Contains(w.everything(), trace) {
			t.Errorf("%q is left", trace)
		}
	}
}
