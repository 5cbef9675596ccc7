package lease_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/lease"
	"fastbowlinglab/shared/names"
)

// clock is one process's clock.
type clock struct{ off atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.off.Load())) }
func (c *clock) forward(d time.Duration) { c.off.Add(int64(d)) }

func store(db lease.DB, now func() time.Time) lease.Store {
	return lease.Store{DB: db, Table: names.Effects.Name, Now: now}
}

func acquire(t *testing.T, s lease.Store, key, owner string) lease.Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), key, owner, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLease(t *testing.T) {
	db := dynamotest.New(t)
	ctx := t.Context()

	t.Run("a late renewal does not put the end back", func(t *testing.T) {
		var c clock
		s := store(db, c.now)
		l := acquire(t, s, "put back", "a")
		c.forward(time.Minute)
		now, err := s.Renew(ctx, l, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		c.forward(-30 * time.Second)
		late, err := s.Renew(ctx, l, time.Minute)
		if err != nil || !late.Until.Equal(now.Until) {
			t.Errorf("until %s, %v; want %s", late.Until, err, now.Until)
		}
		if sooner, err := s.EndIn(ctx, l, time.Second); err != nil || !sooner.Until.Before(now.Until) {
			t.Errorf("an end on purpose: %s, %v", sooner.Until, err)
		}
	})
	t.Run("one holder", func(t *testing.T) {
		s := store(db, nil)
		l := acquire(t, s, "one", "a")
		var held *lease.Held
		for _, owner := range []string{"b", "a"} { // a name alone is no claim
			if _, err := s.Acquire(ctx, "one", owner, time.Minute); !errors.As(err, &held) || held.Owner != "a" || held.Fence != l.Fence {
				t.Errorf("%s: %v, want Held by a", owner, err)
			}
		}
		if who, err := s.Who(ctx, "one"); err != nil || who == nil || who.Owner != "a" || !who.Until.After(l.Until) {
			t.Errorf("who = %+v, %v", who, err)
		}
		if err := s.Release(ctx, l); err != nil {
			t.Fatal(err)
		}
		if who, err := s.Who(ctx, "one"); err != nil || who != nil {
			t.Errorf("who = %+v, %v after the release", who, err)
		}
		if next := acquire(t, s, "one", "b"); next.Fence <= l.Fence {
			t.Errorf("fence %d after %d", next.Fence, l.Fence)
		}
		if err := s.Release(ctx, l); err != nil {
			t.Errorf("released twice: %v", err)
		}
		if who, _ := s.Who(ctx, "one"); who == nil || who.Owner != "b" {
			t.Errorf("the second release took b's lease: %+v", who)
		}
	})

	t.Run("a hundred at once", func(t *testing.T) {
		s := store(db, nil)
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				var held *lease.Held
				_, err := s.Acquire(ctx, "crowd", fmt.Sprint(i), time.Minute)
				if err == nil {
					won.Add(1)
				} else if !errors.As(err, &held) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d holders", won.Load())
		}
	})

	// Field cases 13 and 14: a dead holder's lease, tried once without waiting; its row
	// is there, and what counts is its time.
	t.Run("taken over after its end and the skew", func(t *testing.T) {
		ck := &clock{}
		s := store(db, ck.now)
		l := acquire(t, s, "dead", "a")
		ck.forward(time.Minute + lease.DefaultSkew - time.Second)
		var held *lease.Held
		if _, err := s.Acquire(ctx, "dead", "b", time.Minute); !errors.As(err, &held) {
			t.Errorf("within the skew: %v", err)
		}
		ck.forward(2 * time.Second)
		if who, err := s.Who(ctx, "dead"); err != nil || who != nil {
			t.Errorf("who = %+v, %v of a lease that ran out", who, err)
		}
		if next := acquire(t, s, "dead", "b"); next.Fence != l.Fence+1 {
			t.Errorf("fence %d after %d", next.Fence, l.Fence)
		}
	})

	// Field case 13: the paused holder wakes up.
	t.Run("a holder that was taken over is refused", func(t *testing.T) {
		ck := &clock{}
		s := store(db, ck.now)
		paused := acquire(t, s, "paused", "a")
		ck.forward(2 * time.Minute)
		next := acquire(t, s, "paused", "b")
		if _, err := s.Renew(ctx, paused, time.Minute); !errors.Is(err, lease.ErrLost) {
			t.Errorf("renew: %v, want ErrLost", err)
		}
		guarded := func(l lease.Lease) error {
			_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []ddb.TransactWriteItem{s.Guard(l),
				{Put: &ddb.Put{TableName: &names.Effects.Name, Item: map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: "written"}}}}}})
			return err
		}
		var cancelled *ddb.TransactionCanceledException
		if err := guarded(paused); !errors.As(err, &cancelled) {
			t.Errorf("the paused holder's write: %v, want refused", err)
		}
		if err := guarded(next); err != nil {
			t.Errorf("the holder's write: %v", err)
		}
	})

	// Field case 13: clocks five minutes apart, which is more than the skew bound
	// allows. Who is ahead takes the lease too soon, and the fence refuses the one
	// whom it took it from; who is behind takes a dead one's later, by so much.
	t.Run("clocks five minutes apart", func(t *testing.T) {
		exact, behind, fast := &clock{}, &clock{}, &clock{}
		fast.forward(5 * time.Minute)
		behind.forward(-5 * time.Minute)
		a, b := store(db, exact.now), store(db, fast.now)
		l := acquire(t, a, "ahead", "a")
		next := acquire(t, b, "ahead", "b")
		if _, err := a.Renew(ctx, l, time.Minute); !errors.Is(err, lease.ErrLost) || next.Fence != l.Fence+1 {
			t.Errorf("fence %d, then %d; the one taken over: %v, want ErrLost", l.Fence, next.Fence, err)
		}
		slow := store(db, behind.now)
		l = acquire(t, a, "behind", "a") // and dies
		var held *lease.Held
		behind.forward(6*time.Minute + lease.DefaultSkew - time.Second)
		if _, err := slow.Acquire(ctx, "behind", "b", time.Minute); !errors.As(err, &held) {
			t.Errorf("within the skew by its own clock: %v", err)
		}
		behind.forward(2 * time.Second)
		if next := acquire(t, slow, "behind", "b"); next.Fence != l.Fence+1 {
			t.Errorf("fence %d after %d", next.Fence, l.Fence)
		}
	})

	t.Run("renewed after its end, if nobody took it", func(t *testing.T) {
		ck := &clock{}
		s := store(db, ck.now)
		l := acquire(t, s, "late", "a")
		ck.forward(time.Hour)
		if got, err := s.Renew(ctx, l, time.Minute); err != nil || got.Fence != l.Fence || !got.Until.After(l.Until) {
			t.Errorf("renew: %+v, %v", got, err)
		}
	})

	t.Run("bad arguments", func(t *testing.T) {
		s := store(db, nil)
		for _, f := range []func() (lease.Lease, error){
			func() (lease.Lease, error) { return s.Acquire(ctx, "", "a", time.Minute) },
			func() (lease.Lease, error) { return s.Acquire(ctx, "k", "", time.Minute) },
			func() (lease.Lease, error) { return s.Acquire(ctx, "k", "a", 0) },
		} {
			if _, err := f(); err == nil {
				t.Error("no error")
			}
		}
	})
}

func TestLostAnswers(t *testing.T) {
	server := dynamotest.Start(t)
	for n := 1; n <= 3; n++ {
		lossy := store(server.Faulty(&dynamotest.Faults{Next: dynamotest.First(n, "UpdateItem", dynamotest.Lost)}), nil)
		key := fmt.Sprint("lost", n)
		l, err := lossy.Acquire(t.Context(), key, "a", time.Minute)
		if err != nil {
			t.Fatalf("%d lost: %v", n, err)
		}
		if _, err := store(server.Client(), nil).Renew(t.Context(), l, time.Minute); err != nil {
			t.Errorf("%d lost: the lease that came back is not the one that stands: %v", n, err)
		}
	}
}

// straggler loses the first update on its way and carries it out when it is asked to.
type straggler struct {
	lease.DB
	held *dynamodb.UpdateItemInput
}

func (s *straggler) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if s.held == nil {
		s.held = in
		return nil, dynamotest.ErrInjected
	}
	return s.DB.UpdateItem(ctx, in, o...)
}

// An acquisition whose first request arrives late, after its repeat has been answered,
// does not take the lease from its own holder.
func TestALateAcquisitionIsNoTakeover(t *testing.T) {
	db := dynamotest.New(t)
	late := &straggler{DB: db}
	s := store(late, nil)
	l := acquire(t, s, "late", "a")
	if _, err := db.UpdateItem(t.Context(), late.held); err != nil {
		t.Log("refused:", err)
	}
	if _, err := s.Renew(t.Context(), l, time.Minute); err != nil {
		t.Errorf("the holder, after its own late request: %v", err)
	}
}

// Field case 17: the work cannot starve the renewals.
func TestKeep(t *testing.T) {
	db := dynamotest.New(t)
	s := lease.Store{DB: db, Table: names.Effects.Name, Skew: time.Millisecond}
	const d = 300 * time.Millisecond
	// If the lease is not found lost, the test fails rather than hangs.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	t.Run("held as long as a busy fn runs", func(t *testing.T) {
		const d = 3 * time.Second // a slow machine's renewal must get through in a third of it
		l, err := s.Acquire(t.Context(), "busy", "a", d)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Keep(ctx, l, d, func(ctx context.Context, _ lease.Lease) error {
			for start := time.Now(); time.Since(start) < d+time.Second; { // burns its core for longer than the lease
			}
			var held *lease.Held
			if _, err := s.Acquire(t.Context(), "busy", "b", d); !errors.As(err, &held) {
				t.Errorf("taken over under a live holder: %v", err)
			}
			return ctx.Err()
		})
		if err != nil {
			t.Errorf("Keep: %v", err)
		}
		acquire(t, s, "busy", "b") // released
	})

	t.Run("fn is stopped when the lease is lost", func(t *testing.T) {
		const d = 3 * time.Second // the next renewal, after a second, must find out, not the end
		l, err := s.Acquire(t.Context(), "stolen", "a", d)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err = s.Keep(ctx, l, d, func(ctx context.Context, l lease.Lease) error {
			if err := s.Release(t.Context(), l); err != nil { // an operator takes it away
				t.Error(err)
			}
			acquire(t, s, "stolen", "b")
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if took := time.Since(start); took >= d {
			t.Errorf("found out after %s, the whole lease", took)
		}
		if !errors.Is(err, lease.ErrLost) {
			t.Errorf("Keep: %v, want ErrLost", err)
		}
		if who, err := s.Who(t.Context(), "stolen"); err != nil || who == nil || who.Owner != "b" {
			t.Errorf("who = %+v, %v; want b undisturbed", who, err)
		}
	})

	t.Run("fn is stopped when no renewal gets through", func(t *testing.T) {
		server := dynamotest.Start(t)
		ok := lease.Store{DB: server.Client(), Table: names.Effects.Name}
		l, err := ok.Acquire(t.Context(), "cut", "a", d)
		if err != nil {
			t.Fatal(err)
		}
		cut := ok
		cut.DB = server.Faulty(&dynamotest.Faults{Next: func(string) dynamotest.Fault { return dynamotest.NotDone }})
		err = cut.Keep(ctx, l, d, func(ctx context.Context, _ lease.Lease) error {
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, lease.ErrLost) {
			t.Errorf("Keep: %v, want ErrLost", err)
		}
	})
}
