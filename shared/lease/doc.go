// Package lease lets one process at a time do something, as an authority that
// all of them share says: a DynamoDB row. A lease has a duration, is renewed
// while its holder lives, may be taken over once it has run out, and has a fence,
// a number that rises with every holder. It knows nothing of what it guards.
//
//	l, err := store.Acquire(ctx, "import", host, time.Minute)
//	var held *lease.Held
//	if errors.As(err, &held) { // held.Owner has it until held.Until
//		return err
//	}
//	err = store.Keep(ctx, l, time.Minute, func(ctx context.Context, l lease.Lease) error {
//		return importAll(ctx, l.Fence) // ctx ends if the lease is lost
//	})
//
// # What it promises, and what not
//
// Two Acquires never hold one key at once, as long as no two clocks differ by more
// than Skew: a lease is taken over no earlier than its end plus Skew. A holder
// knows the end by its own clock (Lease.Until) and everybody else is told the time
// from which it may be taken over (Held.Until).
//
// A lease alone cannot stop a holder that was paused past its end and goes on:
// whatever it writes must carry the fence. Guard is that condition for a
// transaction in the same database; elsewhere, refuse a fence lower than the
// highest seen.
//
// # When an answer is lost
//
// Acquire and Renew find their own token in the row and succeed, under the fence that
// is there. A request that arrives late, behind its own repeat, changes nothing.
// Release that did not get through lets the lease run out.
//
// # Time that is left
//
// Acquire with a context whose deadline has come takes nothing. Keep tries to
// renew for a third of the duration at a time and gives up, with ErrLost, at the
// lease's end; it releases in a time of its own, whatever ended the context.
package lease
