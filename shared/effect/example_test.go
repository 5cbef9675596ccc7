package effect_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/internal/dynamotest"
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

// A refusal gives the claim back, a lost answer does not.
func ExampleNotSent() {
	err := effect.NotSent(errRefused)
	fmt.Println(err, errors.Is(err, errRefused), effect.NotSent(nil) == nil)
	// Output: card refused true true
}
