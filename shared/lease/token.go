package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/stamp"
)

// AcquireAs is Acquire by a holder that is more than one process, such as a run
// whose steps are functions: whoever knows token acts for the holder. A token
// that holds the lease already is no second holder: it is renewed, and the
// fence stays, however late the request comes. Errors: *Held; ctx's own.
func (s Store) AcquireAs(ctx context.Context, key, owner, token string, d time.Duration) (Lease, error) {
	if key == "" || owner == "" || token == "" || d <= 0 {
		return Lease{}, fmt.Errorf("acquire lease %q for %q: needs a key, an owner, a token and a positive duration, got %s", key, owner, d)
	}
	if err := left(ctx); err != nil {
		return Lease{}, fmt.Errorf("acquire lease %s: %w", key, err)
	}
	now := s.now()
	l := Lease{Key: key, Owner: owner, Until: now.Add(d).UTC().Truncate(time.Millisecond), token: token}
	got, err := s.update(ctx, key,
		"SET #o = :owner, #t = :token, #u = :until ADD fence :one",
		"attribute_not_exists(#t) OR #u < :free",
		map[string]ddb.AttributeValue{":owner": text(owner), ":token": text(token), ":until": stamp.Value(l.Until),
			":one": number(1), ":free": stamp.Value(now.Add(-s.skew()))})
	switch {
	case err == nil:
		l.Fence = got.Fence
		return l, nil
	case errors.Is(err, ErrLost) && got.Token == token:
		l.Fence = got.Fence
		return s.Renew(ctx, l, d)
	case errors.Is(err, ErrLost):
		return Lease{}, &Held{key, got.Owner, got.Fence, got.Until.Add(s.skew())}
	}
	return Lease{}, fmt.Errorf("acquire lease %s: %w", key, err)
}

// As is the lease that token holds under fence, for a process that did not
// acquire it itself. Whether it still does is the database's to say: Renew and
// Guard ask.
func As(key, owner, token string, fence int64) Lease {
	return Lease{Key: key, Owner: owner, Fence: fence, token: token}
}
