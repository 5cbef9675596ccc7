package poseworker

import (
	"context"
	"errors"
	"sync"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/media"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
)

// patient repeats a part of the pass while storage or the database is away: the pass
// keeps its job and waits, a little longer each time. Given up at once, the job would
// have died its three deaths within seconds. What is known to be storage's fault is
// tried for Timers.Away, whatever else may only look like an absence names.PoseTries
// times. fn goes on from the last checkpoint; its URL, good until then (zero for none),
// is another one in the next try.
func (p *pass) patient(ctx context.Context, doing string, fn func() (until time.Time, err error)) error {
	wait, saved := p.d.Timers.Again, p.stats.chunks.Load()
	waited := false
	for n := 1; ; {
		until, err := fn()
		now := p.stats.chunks.Load()
		if now > saved || err == nil && waited { // what went well at once, beside this, ends no absence
			p.storage.answered()
		}
		if now > saved {
			n, wait, saved = 1, p.d.Timers.Again, now
		}
		if err == nil {
			return nil
		}
		storage := errors.Is(err, media.ErrAway)
		expired := !storage && !until.IsZero() && !time.Now().Before(until)
		switch {
		case ctx.Err() != nil:
			return err
		case storage:
			if p.storage.absent() >= p.d.Timers.Away {
				return err
			}
		case n >= names.PoseTries || !expired && !away(err):
			return err
		default:
			n++
		}
		p.log.Warn("trying again", "doing", doing, "storage", storage, "expired", expired, "try", n, "error", err.Error())
		if expired {
			continue
		}
		waited = waited || storage
		if p.wait(ctx, storage, wait) != nil {
			return err
		}
		wait = min(wait*names.PoseAgainGrowth, p.d.Timers.longestAgain())
	}
}

// wait waits for a service. A pass that does so is not stuck, and neither its wait nor
// the try before it counts against the next one.
func (p *pass) wait(ctx context.Context, storage bool, d time.Duration) error {
	p.keeper.progress.waits(storage)
	defer p.keeper.progress.waits(storage)
	return retry.Sleep(ctx, d)
}

// longestAgain is how far the wait between two tries grows.
func (t Timers) longestAgain() time.Duration {
	d := t.Again
	for range names.PoseTries - 2 {
		d *= names.PoseAgainGrowth
	}
	return d
}

// away reports whether a service did not do what it was asked for, and may soon.
func away(err error) bool {
	return fault.NameOf(awserr.Fault(err, "pass")) == fault.Transient
}

// absence is how long storage has been away, over all parts of a pass.
type absence struct {
	mu    sync.Mutex
	since time.Time // zero while it answers
}

// absent notes that storage failed, and tells for how long it has.
func (a *absence) absent() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		a.since = time.Now()
	}
	return time.Since(a.since)
}

func (a *absence) answered() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since = time.Time{}
}

// clip measures one clip.
func (p *pass) clip(ctx context.Context, i int, c analysis.Clip) (clip motion.Clip, err error) {
	if c.VersionID == "" {
		return motion.Clip{}, fault.New(fault.Permanent, "no version of the clip was pinned")
	}
	err = p.patient(ctx, "read the clip", func() (time.Time, error) {
		src, until, err := p.d.Sign.Sign(ctx, c.Key, c.VersionID, names.WorkerURLLifetime)
		if err == nil {
			clip, err = p.measure(ctx, i, src)
		}
		return until, err
	})
	return clip, err
}

// put stores an object, and waits for storage where that cannot be done: what is in
// hands then need not be computed again.
func (p *pass) put(ctx context.Context, key, contentType string, body []byte) error {
	return p.patient(ctx, "store an object", func() (time.Time, error) {
		return time.Time{}, p.store.put(ctx, key, contentType, body)
	})
}
