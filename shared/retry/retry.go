// Package retry repeats a request that nothing was decided against. It is the
// one layer of retries: SDK clients are made with theirs off.
package retry

import (
	"context"
	"math/rand/v2"
	"time"

	"fastbowlinglab/shared/awserr"
)

// Policy bounds the tries. The zero value is ready: 6 tries, 20 ms doubling to
// 800 ms, full jitter; at most 1.6 s in all.
type Policy struct {
	Tries int
	Base  time.Duration
	Max   time.Duration
	Rand  func() float64 // in [0,1]; nil means DefaultRand
}

// DefaultRand is where the jitter of a Policy without a Rand comes from. A test
// that must replay exactly sets it, before anything else runs.
var DefaultRand = rand.Float64

func (p Policy) withDefaults() Policy {
	if p.Tries == 0 {
		p.Tries = 6
	}
	if p.Base == 0 {
		p.Base = 20 * time.Millisecond
	}
	if p.Max == 0 {
		p.Max = 800 * time.Millisecond
	}
	if p.Rand == nil {
		p.Rand = DefaultRand
	}
	return p
}

// Do calls fn until it succeeds, fails with an error that repeating cannot
// mend, or the tries or ctx end; it returns fn's last error. The caller makes
// fn safe to repeat: a conditional write, or one with a client token.
func (p Policy) Do(ctx context.Context, fn func() error) error {
	p = p.withDefaults()
	for try := 1; ; try++ {
		err := fn()
		if err == nil || try == p.Tries || !awserr.KindOf(err).Retryable() || ctx.Err() != nil {
			return err
		}
		wait := min(p.Base<<(try-1), p.Max)
		if Sleep(ctx, time.Duration(p.Rand()*float64(wait))) != nil {
			return err
		}
	}
}

// Sleep waits; when ctx ends first, it returns ctx's error at once.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
