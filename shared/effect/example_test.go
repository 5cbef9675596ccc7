package effect_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/internal/memtable"
	"fastbowlinglab/shared/names"
)

var errRefused = errors.New("card refused")

// charge sends an invoice to a payment service, once, whoever asks.
func charge(ctx context.Context, store *effect.Store, invoice string, send func() (string, error)) string {
	out, err := store.Once(ctx, "invoice#"+invoice, time.Minute, func(context.Context) ([]byte, error) {
		receipt, err := send()
		if errors.Is(err, errRefused) { // nothing was charged: it may be tried again
			return nil, effect.NotSent(err)
		}
		return []byte(receipt), err
	})
	var busy *effect.InProgress
	var unknown *effect.Unknown
	switch {
	case errors.As(err, &busy):
		return "ask again later"
	case errors.As(err, &unknown):
		return "a person must look"
	case err != nil:
		return err.Error()
	}
	return string(out)
}

// The example of the package's documentation, on a real database.
func TestExample(t *testing.T) {
	clock := &clock{}
	store := effect.New(dynamotest.New(t), names.Effects.Name, effect.Now(clock.now))
	sent := 0
	answer := func(receipt string, err error) func() (string, error) {
		return func() (string, error) { sent++; return receipt, err }
	}
	for i, step := range []struct {
		invoice string
		send    func() (string, error)
		pass    time.Duration
		want    string
		sent    int
	}{
		{"1", answer("", errRefused), 0, "effect invoice#1: card refused", 1},
		{"1", answer("receipt 7", nil), 0, "receipt 7", 2},
		{"1", answer("receipt 8", nil), 0, "receipt 7", 2},
		{"2", answer("", errors.New("no answer")), 0, "effect invoice#2: no answer", 3},
		{"2", answer("receipt 9", nil), 0, "ask again later", 3},
		{"2", answer("receipt 9", nil), 2 * time.Minute, "a person must look", 3},
	} {
		clock.forward(step.pass)
		if got := charge(t.Context(), store, step.invoice, step.send); got != step.want || sent != step.sent {
			t.Errorf("step %d: %q after %d requests, want %q after %d", i, got, sent, step.want, step.sent)
		}
	}
}

// What callers of one key are told: the one that acts, one that comes meanwhile,
// one that comes afterwards, and one that finds a claim that ran out.
func ExampleStore_Once() {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	store := effect.New(&memtable.Table{}, "effects", effect.Now(func() time.Time { return now }))
	ctx := context.Background()
	say := func(out []byte, err error) {
		var busy *effect.InProgress
		var unknown *effect.Unknown
		switch {
		case errors.As(err, &busy):
			fmt.Println("ask again at", busy.Until.Format(time.TimeOnly))
		case errors.As(err, &unknown):
			fmt.Println("nobody knows since", unknown.Since.Format(time.TimeOnly))
		case err != nil:
			fmt.Println("error:", err)
		default:
			fmt.Println("result:", string(out))
		}
	}
	receipt := func(context.Context) ([]byte, error) { return []byte("receipt 7"), nil }
	say(store.Once(ctx, "invoice#1", time.Minute, func(context.Context) ([]byte, error) {
		say(store.Once(ctx, "invoice#1", time.Minute, receipt)) // a second caller, meanwhile
		return []byte("receipt 6"), nil
	}))
	say(store.Once(ctx, "invoice#1", time.Minute, receipt)) // a third, afterwards

	say(store.Once(ctx, "invoice#2", time.Minute, func(context.Context) ([]byte, error) { return nil, errors.New("no answer") }))
	now = now.Add(2 * time.Minute)
	say(store.Once(ctx, "invoice#2", time.Minute, receipt))
	// Output:
	// ask again at 09:01:15
	// result: receipt 6
	// result: receipt 6
	// error: effect invoice#2: no answer
	// nobody knows since 09:01:00
}

// With a takeover a claim that ran out is claimed once more, under a higher fence.
func ExampleTakeovers() {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	store := effect.New(&memtable.Table{}, "effects", effect.Takeovers(1), effect.Now(func() time.Time { return now }))
	for range 3 {
		out, err := store.Once(context.Background(), "translate#5", time.Minute, func(ctx context.Context) ([]byte, error) {
			claim, _ := effect.ClaimFrom(ctx)
			fmt.Println("called under fence", claim.Fence)
			return nil, errors.New("no answer")
		})
		fmt.Println(string(out), err)
		now = now.Add(2 * time.Minute)
	}
	// Output:
	// called under fence 1
	//  effect translate#5: no answer
	// called under fence 2
	//  effect translate#5: no answer
	//  effect translate#5: outcome unknown since 2026-03-01T09:03:00Z
}

// A refusal gives the claim back, a lost answer does not.
func ExampleNotSent() {
	err := effect.NotSent(errRefused)
	fmt.Println(err, errors.Is(err, errRefused), effect.NotSent(nil) == nil)
	// Output: card refused true true
}
