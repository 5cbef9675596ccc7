// Package effect makes an effect that leaves the process (a paid call, a mail)
// happen once, or says that nobody knows. It needs one DynamoDB table and knows
// nothing of what the effect is.
//
//	absent -> claimed(owner, fence, until) -> done(result) | unknown
//
// A caller first claims the effect's key with a conditional write, then acts,
// then records the result. Whoever asks meanwhile gets *InProgress with the time
// to ask again; whoever asks later gets the recorded result without acting. A
// claim that ran out without an answer is the case that no client library can
// hide: the effect may have happened. Takeovers says how often it may then be
// repeated; after that the key is *Unknown for good.
//
//	store := effect.New(dynamodb.NewFromConfig(cfg), "effects", effect.Takeovers(1))
//	out, err := store.Once(ctx, "invoice#42", 2*time.Minute, func(ctx context.Context) ([]byte, error) {
//		reply, err := gateway.Charge(ctx, 42)
//		if refused(err) { // it came before anything was sent, or the other side said no
//			return nil, effect.NotSent(err)
//		}
//		return reply, err
//	})
//	var busy *effect.InProgress
//	var unknown *effect.Unknown
//	switch {
//	case errors.As(err, &busy):    // ask again at busy.Until
//	case errors.As(err, &unknown): // a person, or a rule, must decide
//	}
//
// # What is guarded, and what is not
//
// At most 1+Takeovers calls of fn are begun for one key, not counting those that
// returned NotSent. Two of them never overlap by more than the difference of the
// callers' clocks beyond Skew, if fn stops when its context ends. A caller that
// was paused past its claim and finds its key taken over gets the standing
// result, never its own. The times used are the callers' own clocks; the table's
// TTL is never taken for one: a row past its retention counts as absent whether
// or not it was reaped.
//
// # Time that is left
//
// A claim ends when the lease does or when the caller's context does, whichever
// is first, so that a function killed at its deadline leaves a claim that ends
// then. A context with no time left claims nothing.
package effect
