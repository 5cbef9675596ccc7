package poseworker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// runJob runs the pass of a claimed job under a keeper and ends the job one way
// or another. It returns within Leave and Finish of the end of the pass or of
// the worker, even if the pass does not.
func (w *Worker) runJob(job posejob.Job, m *message) {
	log := w.d.Log.With("analysis_id", job.AnalysisID, "attempt", job.Attempt, "fence", job.Fence)
	log.Info("claimed", "checkpoints", len(job.Checkpoints), "deaths", job.Deaths, "redone", job.Redone)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	k := &keeper{lease: job.Lease(), life: w.d.Keeper, timers: w.d.Timers, message: m, cancel: cancel, log: log,
		progress: newProgress(w.now, job.Progress), kick: make(chan struct{}, 1),
		job: job, heldUntil: time.Now().Add(w.d.Keeper.Jobs.LeaseDuration())}
	p := newPass(w.d, job, k, log)

	kctx, stopKeeper := context.WithCancel(context.Background())
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		if w.d.RenewOnPass {
			return
		}
		k.run(kctx)
	}()
	if w.d.RenewOnPass {
		k.beat(kctx)
	}
	result, err := w.watch(ctx, cancel, p)
	stopKeeper()
	<-kept
	w.finish(log, k, p, result, err, m)
}

// watch runs the pass until it ends, or until it was cancelled and had its time
// to leave.
func (w *Worker) watch(ctx context.Context, cancel context.CancelCauseFunc, p *pass) (names.VerdictOut, error) {
	type outcome struct {
		out names.VerdictOut
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if r := recover(); r != nil {
				o.err = fmt.Errorf("panic in the pass: %v\n%s", r, debug.Stack())
			}
			done <- o
		}()
		o.out, o.err = p.run(ctx)
	}()
	stopping := w.stopping
	for {
		select {
		case o := <-done:
			if cause := context.Cause(ctx); cause != nil && o.err != nil {
				return o.out, cause
			}
			return o.out, o.err
		case <-stopping:
			cancel(errShutdown)
			stopping = nil
		case <-ctx.Done():
			cause := context.Cause(ctx)
			select {
			case o := <-done:
				if o.err == nil {
					return o.out, nil // it was through before it noticed; the row decides
				}
			case <-time.After(w.d.Timers.Leave):
				w.d.Log.Error("a cancelled pass does not end; this process is no good any more")
				w.stop(ErrStuck)
			}
			return names.VerdictOut{}, cause
		}
	}
}

// finish ends the job in its row, answers whoever waits, and then lets go of the
// message: in this order, since the message brings the job back if we die.
func (w *Worker) finish(log *slog.Logger, k *keeper, p *pass, out names.VerdictOut, err error, m *message) {
	redone := 0
	if err == nil && m == nil && w.calledBack(log, k, out) {
		p.report(nil, k.seen().Redone)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.d.Timers.Finish)
	defer cancel()
	switch {
	case err == nil:
		redone = w.complete(ctx, log, k, p, out, m)
	case errors.Is(err, errShutdown):
		w.release(ctx, log, k, m)
	case errors.Is(err, posejob.ErrLost):
		log.Warn("lost the job; its new owner goes on") // the message is the new owner's concern
	case errors.Is(err, posejob.ErrEnded):
		w.abandon(ctx, log, k, m)
	default:
		w.giveUp(ctx, log, k, err, m)
	}
	p.report(err, redone)
}

// complete stores the result and answers token 2. It gives the number of chunks
// that were begun more than once.
func (w *Worker) complete(ctx context.Context, log *slog.Logger, k *keeper, p *pass, out names.VerdictOut, m *message) int {
	job, err := w.d.Jobs.Complete(ctx, k.lease, out)
	if err != nil {
		log.Error("the result was not stored", "error", err.Error())
		return 0 // lost, or unknown: the row tells whoever receives the message next
	}
	log.Info("done", "verdict", out.Verdict, "reason", out.Reason, "redone", job.Redone,
		"frames", p.stats.frames.Load(), "seconds", p.seconds())
	if w.answerFinished(ctx, log, k.unanswered(job)) {
		w.dropHeld(ctx, log, m)
	}
	return job.Redone
}

// callbackBudget is what all tries of a callback may take: the lease, last
// renewed a keeper's period ago, must outlast them and the writes that follow
// where none of them is heard.
const callbackBudget = names.LeaseDuration - names.KeeperPeriod - 20*time.Second

// calledBack tells the result to the API, which completes the job in its row and
// answers token 2. False when that is left to us: it is not known to be done, and
// our own completion is the same conditional write.
func (w *Worker) calledBack(log *slog.Logger, k *keeper, out names.VerdictOut) bool {
	if w.d.Callback == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), callbackBudget)
	defer cancel()
	err := w.d.Callback.Send(ctx, names.PoseCallback{
		Run:   names.Run{AnalysisID: k.lease.AnalysisID, Attempt: k.lease.Attempt},
		Fence: k.lease.Fence, Result: out})
	switch {
	case err == nil:
		log.Info("done", "verdict", out.Verdict, "reason", out.Reason, "by", "callback")
		return true
	case errors.Is(err, errNotTaken):
		log.Warn("lost the job; its new owner goes on")
		return true
	}
	log.Warn("the callback was not taken; completing the job directly", "error", err.Error())
	return false
}

// release gives the job back on purpose. First the row, or the next worker would
// meet a live lease; then the message; then the run, which goes back to dispatch.
func (w *Worker) release(ctx context.Context, log *slog.Logger, k *keeper, m *message) {
	job, err := w.d.Jobs.Release(ctx, k.lease)
	if err != nil {
		log.Error("the job was not released; its lease will run out", "error", err.Error())
		return
	}
	if m != nil {
		w.giveBack(*m, 0)
	}
	w.answerReleased(ctx, log, job, "the worker is being replaced")
	log.Info("released", "checkpoints", len(job.Checkpoints))
}

// answerReleased sends the run back to dispatch.
func (w *Worker) answerReleased(ctx context.Context, log *slog.Logger, job posejob.Job, why string) {
	if job.Token2 == "" {
		return
	}
	if _, err := w.d.Tokens.Failure(ctx, job.Token2, fault.Released, why); err != nil {
		log.Warn("the run was not told; its heartbeat will run out", "error", err.Error())
	}
}

// abandon ends the work on an analysis that has its end.
func (w *Worker) abandon(ctx context.Context, log *slog.Logger, k *keeper, m *message) {
	if _, err := w.d.Jobs.Release(ctx, k.lease); err != nil {
		log.Warn("the job was not released", "error", err.Error())
	}
	if w.answerConceded(ctx, log, k.seen()) {
		w.dropHeld(ctx, log, m)
	}
	log.Info("stopped: the analysis has ended or was restarted")
}

// giveUp counts a try that failed. Only an error that says so itself is final.
func (w *Worker) giveUp(ctx context.Context, log *slog.Logger, k *keeper, cause error, m *message) {
	log.Error("the pass failed", "error", cause.Error())
	var job posejob.Job
	var err error
	if named := (*fault.Error)(nil); errors.As(cause, &named) && named.Name == fault.Permanent {
		job, err = w.d.Jobs.Fail(ctx, k.lease, posejob.Failure{Error: fault.PoseFailed, Detail: cause.Error()})
	} else {
		job, err = w.d.Jobs.GiveUp(ctx, k.lease, cause.Error())
	}
	switch {
	case err != nil:
		log.Error("the try was not counted; the lease will run out", "error", err.Error())
	case job.State == posejob.Failed:
		if w.answerFinished(ctx, log, k.unanswered(job)) {
			w.dropHeld(ctx, log, m)
		}
	case m != nil:
		w.giveBack(*m, time.Duration(job.Deaths)*10*time.Second)
	default:
		w.answerReleased(ctx, log, job, "the pass failed and may be tried again")
	}
}

func (w *Worker) dropHeld(ctx context.Context, log *slog.Logger, m *message) {
	if m != nil {
		w.drop(ctx, log, *m)
	}
}

// answerFinished tells whoever waits on a job that is done or failed; true when
// nobody is left to tell.
func (w *Worker) answerFinished(ctx context.Context, log *slog.Logger, job posejob.Job) bool {
	if job.State == posejob.Failed {
		return w.answerFailure(ctx, log, job, job.Failure.Error, job.Failure.Detail)
	}
	ok := true
	if job.Token1 != "" {
		_, err := w.d.Tokens.Success(ctx, job.Token1, names.ClaimedOut{Claimed: true, Fence: job.Fence})
		ok = told(log, err)
	}
	if job.Token2 != "" {
		_, err := w.d.Tokens.Success(ctx, job.Token2, *job.Result)
		ok = told(log, err) && ok
	}
	return ok
}

// answerConceded tells whoever still waits that the analysis has its end.
func (w *Worker) answerConceded(ctx context.Context, log *slog.Logger, job posejob.Job) bool {
	return w.answerFailure(ctx, log, job, fault.Conceded, "the analysis has ended or was restarted")
}

func (w *Worker) answerFailure(ctx context.Context, log *slog.Logger, job posejob.Job, name fault.Name, cause string) bool {
	ok := true
	for _, token := range []string{job.Token1, job.Token2} {
		if token != "" {
			_, err := w.d.Tokens.Failure(ctx, token, name, cause)
			ok = told(log, err) && ok
		}
	}
	return ok
}

func told(log *slog.Logger, err error) bool {
	if err != nil {
		log.Warn("a task token was not answered; the message brings the job back", "error", err.Error())
	}
	return err == nil
}
