package poseworker

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/stamp"
)

// States of a worker's answer to a posted job.
const (
	jobClaimed  = "claimed"         // 202: ours, and it runs
	jobFinished = "finished"        // 200: done or failed before
	jobHeld     = "held"            // 409: owned under a live lease until then
	jobEnded    = "ended"           // 410: the analysis has its end, or is at a later attempt
	jobUnknown  = "unknown"         // 404: no such job
	jobFull     = "full"            // 429: every slot is taken
	jobStopping = names.JobStopping // 503: this worker leaves
	jobError    = "error"           // 503: nobody knows; ask again
	jobBad      = "bad"             // 400
)

// Bounds of a posted job.
const (
	maxJobBody = 1 << 10
	maxID      = 128
	// claimTime is what a claim may take while its poster waits: less than the
	// poster's patience, so that it hears of it.
	claimTime = names.PoseCallTimeout - 2*time.Second
	// fullFor is after how many seconds a poster should ask a full worker again.
	fullFor = 15
)

// postJob claims a job and answers before it runs. A slot comes first: what is
// claimed can begin at once.
func (w *Worker) postJob(rw http.ResponseWriter, r *http.Request) {
	var in names.PoseJobIn
	dec := json.NewDecoder(http.MaxBytesReader(rw, r.Body, maxJobBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil || in.AnalysisID == "" || len(in.AnalysisID) > maxID {
		w.say(rw, http.StatusBadRequest, names.PoseJobOut{State: jobBad}, 0)
		return
	}
	leave, ok := w.enter() // or the process could end between a claim and its release
	if !ok {
		w.say(rw, http.StatusServiceUnavailable, names.PoseJobOut{State: jobStopping}, 1)
		return
	}
	defer leave()
	if !w.slots.TryAcquire() {
		w.say(rw, http.StatusTooManyRequests, names.PoseJobOut{State: jobFull}, fullFor)
		return
	}
	begun := false
	defer func() {
		if !begun {
			w.slots.Release()
			w.jobs.Go(func() { w.protect(false) }) // a job that ended meanwhile saw this slot taken
		}
	}()
	job, code, out, after := w.claimPosted(r.Context(), in.AnalysisID)
	if code == http.StatusAccepted {
		if begun = w.begin(func() { w.runJob(job, nil) }); !begun { // it began to leave meanwhile
			code, out, after = http.StatusServiceUnavailable, names.PoseJobOut{State: jobStopping}, 1
			w.giveUpClaim(job)
		}
	}
	w.say(rw, code, out, after)
}

// claimPosted redeems an id, and says how to answer whoever posted it.
func (w *Worker) claimPosted(ctx context.Context, id string) (job posejob.Job, code int, out names.PoseJobOut, after int) {
	// The claim goes on though its poster has gone: half a claim helps nobody.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTime)
	defer cancel()
	log := w.d.Log.With("analysis_id", id, "road", "http")
	job, err := w.d.Jobs.Claim(ctx, id, posejob.Claimant{Name: w.claimName(),
		Engine: w.d.Vision.Engine(), Model: w.d.Vision.Model()})
	var held *posejob.HeldError
	switch {
	case err == nil:
		return job, http.StatusAccepted, names.PoseJobOut{State: jobClaimed, Fence: job.Fence}, 0
	case errors.As(err, &held):
		log.Info("held", "owner", held.Owner, "until", held.Until)
		after = int(max(held.Until.Sub(w.now()), 0)/time.Second) + 1
		return job, http.StatusConflict, names.PoseJobOut{State: jobHeld, Until: stamp.Format(held.Until)}, after
	case errors.Is(err, posejob.ErrFinished):
		return job, http.StatusOK, names.PoseJobOut{State: jobFinished}, 0
	case errors.Is(err, posejob.ErrEnded):
		return job, http.StatusGone, names.PoseJobOut{State: jobEnded}, 0
	case errors.Is(err, posejob.ErrNoJob):
		log.Error("a posted job without a row")
		return job, http.StatusNotFound, names.PoseJobOut{State: jobUnknown}, 0
	}
	log.Error("claim failed", "error", err.Error())
	return job, http.StatusServiceUnavailable, names.PoseJobOut{State: jobError}, 1
}

// giveUpClaim lets go of a claim whose pass could not begin.
func (w *Worker) giveUpClaim(job posejob.Job) {
	ctx, cancel := context.WithTimeout(context.Background(), w.d.Timers.Call)
	defer cancel()
	if _, err := w.d.Jobs.Release(ctx, job.Lease()); err != nil {
		w.d.Log.Warn("a claim was not released; its lease will run out", "analysis_id", job.AnalysisID, "error", err.Error())
	}
}

// say answers; after is Retry-After in seconds, 0 for none.
func (w *Worker) say(rw http.ResponseWriter, code int, out names.PoseJobOut, after int) {
	rw.Header().Set("Content-Type", "application/json")
	if after > 0 {
		rw.Header().Set("Retry-After", strconv.Itoa(after))
	}
	rw.WriteHeader(code)
	_ = json.NewEncoder(rw).Encode(out) // the poster has gone: the row tells it
}
