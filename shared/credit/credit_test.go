package credit_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/txn"
)

func store(db *dynamodb.Client) credit.Store {
	return credit.Store{DB: db, Credits: names.Credits.Name, Effects: names.Effects.Name}
}

func grant(athlete, key string, n int64) credit.Grant {
	return credit.Grant{AthleteID: athlete, Credits: n, Reason: "test", Operator: "op", Key: key}
}

func ledger(t *testing.T, s credit.Store, athlete string) credit.Ledger {
	t.Helper()
	l, err := s.Read(t.Context(), athlete)
	if err != nil {
		t.Fatal(err)
	}
	if l.Sum() != l.Balance || l.Balance < 0 {
		t.Errorf("balance %d, entries add up to %d", l.Balance, l.Sum())
	}
	return l
}

func TestGrantIsEnteredOnce(t *testing.T) {
	server := dynamotest.Start(t)
	s := store(server.Client())
	if l := ledger(t, s, "nobody"); l.Balance != 0 || l.Entries != nil {
		t.Errorf("ledger of someone unknown: %+v", l)
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			e, err := s.Enter(t.Context(), grant("a", "k", 3))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			seen[fmt.Sprint(e.Entry, e.At.Truncate(time.Millisecond).UTC())] = true
		})
	}
	wg.Wait()
	if len(seen) != 1 {
		t.Errorf("answers %v, want the same for all", seen)
	}
	for _, other := range []credit.Grant{grant("a", "k", 4), grant("b", "k", 3)} { // another sum, another athlete
		if _, err := s.Enter(t.Context(), other); !errors.Is(err, credit.ErrKeyReused) {
			t.Errorf("%+v: %v, want ErrKeyReused", other, err)
		}
	}
	other := grant("a", "k", 2)
	other.Operator = "another"
	if _, err := s.Enter(t.Context(), other); err != nil {
		t.Errorf("the same key of another operator: %v", err)
	}
	if l := ledger(t, s, "a"); l.Balance != 5 || len(l.Entries) != 2 || l.Entries[0].At.Before(l.Entries[1].At) {
		t.Errorf("ledger = %+v", l)
	}
	lossy := credit.Store{DB: server.Faulty(&dynamotest.Faults{Next: dynamotest.First(1, "TransactWriteItems", dynamotest.Lost)}),
		Credits: names.Credits.Name, Effects: names.Effects.Name}
	if _, err := lossy.Enter(t.Context(), grant("a", "lost", 1)); err != nil {
		t.Errorf("lost answer: %v", err)
	}
	if l := ledger(t, s, "a"); l.Balance != 6 {
		t.Errorf("balance = %d after a lost answer, want 6", l.Balance)
	}
	for _, bad := range []credit.Grant{grant("", "k", 1), grant("a", "", 1), grant("a", "z", 0), grant("a", "z", -1)} {
		if _, err := s.Enter(t.Context(), bad); err == nil {
			t.Errorf("%+v is entered", bad)
		}
	}
}

// The parts that other packages put into their transactions guard themselves.
func TestParts(t *testing.T) {
	server := dynamotest.Start(t)
	db := server.Client()
	s := store(db)
	if _, err := s.Enter(t.Context(), grant("a", "k", 1)); err != nil {
		t.Fatal(err)
	}
	write := func(items []ddb.TransactWriteItem) error {
		return txn.Write(t.Context(), db, retry.Policy{}, items)
	}
	now := time.Now()
	if err := write(credit.Reserve(names.Credits.Name, "a", "an-1", now)); err != nil {
		t.Fatalf("reserve: %v", err)
	}
	if err := write(credit.Reserve(names.Credits.Name, "a", "an-2", now)); !txn.Failed(err, 0) {
		t.Errorf("reserve without credit: %v", err)
	}
	if err := write(credit.Refund(names.Credits.Name, "a", "an-1", "why", "test", now)); err != nil {
		t.Fatalf("refund: %v", err)
	}
	// Field case 41: long after, with another token.
	if err := write(credit.Refund(names.Credits.Name, "a", "an-1", "why", "sweep", now.Add(time.Hour))); !txn.Failed(err, 1) {
		t.Errorf("second refund: %v, want refused by its entry", err)
	}
	if err := write(credit.Reserve(names.Credits.Name, "a", "an-1", now)); !txn.Failed(err, 1) {
		t.Errorf("second reservation: %v, want refused by its entry", err)
	}
	if l := ledger(t, s, "a"); l.Balance != 1 || len(l.Entries) != 3 {
		t.Errorf("ledger = %+v", l)
	}
}
