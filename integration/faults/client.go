package faults

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fastbowlinglab/integration/virtual"
)

// client is an athlete with one analysis.
func (w *world) client(c *virtual.Cloud, key string) {
	ctx := virtual.As(context.Background(), "client/"+key)
	d := w.plan.dice
	pause(ctx, d.Between(0, time.Minute, "arrives "+key))
	var twin sync.WaitGroup
	if w.plan.event(doTwoClients, key, 0.2) { // the app was tapped twice
		tctx := virtual.As(context.Background(), "client-twin/"+key)
		twin.Go(func() { w.submit(tctx, c, key) })
	}
	id, ok := w.submit(ctx, c, key)
	twin.Wait()
	if !ok {
		return
	}
	if !w.plan.event(doNoStart, key, 0.1) { // else the reconciler must
		w.insist(ctx, func() error { return c.StartExecution(ctx, id, 1) })
	}
	var things sync.WaitGroup
	if w.plan.event(doSecondOwner, key, 0.45) {
		things.Go(func() {
			ctx := virtual.As(context.Background(), "client-queue/"+key)
			when := d.Between(5*time.Second, 50*time.Second, "second "+key) // beside the first, before a worker is up
			if d.Chance(0.4, "second later "+key) {
				when = d.Between(time.Minute, 5*time.Minute, "second "+key)
			}
			pause(ctx, when)
			_ = c.SendClaimCheck(ctx, id)
		})
	}
	if w.plan.event(doRedrive, key, 0.3) {
		things.Go(func() { w.redrive(c, id, key) })
	}
	for k := range d.IntN(5, "things "+key) {
		things.Go(func() { w.thing(c, id, fmt.Sprintf("%s/%d", key, k)) })
	}
	things.Wait()
}

// submit creates, uploads and confirms. An athlete without a credit is told so.
func (w *world) submit(ctx context.Context, c *virtual.Cloud, key string) (id string, ok bool) {
	if w.plan.event(doNoUpload, key, 0.07) {
		w.insist(ctx, func() (err error) { id, err = c.Create(ctx, key); return err })
		return id, false
	}
	done := w.insist(ctx, func() (err error) { id, err = c.Submit(ctx, key); return err })
	if done && id != "" {
		w.mu.Lock()
		w.wanted[id] = true
		w.mu.Unlock()
	}
	return id, done && id != ""
}

// insist calls fn until it succeeds, as an app does, for up to an hour. What
// the answer of a client in the wrong is, is an answer too.
func (w *world) insist(ctx context.Context, fn func() error) bool {
	for range 120 {
		err := fn()
		if err == nil || final(err) {
			return true
		}
		pause(ctx, 30*time.Second)
	}
	return false
}

// pause lets virtual time pass.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
