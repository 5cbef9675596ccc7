package effect

import (
	"context"
	"fmt"
	"time"
)

// claim gets the claim of key; or, with a nil claim, the recorded result.
func (s *Store) claim(ctx context.Context, key string, lease time.Duration) (*Claim, []byte, error) {
	me := owner()
	fresh, err := s.newRow(ctx, key, me, lease)
	if err != nil {
		return nil, nil, err
	}
	seen, err := s.insert(ctx, fresh)
	for range 4 { // each turn somebody else changed the row between our read and our write
		if err != nil {
			return nil, nil, err
		}
		if seen == nil || (seen.Owner == me && seen.State == stateClaimed) { // ours; perhaps its answer was lost
			c := fresh.claim()
			return &c, nil, nil
		}
		now := s.now()
		next := fresh
		switch {
		case seen.State == "": // reaped between our write and now
			seen, err = s.insert(ctx, fresh)
			continue
		case s.retention > 0 && seen.ExpiresAt != 0 && seen.ExpiresAt <= now.Unix(): // the same as absent, reaped or not
		case seen.State == stateDone:
			return nil, seen.Result, nil
		case seen.State == stateUnknown:
			return nil, nil, &Unknown{key, seen.Until}
		case seen.State == stateFree:
			next.Takeovers = seen.Takeovers
		case now.Before(seen.Until.Add(s.skew)):
			return nil, nil, s.inProgress(*seen)
		case seen.Takeovers >= s.takeovers:
			ran := seen.claim()
			if seen, err = s.markUnknown(ctx, ran); seen == nil && err == nil {
				return nil, nil, &Unknown{key, ran.Until}
			}
			continue
		default:
			next.Takeovers = seen.Takeovers + 1
		}
		next.Fence = seen.Fence + 1
		fresh = next
		seen, err = s.replace(ctx, *seen, next)
	}
	return nil, nil, fmt.Errorf("claim effect %s: the row changed four times under us", key)
}

// inProgress rounds up to a whole second, so that a caller who can only wait for
// one does not ask in vain until then.
func (s *Store) inProgress(seen row) error {
	at := seen.Until.Add(s.skew)
	if whole := at.Truncate(time.Second); whole.Before(at) {
		at = whole.Add(time.Second)
	}
	return &InProgress{seen.Effect, seen.Owner, at}
}

// newRow is a first claim by me, from now until lease or ctx ends.
func (s *Store) newRow(ctx context.Context, key, me string, lease time.Duration) (row, error) {
	now := s.now()
	until := now.Add(lease)
	if d, ok := ctx.Deadline(); ok { // 0 left is a value: there is no time, not no deadline
		left := time.Until(d)
		if left <= 0 {
			return row{}, fmt.Errorf("claim effect %s: %w", key, context.DeadlineExceeded)
		}
		if left < lease {
			until = now.Add(left)
		}
	}
	if err := ctx.Err(); err != nil {
		return row{}, fmt.Errorf("claim effect %s: %w", key, err)
	}
	r := row{Effect: key, State: stateClaimed, Owner: me, Fence: 1, Until: until.UTC().Truncate(time.Millisecond)}
	if s.retention > 0 {
		r.ExpiresAt = until.Add(s.retention).Unix()
	}
	return r, nil
}
