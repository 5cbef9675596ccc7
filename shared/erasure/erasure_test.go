package erasure_test

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
)

func store(t *testing.T) (erasure.Store, *dynamotest.Server) {
	s := dynamotest.Start(t)
	return erasure.Store{DB: s.Client(), Table: names.Erasures.Name}, s
}

// 20 requests at once, one of a lost answer, and one much later: the first stands.
func TestAskedOnce(t *testing.T) {
	s, server := store(t)
	lossy := s
	lossy.DB = server.Faulty(&dynamotest.Faults{Next: dynamotest.First(1, "PutItem", dynamotest.Lost)})
	first, err := lossy.Ask(t.Context(), "ath-1")
	if err != nil || first.State != erasure.Open || first.AthleteID != "ath-1" || !strings.HasPrefix(first.Pseudonym, erasure.PseudonymPrefix) || len(first.Pseudonym) < 20 {
		t.Fatalf("%+v, %v", first, err)
	}
	later := s
	later.Now = func() time.Time { return time.Now().Add(time.Hour) }
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			asked := s
			if i%2 == 0 {
				asked = later
			}
			if e, err := asked.Ask(context.Background(), "ath-1"); err != nil || !reflect.DeepEqual(e, first) {
				t.Errorf("asked again: %+v, %v; want %+v", e, err, first)
			}
		})
	}
	wg.Wait()
	other, err := s.Ask(t.Context(), "ath-2")
	if err != nil || other.Pseudonym == first.Pseudonym || other.ID == first.ID {
		t.Errorf("another athlete's: %+v, %v", other, err)
	}
	if open, err := s.ListOpen(t.Context()); err != nil || len(open) != 2 {
		t.Errorf("%d open, %v", len(open), err)
	}
	if e, err := s.Look(t.Context(), "ath-3"); err != nil || e.State != erasure.None {
		t.Errorf("of who never asked: %+v, %v", e, err)
	}
}

func TestHeldIsRememberedAndCleared(t *testing.T) {
	s, _ := store(t)
	e, err := s.Ask(t.Context(), "ath-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []erasure.Held{{ID: "an-a"}, {ID: "an-b", Day: "2026-01-02"}, {ID: "an-a", Day: "2026-01-03"}, {ID: "an-b", Day: "2026-01-02"}} {
		if err := s.Remember(t.Context(), e.ID, h, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	get := func() erasure.Erasure {
		got, err := s.Get(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := []erasure.Held{{ID: "an-a", Day: "2026-01-03"}, {ID: "an-b", Day: "2026-01-02"}}
	if got := get().Held(); !reflect.DeepEqual(got, want) {
		t.Errorf("held %+v, want %+v", got, want)
	}
	if old := (erasure.Erasure{AnalysisIDs: []string{"an-x"}}).Held(); !reflect.DeepEqual(old, []erasure.Held{{ID: "an-x"}}) {
		t.Errorf("noted by an earlier release: %+v", old)
	}
	for range 2 { // cleared twice is cleared
		if err := s.Clear(t.Context(), get(), want[0]); err != nil {
			t.Fatal(err)
		}
	}
	if got := get().Held(); !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("held %+v after clearing one", got)
	}
	if err := s.Clear(t.Context(), get(), want[1]); err != nil || len(get().AnalysisIDs) != 0 {
		t.Errorf("%v, %v", get().AnalysisIDs, err)
	}
}

// The proof holds a digest, dates and counts; it leads neither to the pseudonym
// nor, for who does not know the id, to the athlete. It is written once.
func TestProof(t *testing.T) {
	s, server := store(t)
	e, err := s.Ask(t.Context(), "ath-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Count(t.Context(), e.ID, erasure.Removed{Analyses: 2, Objects: 7}); err != nil {
		t.Fatal(err)
	}
	if err := s.Count(t.Context(), e.ID, erasure.Removed{}); err != nil { // costs no write
		t.Fatal(err)
	}
	if err := s.Count(t.Context(), e.ID, erasure.Removed{Rows: 3, Entries: 4, Objects: 1}); err != nil {
		t.Fatal(err)
	}
	lossy := s
	lossy.DB = server.Faulty(&dynamotest.Faults{Next: dynamotest.First(1, "UpdateItem", dynamotest.Lost)})
	if err := lossy.Finish(t.Context(), e.ID); err != nil {
		t.Fatal(err)
	}
	proof, err := s.Look(t.Context(), "ath-1")
	if err != nil {
		t.Fatal(err)
	}
	finished := proof.FinishedAt
	if err := s.Finish(t.Context(), e.ID); err != nil {
		t.Fatal(err)
	}
	want := erasure.Erasure{ID: erasure.ID("ath-1"), State: erasure.Done, RequestedAt: e.RequestedAt, FinishedAt: finished,
		Removed: erasure.Removed{Analyses: 2, Objects: 8, Rows: 3, Entries: 4}}
	if proof, err = s.Look(t.Context(), "ath-1"); err != nil || finished.IsZero() || !reflect.DeepEqual(proof, want) {
		t.Errorf("proof %+v, want %+v, %v", proof, want, err)
	}
	if strings.Contains(proof.ID, "ath-1") {
		t.Error("the key names the athlete")
	}
	if err := s.Remember(t.Context(), e.ID, erasure.Held{ID: "an-late"}, time.Time{}); awserr.KindOf(err) != awserr.Condition {
		t.Errorf("remembered after the end: %v", err)
	}
	if open, err := s.ListOpen(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("%d open, %v", len(open), err)
	}
	if again, err := s.Ask(t.Context(), "ath-1"); err != nil || again.State != erasure.Done {
		t.Errorf("asked after the end: %+v, %v", again, err)
	}
}

func TestRulesNameEveryTable(t *testing.T) {
	rules := erasure.Rules()
	for _, tb := range names.Tables() {
		if r, ok := rules[tb.Name]; !ok || r.Erased == "" {
			t.Errorf("table %s has no rule", tb.Name)
		}
	}
	if len(rules) != len(names.Tables()) {
		t.Errorf("%d rules for %d tables", len(rules), len(names.Tables()))
	}
}
