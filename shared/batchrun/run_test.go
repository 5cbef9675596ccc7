package batchrun_test

import (
	"errors"
	"testing"
	"time"

	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
)

// clocked is a store whose clock the test moves.
func clocked(t *testing.T) (*time.Time, batchrun.Items) {
	db := dynamotest.New(t)
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	s := batchrun.Store{DB: db, Table: names.Runs.Name, Now: clock,
		Leases: lease.Store{DB: db, Table: names.Effects.Name, Skew: names.ClockSkew, Now: clock}}
	return &now, batchrun.Items{Store: s, Bulk: db}
}

func TestASecondRunIsRefusedUntilTheLeaseHasRunOut(t *testing.T) {
	now, s := clocked(t)
	a, err := s.Begin(t.Context(), "a", names.EffectTags, "{}")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Begin(t.Context(), "a", names.EffectTags, "{}"); err != nil || again.Fence != a.Fence {
		t.Errorf("a second try of its own: %+v, %v", again, err)
	}
	var held *lease.Held
	if _, err := s.Begin(t.Context(), "b", names.EffectTags, "{}"); !errors.As(err, &held) || held.Owner != "a" {
		t.Fatalf("a second run: %v", err)
	}
	if _, err := s.Begin(t.Context(), "c", names.EffectReport, "{}"); err != nil {
		t.Errorf("another effect: %v", err)
	}
	e, err := s.Evidence(t.Context(), names.EffectTags)
	if err != nil || e.HeldBy != "a" || e.Since != "2026-03-01T00:00:00Z" || e.Until != "2026-03-01T00:15:15Z" {
		t.Errorf("evidence %+v, %v", e, err)
	}
	claimed, err := s.Claim(t.Context(), a, batchrun.Item{Set: "item#x", ID: "an-1"}, "worker-a", now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	*now = now.Add(names.RunLease + names.ClockSkew + time.Second)
	b, err := s.Begin(t.Context(), "b", names.EffectTags, "{}")
	if err != nil || b.Fence <= a.Fence {
		t.Fatalf("takeover: %+v, %v", b, err)
	}
	// The first run's worker, still alive, gets nothing any more, but what it did is recorded.
	if _, err := s.Claim(t.Context(), a, batchrun.Item{Set: "item#x", ID: "an-2"}, "worker-a", now.Add(time.Minute)); fault.NameOf(err) != fault.Conceded {
		t.Errorf("a claim of the run that lost its lease: %v", err)
	}
	if _, err := s.Take(t.Context(), a, "batch", "worker-a", now.Add(time.Minute)); fault.NameOf(err) != fault.Conceded {
		t.Errorf("a batch of the run that lost its lease: %v", err)
	}
	if _, err := s.Step(t.Context(), "a"); fault.NameOf(err) != fault.Conceded {
		t.Errorf("a step of the run that lost its lease: %v", err)
	}
	if it, err := s.Settle(t.Context(), claimed, batchrun.Done); err != nil || it.State != batchrun.Done {
		t.Errorf("settling what was done before: %+v, %v", it, err)
	}
	if r, err := s.Get(t.Context(), "a"); err != nil || r.State != batchrun.Ended || r.Outcome != "abandoned" {
		t.Errorf("the run that lost its lease: %+v, %v", r, err)
	}
}

// TestAnEndedRunsLeaseLastsAsLongAsItsWorkers: no longer, and no shorter.
func TestAnEndedRunsLeaseLastsAsLongAsItsWorkers(t *testing.T) {
	now, s := clocked(t)
	r, err := s.Begin(t.Context(), "a", names.EffectTags, "{}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take(t.Context(), r, "k", "one", now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	bs, err := s.Batches(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.End(t.Context(), r, "incomplete", s.Busy(bs)); err != nil {
		t.Fatal(err)
	}
	var held *lease.Held
	if _, err := s.Begin(t.Context(), "b", names.EffectTags, "{}"); !errors.As(err, &held) || !held.Until.Equal(now.Add(time.Minute+names.ClockSkew)) {
		t.Errorf("while a worker may be at work: %v", err)
	}
	*now = now.Add(time.Minute + names.ClockSkew + time.Millisecond)
	b, err := s.Begin(t.Context(), "b", names.EffectTags, "{}")
	if err != nil {
		t.Fatalf("when it must have ended: %v", err)
	}
	if _, err := s.End(t.Context(), b, "complete", s.Busy(nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(t.Context(), "c", names.EffectTags, "{}"); err != nil {
		t.Errorf("after a run that left nobody at work: %v", err)
	}
}

// TestANameIsOneRun: two machines may have executions of one name; fences are
// counted for each effect, and prove nothing across them.
func TestANameIsOneRun(t *testing.T) {
	_, s := clocked(t)
	for _, id := range []string{"one", "two"} { // the tags' fence is ahead of the report's
		r, err := s.Begin(t.Context(), id, names.EffectTags, "{}")
		if err == nil {
			_, err = s.End(t.Context(), r, "complete", time.Time{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Begin(t.Context(), "mine", names.EffectReport, "{}"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(t.Context(), "mine", names.EffectTags, "{}"); fault.NameOf(err) != fault.Conceded {
		t.Errorf("another effect under the same name: %v", err)
	}
	if r, err := s.Get(t.Context(), "mine"); err != nil || r.Effect != names.EffectReport || r.State != batchrun.Open {
		t.Errorf("the run became %+v, %v", r, err)
	}
	if who, err := s.Leases.Who(t.Context(), names.LeaseOf(names.EffectTags)); err != nil || who != nil {
		t.Errorf("the lease of the tags is held by %+v, %v", who, err)
	}
}

func TestOneWorkerABatch(t *testing.T) {
	now, s := clocked(t)
	r, err := s.Begin(t.Context(), "a", names.EffectTags, "{}")
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Take(t.Context(), r, "k", "one", now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if was, err := s.Take(t.Context(), r, "k", "two", now.Add(time.Minute)); !errors.Is(err, batchrun.ErrBusy) || was.Owner != "one" {
		t.Errorf("a second worker: %+v, %v", was, err)
	}
	if _, err := s.Take(t.Context(), r, "k", "one", now.Add(2*time.Minute)); err != nil {
		t.Errorf("the worker itself: %v", err)
	}
	if was, err := s.Take(t.Context(), r, "k", "one", now.Add(90*time.Second)); err != nil || !was.Until.Equal(now.Add(2*time.Minute).UTC().Truncate(time.Millisecond)) {
		t.Errorf("its earlier request, late: until %s, %v", was.Until, err)
	}
	*now = now.Add(2*time.Minute + names.ClockSkew + time.Second)
	if _, err := s.Take(t.Context(), r, "k", "two", now.Add(time.Minute)); err != nil {
		t.Errorf("after its time: %v", err)
	}
	if err := s.Leave(t.Context(), b, batchrun.Counts{Expected: 9}); err != nil { // the first one, too late
		t.Fatal(err)
	}
	bs, err := s.Batches(t.Context(), "a")
	if err != nil || len(bs) != 1 || bs[0].Owner != "two" || bs[0].State != batchrun.Open || bs[0].Name() != "k" {
		t.Errorf("%+v, %v", bs, err)
	}
}

func TestAnItemIsClaimedOnceAndTakenOverOnce(t *testing.T) {
	now, s := clocked(t)
	r, err := s.Begin(t.Context(), "a", names.EffectTags, "{}")
	if err != nil {
		t.Fatal(err)
	}
	absent := batchrun.Item{Set: "item#x", ID: "an-1"}
	first, err := s.Claim(t.Context(), r, absent, "one", now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), r, absent, "two", now.Add(time.Minute)); !errors.Is(err, batchrun.ErrTaken) {
		t.Errorf("a second claim: %v", err)
	}
	if first.Ran(*now) {
		t.Error("the claim has run out at once")
	}
	*now = now.Add(time.Minute + names.ClockSkew + time.Second)
	if !first.Ran(*now) {
		t.Error("the claim has not run out")
	}
	second, err := s.Claim(t.Context(), r, first, "two", now.Add(time.Minute))
	if err != nil || second.Takeovers != 1 || second.Calls != 2 {
		t.Fatalf("takeover: %+v, %v", second, err)
	}
	if _, err := s.Claim(t.Context(), r, first, "three", now.Add(time.Minute)); !errors.Is(err, batchrun.ErrTaken) {
		t.Errorf("a takeover of what another took over: %v", err)
	}
	if row, err := s.Settle(t.Context(), first, batchrun.Done); !errors.Is(err, batchrun.ErrTaken) || row.Owner != "two" {
		t.Errorf("the first one, too late: %+v, %v", row, err)
	}
	if it, err := s.Settle(t.Context(), second, batchrun.Free); err != nil || it.Calls != 1 {
		t.Errorf("given back: %+v, %v", it, err)
	}
	rows, err := s.Load(t.Context(), "item#x", []string{"an-1", "an-2"})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
	if c := batchrun.Tally([]string{"an-1", "an-2"}, rows, "a"); c.Missing != 2 || c.Expected != 2 {
		t.Errorf("%+v", c)
	}
}
