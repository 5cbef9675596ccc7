package effect

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/shared/retry"
)

// MaxResult is the largest result, in bytes, that can be recorded. Store a
// bigger one elsewhere and record where it is.
const MaxResult = 32 << 10

// DefaultSkew is how far apart two callers' clocks may be, unless Skew says.
const DefaultSkew = 15 * time.Second

// DB is what a Store needs of DynamoDB.
type DB interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Store guards effects by rows of one table, whose only key is the string
// attribute "effect". It is safe for concurrent use.
type Store struct {
	db        DB
	table     string
	takeovers int
	skew      time.Duration
	retention time.Duration
	now       func() time.Time
	retry     retry.Policy
	onUnknown func(ctx context.Context, key string)
}

// Option changes a Store.
type Option func(*Store)

// Takeovers lets n callers repeat an effect whose claim ran out without an
// answer: 0, the default, for what must never be sent twice; 1 for what may be
// paid for twice at worst.
func Takeovers(n int) Option { return func(s *Store) { s.takeovers = n } }

// Skew bounds the difference of two callers' clocks: nobody takes a claim over
// until this long after its end.
func Skew(d time.Duration) Option { return func(s *Store) { s.skew = d } }

// Retention lets a row count as absent, and be reaped by the table's TTL on
// the attribute "expires_at", this long after its last change. Without it rows
// stay for ever. It must be longer than any repeat of the key can be late.
func Retention(d time.Duration) Option { return func(s *Store) { s.retention = d } }

// Now replaces the clock.
func Now(now func() time.Time) Option { return func(s *Store) { s.now = now } }

// Retry replaces the policy by which the store's own requests are repeated.
func Retry(p retry.Policy) Option { return func(s *Store) { s.retry = p } }

// OnUnknown is called, once for each key, by the caller that found the outcome
// unknown: the place to count it and to raise an alarm.
func OnUnknown(fn func(ctx context.Context, key string)) Option {
	return func(s *Store) { s.onUnknown = fn }
}

// New makes a Store on a table.
func New(db DB, table string, opts ...Option) *Store {
	s := &Store{db: db, table: table, skew: DefaultSkew, now: time.Now}
	for _, o := range opts {
		o(s)
	}
	return s
}

// InProgress says that another caller holds the claim. It may be asked again
// after Until: by then there is a result, or the claim has run out.
type InProgress struct {
	Key   string
	Owner string
	Until time.Time // end of the claim plus the skew bound, in whole seconds
}

func (e *InProgress) Error() string {
	return fmt.Sprintf("effect %s is in progress elsewhere until %s", e.Key, e.Until.UTC().Format(time.RFC3339))
}

// Unknown says that the effect may have happened and nobody knows: its last
// claim ran out without an answer and no takeover is left. It is final.
type Unknown struct {
	Key   string
	Since time.Time // when the last claim ran out
}

func (e *Unknown) Error() string {
	return fmt.Sprintf("effect %s: outcome unknown since %s", e.Key, e.Since.UTC().Format(time.RFC3339))
}

// ErrResultTooLarge says that fn's result is longer than MaxResult. The effect
// happened; its outcome is recorded as unknown.
var ErrResultTooLarge = errors.New("effect: result too large to record")

// NotSent marks err as one that came before anything was sent, or that the
// other side refused: the claim is given back, so that a retry may call again.
// NotSent(nil) is nil.
func NotSent(err error) error {
	if err == nil {
		return nil
	}
	return &notSent{err}
}

type notSent struct{ err error }

func (e *notSent) Error() string { return e.err.Error() }
func (e *notSent) Unwrap() error { return e.err }

// Claim is what a running effect holds.
type Claim struct {
	Key   string
	Owner string
	Fence int64 // 1 for the first claim of a key, higher for each later one
	Until time.Time
}

type claimKey struct{}

// ClaimFrom gives the claim under which Once runs fn.
func ClaimFrom(ctx context.Context) (Claim, bool) {
	c, ok := ctx.Value(claimKey{}).(Claim)
	return c, ok
}

// Once runs fn if nobody has for this key, records its result and returns it;
// later callers get the recorded result. fn runs under a claim of at most
// lease, less when ctx ends earlier, and must send the effect at most once; its
// context ends a little before the claim does.
//
// Errors: *InProgress, *Unknown; fn's own, wrapped. After an error of fn that
// is not NotSent, the claim is left to run out, since the effect may have
// happened. A ctx without time left is an error before anything is claimed.
func (s *Store) Once(ctx context.Context, key string, lease time.Duration, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	if key == "" || lease <= 0 {
		return nil, fmt.Errorf("effect %q: needs a key and a positive lease, got %s", key, lease)
	}
	c, result, err := s.claim(ctx, key, lease)
	if err != nil || c == nil {
		return result, err
	}
	out, err := s.run(ctx, *c, fn)
	var ns *notSent
	switch {
	case errors.As(err, &ns):
		return nil, errors.Join(fmt.Errorf("effect %s: %w", key, err), s.release(ctx, *c))
	case err != nil:
		return nil, fmt.Errorf("effect %s: %w", key, err)
	case len(out) > MaxResult:
		_, err := s.markUnknown(ctx, *c)
		return nil, errors.Join(fmt.Errorf("effect %s: %w: %d bytes", key, ErrResultTooLarge, len(out)), err)
	}
	return s.finish(ctx, *c, out)
}

// run calls fn with a context that ends early enough to record its result
// before the claim ends and, with it, perhaps this process.
func (s *Store) run(ctx context.Context, c Claim, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	left := c.Until.Sub(s.now())
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, claimKey{}, c), left-min(left/10, 2*time.Second))
	defer cancel()
	return fn(ctx)
}

func owner() string { return rand.Text() }
