package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Keep runs fn under l and renews the lease every d/3, on a goroutine of its
// own that fn cannot starve. fn's context ends, with cause ErrLost, as soon as
// the lease is lost, or when its end has come without a renewal getting through.
// Afterwards the lease is released. Keep returns fn's error; if the lease was
// lost, ErrLost too.
func (s Store) Keep(ctx context.Context, l Lease, d time.Duration, fn func(context.Context, Lease) error) error {
	run, stop := context.WithCancelCause(ctx)
	done := make(chan error, 1)
	go func() { done <- s.renewing(run, l, d, stop) }()
	err := fn(run, l)
	stop(nil)
	lost := <-done
	rel, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(err, lost, s.Release(rel, l))
}

// renewing renews until ctx ends. It returns ErrLost if it had to end it.
func (s Store) renewing(ctx context.Context, l Lease, d time.Duration, stop context.CancelCauseFunc) error {
	lost := func(err error) error {
		stop(err)
		return err
	}
	tick := time.NewTicker(d / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		call, cancel := context.WithTimeout(ctx, d/3)
		next, err := s.Renew(call, l, d)
		cancel()
		switch {
		case err == nil:
			l = next
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrLost):
			return lost(err)
		case !s.now().Before(l.Until):
			return lost(fmt.Errorf("lease %s ran out, the last renewal failed: %w", l.Key, errors.Join(ErrLost, err)))
		}
	}
}
