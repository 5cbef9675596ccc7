package effect_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/names"
)

var table = names.Effects.Name

// clock is a caller's clock; moving it is what passing time does to a claim.
type clock struct{ off atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.off.Load())) }
func (c *clock) forward(d time.Duration) { c.off.Add(int64(d)) }

// call is an effect that counts how often it happens.
type call struct{ n atomic.Int64 }

func (c *call) run(out string, err error) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		c.n.Add(1)
		return []byte(out), err
	}
}

func (c *call) want(t *testing.T, n int64) {
	t.Helper()
	if got := c.n.Load(); got != n {
		t.Errorf("the effect happened %d times, want %d", got, n)
	}
}

var errLost = errors.New("no answer")

func TestOnce(t *testing.T) {
	db := dynamotest.New(t)
	ctx := t.Context()
	const lease, skew = time.Minute, effect.DefaultSkew

	t.Run("recorded result", func(t *testing.T) {
		s, c := effect.New(db, table), &call{}
		for range 3 {
			out, err := s.Once(ctx, "recorded", lease, c.run("r", nil))
			if err != nil || string(out) != "r" {
				t.Fatalf("Once = %q, %v", out, err)
			}
		}
		c.want(t, 1)
	})

	t.Run("empty result", func(t *testing.T) {
		s, c := effect.New(db, table), &call{}
		for range 2 {
			if out, err := s.Once(ctx, "empty", lease, func(context.Context) ([]byte, error) { c.n.Add(1); return nil, nil }); err != nil || len(out) != 0 {
				t.Fatalf("Once = %q, %v", out, err)
			}
		}
		c.want(t, 1)
	})

	t.Run("twenty at once", func(t *testing.T) {
		s, c := effect.New(db, table), &call{}
		started := make(chan struct{})
		var wg sync.WaitGroup
		var done, busy atomic.Int64
		for range 20 {
			wg.Go(func() {
				out, err := s.Once(ctx, "crowd", lease, func(context.Context) ([]byte, error) {
					c.n.Add(1)
					<-started
					return []byte("r"), nil
				})
				var in *effect.InProgress
				switch {
				case err == nil && string(out) == "r":
					done.Add(1)
				case errors.As(err, &in) && in.Owner != "" && time.Until(in.Until) > lease && in.Until.Nanosecond() == 0:
					if busy.Add(1) == 19 { // everybody else has been turned away
						close(started)
					}
				default:
					t.Errorf("Once = %q, %v", out, err)
				}
			})
		}
		wg.Wait()
		c.want(t, 1)
		if done.Load() != 1 || busy.Load() != 19 {
			t.Errorf("%d done, %d turned away", done.Load(), busy.Load())
		}
	})

	t.Run("not sent gives the claim back", func(t *testing.T) {
		s, c := effect.New(db, table), &call{}
		cause := errors.New("refused")
		if _, err := s.Once(ctx, "refused", lease, c.run("", effect.NotSent(cause))); !errors.Is(err, cause) {
			t.Fatalf("first: %v", err)
		}
		var fence int64
		out, err := s.Once(ctx, "refused", lease, func(ctx context.Context) ([]byte, error) {
			cl, ok := effect.ClaimFrom(ctx)
			if fence = cl.Fence; !ok || cl.Key != "refused" {
				t.Errorf("claim = %+v, %t", cl, ok)
			}
			return c.run("r", nil)(ctx)
		})
		if err != nil || string(out) != "r" || fence != 2 {
			t.Errorf("again = %q, %v, fence %d", out, err, fence)
		}
		if effect.NotSent(nil) != nil {
			t.Error("NotSent(nil) is an error")
		}
	})

	t.Run("no takeover: unknown after the claim and the skew", func(t *testing.T) {
		ck, c := &clock{}, &call{}
		var alarms []string
		s := effect.New(db, table, effect.Now(ck.now), effect.OnUnknown(func(_ context.Context, key string) { alarms = append(alarms, key) }))
		if _, err := s.Once(ctx, "mail", lease, c.run("", errLost)); !errors.Is(err, errLost) {
			t.Fatalf("first: %v", err)
		}
		var in *effect.InProgress
		ck.forward(lease + skew - time.Second)
		if _, err := s.Once(ctx, "mail", lease, c.run("r", nil)); !errors.As(err, &in) {
			t.Fatalf("within the skew: %v, want InProgress", err)
		}
		ck.forward(2 * time.Second)
		for range 2 {
			var unknown *effect.Unknown
			if _, err := s.Once(ctx, "mail", lease, c.run("r", nil)); !errors.As(err, &unknown) || unknown.Key != "mail" {
				t.Fatalf("after: %v, want Unknown", err)
			}
		}
		c.want(t, 1)
		if len(alarms) != 1 || alarms[0] != "mail" {
			t.Errorf("alarms = %v, want one", alarms)
		}
	})

	t.Run("one takeover, then unknown", func(t *testing.T) {
		ck, c := &clock{}, &call{}
		s := effect.New(db, table, effect.Now(ck.now), effect.Takeovers(1))
		for i := range 2 {
			if _, err := s.Once(ctx, "model", lease, c.run("", errLost)); !errors.Is(err, errLost) {
				t.Fatalf("try %d: %v", i, err)
			}
			ck.forward(lease + skew + time.Second)
		}
		var unknown *effect.Unknown
		if _, err := s.Once(ctx, "model", lease, c.run("r", nil)); !errors.As(err, &unknown) {
			t.Fatalf("third: %v, want Unknown", err)
		}
		c.want(t, 2)
	})

	t.Run("a refusal does not use the takeover up, nor give a second one", func(t *testing.T) {
		ck, c := &clock{}, &call{}
		s := effect.New(db, table, effect.Now(ck.now), effect.Takeovers(1))
		for i, fail := range []error{effect.NotSent(errLost), errLost, effect.NotSent(errLost), errLost} {
			if _, err := s.Once(ctx, "mixed", lease, c.run("", fail)); !errors.Is(err, errLost) {
				t.Fatalf("try %d: %v", i, err)
			}
			ck.forward(lease + skew + time.Second)
		}
		var unknown *effect.Unknown
		if _, err := s.Once(ctx, "mixed", lease, c.run("r", nil)); !errors.As(err, &unknown) {
			t.Fatalf("last: %v, want Unknown", err)
		}
	})

	t.Run("too large a result", func(t *testing.T) {
		s, c := effect.New(db, table), &call{}
		_, err := s.Once(ctx, "large", lease, c.run(strings.Repeat("x", effect.MaxResult+1), nil))
		if !errors.Is(err, effect.ErrResultTooLarge) {
			t.Fatalf("first: %v", err)
		}
		var unknown *effect.Unknown
		if _, err := s.Once(ctx, "large", lease, c.run("r", nil)); !errors.As(err, &unknown) {
			t.Errorf("again: %v, want Unknown: it must not be sent twice", err)
		}
		c.want(t, 1)
	})

	t.Run("bad arguments", func(t *testing.T) {
		s, c := effect.New(db, table), &call{}
		for _, f := range []func() ([]byte, error){
			func() ([]byte, error) { return s.Once(ctx, "", lease, c.run("", nil)) },
			func() ([]byte, error) { return s.Once(ctx, "k", 0, c.run("", nil)) },
		} {
			if _, err := f(); err == nil {
				t.Error("no error")
			}
		}
		c.want(t, 0)
	})
}

// Field case 11: a record stuck in progress; no time left taken for no deadline.
func TestTimeLeft(t *testing.T) {
	db := dynamotest.New(t)

	t.Run("none", func(t *testing.T) {
		s, c := effect.New(db, table), &call{}
		ctx, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		if _, err := s.Once(ctx, "none", time.Minute, c.run("r", nil)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("with no time left: %v", err)
		}
		if st, err := s.Look(t.Context(), "none"); err != nil || st.State != "" {
			t.Errorf("row = %+v, %v; want none", st, err)
		}
		if out, err := s.Once(t.Context(), "none", time.Minute, c.run("r", nil)); err != nil || string(out) != "r" {
			t.Errorf("later: %q, %v", out, err)
		}
		c.want(t, 1)
	})

	t.Run("none, before the context has noticed", func(t *testing.T) {
		s, c := effect.New(db, table), &call{}
		if _, err := s.Once(lateContext{t.Context()}, "late", time.Minute, c.run("r", nil)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with no time left: %v", err)
		}
		c.want(t, 0)
	})

	t.Run("less than the lease: the claim ends with the caller", func(t *testing.T) {
		ck, c := &clock{}, &call{}
		s := effect.New(db, table, effect.Now(ck.now), effect.Takeovers(1))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := s.Once(ctx, "short", time.Hour, func(ctx context.Context) ([]byte, error) {
			d, ok := ctx.Deadline()
			if left := time.Until(d); !ok || left > 2900*time.Millisecond || left < 2*time.Second {
				t.Errorf("fn has %s, want a little less than 3 s", left)
			}
			c.n.Add(1)
			return nil, errLost // killed here
		}); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		ck.forward(3*time.Second + effect.DefaultSkew + time.Second)
		if out, err := s.Once(t.Context(), "short", time.Hour, c.run("r", nil)); err != nil || string(out) != "r" {
			t.Errorf("retry after deadline + skew + 1 s: %q, %v; want taken over", out, err)
		}
		c.want(t, 2)
	})
}

// lateContext is at its deadline and has not ended yet.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now(), true }

// Field case 14: an expired row that the database has not reaped is no row.
func TestRetention(t *testing.T) {
	db := dynamotest.New(t)
	ck, c := &clock{}, &call{}
	s := effect.New(db, table, effect.Now(ck.now), effect.Retention(time.Hour))
	for range 2 {
		if _, err := s.Once(t.Context(), "kept", time.Minute, c.run("r", nil)); err != nil {
			t.Fatal(err)
		}
	}
	c.want(t, 1)
	ck.forward(2 * time.Hour)
	if out, err := s.Once(t.Context(), "kept", time.Minute, c.run("r2", nil)); err != nil || string(out) != "r2" {
		t.Fatalf("after the retention: %q, %v", out, err)
	}
	c.want(t, 2)
}

// Field case 13: an owner that was paused past its claim finds it taken over.
func TestPausedOwner(t *testing.T) {
	db := dynamotest.New(t)
	ck, c := &clock{}, &call{}
	s := effect.New(db, table, effect.Now(ck.now), effect.Takeovers(1))
	out, err := s.Once(t.Context(), "paused", time.Minute, func(ctx context.Context) ([]byte, error) {
		c.n.Add(1)
		ck.forward(time.Minute + effect.DefaultSkew + time.Second) // SIGSTOP, SIGCONT
		if out, err := s.Once(t.Context(), "paused", time.Minute, c.run("taken over", nil)); err != nil || string(out) != "taken over" {
			t.Errorf("takeover: %q, %v", out, err)
		}
		return []byte("late"), nil
	})
	if err != nil || string(out) != "taken over" {
		t.Errorf("the paused owner got %q, %v; want the standing result", out, err)
	}
	c.want(t, 2)
}

// Whatever answer is lost, or request never arrives, the effect happens once
// and its result is returned, now or to the next caller.
func TestLostAnswers(t *testing.T) {
	server := dynamotest.Start(t)
	for _, op := range []string{"PutItem", "UpdateItem"} {
		for n := 1; n <= 3; n++ {
			for _, f := range []dynamotest.Fault{dynamotest.Lost, dynamotest.NotDone} {
				t.Run(fmt.Sprint(op, n, f), func(t *testing.T) {
					c := &call{}
					s := effect.New(server.Faulty(&dynamotest.Faults{Next: dynamotest.First(n, op, f)}), table)
					out, err := s.Once(t.Context(), t.Name(), time.Minute, c.run("r", nil))
					if err != nil || string(out) != "r" {
						t.Errorf("Once = %q, %v", out, err)
					}
					c.want(t, 1)
				})
			}
		}
	}
	t.Run("the result is never recorded", func(t *testing.T) {
		ck, c := &clock{}, &call{}
		s := effect.New(server.Faulty(&dynamotest.Faults{Next: dynamotest.First(99, "UpdateItem", dynamotest.NotDone)}), table, effect.Now(ck.now))
		if _, err := s.Once(t.Context(), "unrecorded", time.Minute, c.run("r", nil)); !errors.Is(err, dynamotest.ErrInjected) {
			t.Fatalf("first: %v", err)
		}
		ck.forward(time.Hour)
		var unknown *effect.Unknown
		if _, err := effect.New(server.Client(), table, effect.Now(ck.now)).Once(t.Context(), "unrecorded", time.Minute, c.run("r", nil)); !errors.As(err, &unknown) {
			t.Errorf("later: %v, want Unknown", err)
		}
		c.want(t, 1)
	})
}
