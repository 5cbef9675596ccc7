package faults

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/credit"
)

// grant gives the athlete their credits; sometimes two operators do, who mean the
// same grant.
func (w *world) grant(ctx context.Context, c *virtual.Cloud, credits int) bool {
	ask := virtual.Ask{Route: routeGrant, Operator: true, Key: "grant",
		Body: map[string]any{"athlete_id": virtual.Athlete, "credits": credits, "reason": "virtual"}}
	var both sync.WaitGroup
	if w.plan.event(doTwoGrants, "", 0.25) {
		again := virtual.As(context.Background(), "client-operator/again")
		both.Go(func() { w.ask(again, c, ask) })
	}
	r, ok := w.ask(ctx, c, ask)
	both.Wait()
	return ok && r.Status == http.StatusCreated
}

// pay is a shop that tells of a payment and of its refund, each more than once and
// in any order.
func (w *world) pay(c *virtual.Cloud) {
	d := w.plan.dice
	var told sync.WaitGroup
	for n := range 4 {
		told.Go(func() {
			key := fmt.Sprint("shop/", n)
			ctx := virtual.As(context.Background(), "client-"+key)
			pause(ctx, time.Duration(d.IntN(2, "tells "+key))*time.Second) // at once, or nearly: they must meet
			kind, credits := credit.PaymentCompleted, bought
			if n >= 2 {
				kind, credits = credit.PaymentRefunded, refunded
			}
			w.ask(ctx, c, virtual.Ask{Route: routePayment, Event: fmt.Sprint("event-", n/2), Body: map[string]any{
				"type": kind, "payment_id": "payment-1", "athlete_id": virtual.Athlete, "credits": credits}})
		})
	}
	told.Wait()
}

// What the shop sells, and what it takes back of that.
const (
	bought   = 3
	refunded = 2
)
