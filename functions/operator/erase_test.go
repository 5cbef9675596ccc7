package operator_test

import (
	"strings"
	"testing"

	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
)

// TestErase: an operator's deletion is the athlete's own, once, whoever asks again,
// and none is begun without a reason.
func TestErase(t *testing.T) {
	w := newWorld(t)
	for _, form := range []string{`{"action":"erase","operator":"ada","athlete_id":"a"}`, `{"action":"erase","operator":"ada","reason":"by letter"}`,
		`{"action":"erase","operator":"ada","reason":"by letter","athlete_id":"` + strings.Repeat("a", names.MaxIDBytes+1) + `"}`} {
		if got := w.ask(t, form); !strings.Contains(got, "Permanent: erase: athlete_id, of 128 bytes at most, and reason are needed") {
			t.Errorf("%s: %s", form, got)
		}
	}
	store := erasure.Store{DB: w.db, Table: names.Erasures.Name}
	if e, err := store.Look(t.Context(), "a"); err != nil || e.State != erasure.None {
		t.Fatalf("a refused form began %+v, %v", e, err)
	}
	const form = `{"action":"erase","operator":"ada","athlete_id":"a","reason":"by letter of 1 March"}`
	first := w.ask(t, form)
	e, err := store.Look(t.Context(), "a")
	if err != nil || e.State != erasure.Open || e.AthleteID != "a" || !strings.Contains(first, `"state":"open"`) {
		t.Errorf("%s began %+v, %v", first, e, err)
	}
	if again := w.ask(t, form); again != first {
		t.Errorf("asked again: %s, not %s", again, first)
	}
	if own, err := store.Ask(t.Context(), "a"); err != nil || own.Pseudonym != e.Pseudonym {
		t.Errorf("the athlete's own is another: %+v, %v", own, err)
	}
}
