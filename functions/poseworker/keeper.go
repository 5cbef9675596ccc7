package poseworker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/tasktoken"
)

// Why a pass is cancelled, beside posejob.ErrLost and posejob.ErrEnded.
var (
	errShutdown  = errors.New("the worker is shutting down")
	errStalled   = errors.New("no progress")
	errUncertain = errors.New("the lease ran out before it could be renewed")
)

// keeper holds a job for its pass: it renews lease, message and token as long
// as progress moves, and cancels the pass when it may not go on. It runs on a
// goroutine and on clients of its own, every call with a deadline: neither a
// busy pass nor a slow storage can keep it from renewing.
type keeper struct {
	lease    posejob.Lease
	life     Lifeline
	timers   Timers
	message  *message // nil on a road without one
	progress *progress
	cancel   context.CancelCauseFunc
	log      *slog.Logger
	kick     chan struct{} // asks for a renewal now

	mu        sync.Mutex
	job       posejob.Job // as last seen: its tokens
	heldUntil time.Time   // end of the lease by the monotonic clock
	answered  string      // the token 1 that needs no answer any more
	dead      string      // the token 2 that nobody waits on any more
}

// run renews at once, so that tokens registered around the claim are seen, and
// then every period until ctx ends. Between two renewals it shows progress that
// can be seen, so that a status poll moves. What is due is told by the clock and
// by what was asked for, never by which of two channels a select took.
func (k *keeper) run(ctx context.Context) {
	look := time.NewTimer(0)
	defer look.Stop()
	var beat time.Time
	for kicked := true; ctx.Err() == nil; {
		ok := true
		if kicked || time.Since(beat) >= k.timers.Keeper {
			beat = time.Now()
			ok = k.beat(ctx)
		} else {
			ok = k.show(ctx)
		}
		if !ok {
			return
		}
		look.Reset(min(k.timers.Show, max(0, k.timers.Keeper-time.Since(beat))))
		select {
		case <-ctx.Done():
		case <-look.C:
			kicked = k.kicked()
		case <-k.kick:
			kicked = true
		}
	}
}

// kicked reports whether a renewal was asked for.
func (k *keeper) kicked() bool {
	select {
	case <-k.kick:
		return true
	default:
		return false
	}
}

// visible is how much of a pass must be done for it to be worth a write.
const visible = 0.005

// show writes progress if it has moved visibly since the last write.
func (k *keeper) show(ctx context.Context) bool {
	mark, _ := k.progress.current()
	k.mu.Lock()
	shown := k.job.Progress.Fraction
	k.mu.Unlock()
	return mark.Fraction < shown+visible || k.renew(ctx, mark)
}

// now asks for a renewal without waiting for it.
func (k *keeper) now() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

// beat renews everything once; false when the pass may not go on.
func (k *keeper) beat(ctx context.Context) bool {
	mark, still := k.progress.current()
	if still > k.timers.NoProgress {
		k.log.Error("no progress", "seconds", still.Seconds(), "stage", mark.Stage)
		k.cancel(errStalled)
		return false
	}
	if !k.renew(ctx, mark) {
		return false
	}
	if k.message != nil {
		k.call(ctx, "extend the message's visibility", func(ctx context.Context) error {
			return k.message.hide(ctx, k.life.Queue, k.timers.Visibility)
		})
	}
	k.answerClaimed(ctx)
	k.heartbeat(ctx)
	return true
}

// renew extends the lease.
func (k *keeper) renew(ctx context.Context, mark posejob.Mark) bool {
	start := time.Now()
	cctx, cancel := context.WithTimeout(ctx, k.timers.Call)
	defer cancel()
	job, err := k.life.Jobs.Renew(cctx, k.lease, mark)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return false // stopped
	case errors.Is(err, posejob.ErrEnded):
		k.job = job
		fallthrough
	case errors.Is(err, posejob.ErrLost):
		k.log.Warn("the pass may not go on", "reason", err.Error())
		k.cancel(err)
		return false
	case err != nil:
		k.log.Warn("lease was not renewed", "error", err.Error())
		if time.Now().After(k.heldUntil) {
			k.cancel(errUncertain)
			return false
		}
		return true
	}
	k.job, k.heldUntil = job, start.Add(k.life.Jobs.LeaseDuration())
	return true
}

// answerClaimed tells the state that waits for the claim. It is repeated until
// it is taken: whoever claims next would do it too.
func (k *keeper) answerClaimed(ctx context.Context) {
	k.mu.Lock()
	token, answered, fence := k.job.Token1, k.answered, k.lease.Fence
	k.mu.Unlock()
	if token == "" || token == answered {
		return
	}
	k.call(ctx, "answer the claim's token", func(ctx context.Context) error {
		_, err := k.life.Tokens.Success(ctx, token, names.ClaimedOut{Claimed: true, Fence: fence})
		if err == nil {
			k.mu.Lock()
			k.answered = token
			k.mu.Unlock()
		}
		return err
	})
}

// heartbeat restarts the clock of the state that waits for the end.
func (k *keeper) heartbeat(ctx context.Context) {
	k.mu.Lock()
	token, dead := k.job.Token2, k.dead
	k.mu.Unlock()
	if token == "" || token == dead {
		return
	}
	k.call(ctx, "send the heartbeat", func(ctx context.Context) error {
		out, err := k.life.Tokens.Heartbeat(ctx, token)
		if out == tasktoken.Dead { // the run has gone back to dispatch; a new token will come
			k.mu.Lock()
			k.dead = token
			k.mu.Unlock()
		}
		return err
	})
}

// call does one thing under a deadline; if it fails the next beat tries again.
func (k *keeper) call(ctx context.Context, what string, fn func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, k.timers.Call)
	defer cancel()
	if err := fn(ctx); err != nil && !errors.Is(err, context.Canceled) {
		k.log.Warn("keeper could not "+what, "error", err.Error())
	}
}

// seen is the job as the keeper last saw it, without a token 1 that has been
// answered.
func (k *keeper) seen() posejob.Job {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.unanswered(k.job)
}

// unanswered takes an answered token 1 off job.
func (k *keeper) unanswered(job posejob.Job) posejob.Job {
	if job.Token1 == k.answered {
		job.Token1 = ""
	}
	return job
}
