package poseworker

import (
	"context"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/motion"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
)

// patient repeats a part of the pass while storage or the database is away: the pass
// keeps its job and waits, a little longer each time. Given up at once, the job would
// have died its three deaths within seconds. fn goes on from the last checkpoint; its
// URL, good until then (zero for none), is another one in the next try.
func (p *pass) patient(ctx context.Context, doing string, fn func() (until time.Time, err error)) error {
	wait, saved := p.d.Timers.Again, p.stats.chunks.Load()
	for n := 1; ; n++ {
		until, err := fn()
		if now := p.stats.chunks.Load(); now > saved {
			n, wait, saved = 1, p.d.Timers.Again, now
		}
		expired := !until.IsZero() && !time.Now().Before(until)
		if err == nil || ctx.Err() != nil || n >= names.PoseTries || !expired && !away(err) {
			return err
		}
		p.log.Warn("trying again", "doing", doing, "expired", expired, "try", n, "error", err.Error())
		if !expired {
			if retry.Sleep(ctx, wait) != nil {
				return err
			}
			wait *= names.PoseAgainGrowth
		}
	}
}

// away reports whether a service did not do what it was asked for, and may soon.
func away(err error) bool {
	return fault.NameOf(awserr.Fault(err, "pass")) == fault.Transient
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
