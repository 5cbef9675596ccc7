package credit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/txn"
)

func payments(t *testing.T) (credit.Store, *dynamotest.Server) {
	srv := dynamotest.Start(t)
	return store(srv.Client()), srv
}

func event(id string, kind credit.EventKind, payment, athlete string, n int64) credit.PaymentEvent {
	return credit.PaymentEvent{EventID: id, BodyHash: "h-" + id, Kind: kind, PaymentID: payment, AthleteID: athlete, Credits: n}
}

func pay(t *testing.T, s credit.Store, e credit.PaymentEvent) credit.Payment {
	t.Helper()
	p, err := s.Pay(t.Context(), e)
	if err != nil {
		t.Fatalf("%+v: %v", e, err)
	}
	return p
}

// standing asserts an athlete's balance and that the entries explain it.
func standing(t *testing.T, s credit.Store, athlete string, balance int64, entries int) {
	t.Helper()
	l, err := s.Read(context.Background(), athlete)
	if err != nil {
		t.Fatal(err)
	}
	if l.Balance != balance || l.Sum() != balance || len(l.Entries) != entries {
		t.Errorf("%s: balance %d, entries add up to %d, %d of them; want %d by %d: %+v", athlete, l.Balance, l.Sum(), len(l.Entries), balance, entries, l.Entries)
	}
}

// Field case 44.
func TestPaymentEvents(t *testing.T) {
	s, _ := payments(t)
	t.Run("TwoTypesForOnePurchase", func(t *testing.T) {
		pay(t, s, event("a1", credit.PaymentCompleted, "pa", "a", 5))
		pay(t, s, event("a2", credit.PaymentSucceeded, "pa", "a", 5))
		standing(t, s, "a", 5, 1)
	})
	t.Run("SameEvent20InParallel", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if p, err := s.Pay(t.Context(), event("b1", credit.PaymentCompleted, "pb", "b", 3)); err != nil || p.Bought != 3 {
					t.Errorf("%+v, %v", p, err)
				}
			})
		}
		wg.Wait()
		standing(t, s, "b", 3, 1)
	})
	t.Run("RefundBeforePurchase", func(t *testing.T) {
		pay(t, s, event("c1", credit.PaymentRefunded, "pc", "c", 2))
		standing(t, s, "c", 0, 0)
		pay(t, s, event("c2", credit.PaymentCompleted, "pc", "c", 5))
		standing(t, s, "c", 3, 2)
		pay(t, s, event("c3", credit.PaymentRefunded, "pc", "c", 2)) // the total again
		standing(t, s, "c", 3, 2)
	})
	t.Run("SpentCreditsAreNotTaken", func(t *testing.T) {
		pay(t, s, event("d1", credit.PaymentCompleted, "pd", "d", 3))
		spend(t, s, "d", "an-d1")
		spend(t, s, "d", "an-d2")
		p := pay(t, s, event("d2", credit.PaymentRefunded, "pd", "d", 3))
		if p.Revoked != 1 || p.Refunded != 3 {
			t.Errorf("%+v, want 1 of 3 revoked", p)
		}
		standing(t, s, "d", 0, 4)
		// What was forgiven stays forgiven: a later purchase is not eaten by it.
		pay(t, s, event("d3", credit.PaymentCompleted, "pd2", "d", 2))
		pay(t, s, event("d4", credit.PaymentRefunded, "pd", "d", 3))
		standing(t, s, "d", 2, 5)
	})
	t.Run("PartsAddUp", func(t *testing.T) { // field case 46: whole credits, no money
		pay(t, s, event("e1", credit.PaymentCompleted, "pe", "e", 10))
		for i, total := range []int64{1, 4, 2, 4, 10, 99} {
			pay(t, s, event(fmt.Sprint("e-r", i), credit.PaymentRefunded, "pe", "e", total))
		}
		standing(t, s, "e", 0, 4) // +10, -1, -3, -6; never more than was bought
	})
	t.Run("Contradictions", func(t *testing.T) {
		pay(t, s, event("f1", credit.PaymentCompleted, "pf", "f", 5))
		for _, bad := range []credit.PaymentEvent{event("f2", credit.PaymentCompleted, "pf", "f", 6), event("f3", credit.PaymentCompleted, "pf", "g", 5),
			event("f4", credit.PaymentRefunded, "pf", "g", 5)} {
			if _, err := s.Pay(t.Context(), bad); !errors.Is(err, credit.ErrPaymentConflict) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		other := event("f1", credit.PaymentCompleted, "pf", "f", 5)
		other.BodyHash = "other"
		if _, err := s.Pay(t.Context(), other); !errors.Is(err, credit.ErrKeyReused) {
			t.Errorf("one id, two contents: %v", err)
		}
		for _, bad := range []credit.PaymentEvent{event("f5", "payment.other", "pf", "f", 5), event("f6", credit.PaymentCompleted, "pf", "f", 0),
			event("f7", credit.PaymentCompleted, "pf", "f", -1), event("f8", credit.PaymentCompleted, "", "f", 1), event("", credit.PaymentCompleted, "p", "f", 1)} {
			if _, err := s.Pay(t.Context(), bad); !errors.Is(err, credit.ErrPaymentInvalid) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		standing(t, s, "f", 5, 1)
		standing(t, s, "g", 0, 0)
	})
}

func spend(t *testing.T, s credit.Store, athlete, analysis string) {
	t.Helper()
	if err := txn.Write(t.Context(), s.DB, s.Retry, credit.Reserve(s.Credits, athlete, analysis, time.Now())); err != nil {
		t.Fatal(err)
	}
}

// The answer to a payment event is lost after the commit; the event comes again.
func TestPaymentAnswerLost(t *testing.T) {
	_, srv := payments(t)
	for _, f := range []dynamotest.Fault{dynamotest.Lost, dynamotest.NotDone} {
		athlete := fmt.Sprint("lost-", f)
		faults := &dynamotest.Faults{Next: dynamotest.First(1, "TransactWriteItems", f)}
		s := store(srv.Faulty(faults))
		e := event(athlete, credit.PaymentCompleted, "p-"+athlete, athlete, 4)
		pay(t, s, e)
		pay(t, s, e)
		standing(t, s, athlete, 4, 1)
	}
}

// Whatever the order in which the events of a few payments come, doubled and
// side by side, the balance is the same when nothing was spent.
func TestPaymentEventsConverge(t *testing.T) {
	s, _ := payments(t)
	for round := range 6 {
		athlete := fmt.Sprint("conv-", round)
		var all []credit.PaymentEvent
		for p := range 3 {
			id := fmt.Sprintf("%s-%d", athlete, p)
			all = append(all, event(id+"-c", credit.PaymentCompleted, id, athlete, 5), event(id+"-s", credit.PaymentSucceeded, id, athlete, 5),
				event(id+"-r1", credit.PaymentRefunded, id, athlete, 1), event(id+"-r2", credit.PaymentRefunded, id, athlete, int64(2+p)))
		}
		all = append(all, all...)
		r := rand.New(rand.NewPCG(uint64(round), 1))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var wg sync.WaitGroup
		for half := range 2 {
			wg.Go(func() {
				for i := half; i < len(all); i += 2 {
					if _, err := s.Pay(t.Context(), all[i]); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		l, err := s.Read(t.Context(), athlete)
		if err != nil || l.Balance != 15-2-3-4 || l.Sum() != l.Balance {
			t.Errorf("round %d: balance %d, sum %d, %v; want 6", round, l.Balance, l.Sum(), err)
		}
	}
}
