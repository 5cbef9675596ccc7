// Package postjob posts a pose job to the workers, through their load balancer.
// The job's row is registered first, and the worker claims it before it answers,
// so a post that is repeated, or whose answer is lost, starts nothing twice: the
// row says who owns the job. The function holds no secret.
package postjob

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/functions/internal/dispatch"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// Deps is what the function works with.
type Deps struct {
	Jobs   *posejob.Store
	Client *http.Client
	URL    string           // base URL of the workers' load balancer
	Now    func() time.Time // nil for time.Now
}

// New makes the function.
func New(d Deps) lambda.Handler { return handler.New(names.FnPostJob, d.run) }

func (d Deps) run(ctx context.Context, in names.PostIn) (names.DispatchOut, error) {
	if in.AnalysisID == "" || in.Attempt < 1 {
		return names.DispatchOut{}, fault.New(fault.Permanent, "post job: analysis_id and attempt are needed")
	}
	job, err := d.Jobs.Enqueue(ctx, names.TokenIn{Run: in.Run, Entered: in.Entered, Retry: in.Retry})
	if errors.Is(err, posejob.ErrStale) {
		slog.WarnContext(ctx, "a slow duplicate: nothing done", "analysis_id", in.AnalysisID, "attempt", in.Attempt, "detail", err.Error())
		return names.DispatchOut{State: names.DispatchOwned}, nil
	}
	if err != nil {
		return names.DispatchOut{}, posejob.AsFault(err, "post job")
	}
	switch {
	case job.State == posejob.Failed:
		return names.DispatchOut{}, fault.New(job.Failure.Error, "pose job failed: %s", job.Failure.Detail)
	case job.State == posejob.Done, job.Live(d.now(), d.Jobs.ClockSkew()):
		return names.DispatchOut{State: names.DispatchOwned}, nil
	}
	return d.post(ctx, in)
}

// post gives the worker's answer as the definition knows it. What only a later
// round can tell, such as whether a post without an answer was taken, is a wait.
func (d Deps) post(ctx context.Context, in names.PostIn) (names.DispatchOut, error) {
	body, err := json.Marshal(names.PoseJobIn{AnalysisID: in.AnalysisID})
	if err != nil {
		return names.DispatchOut{}, fault.Wrap(fault.Permanent, err, "post job")
	}
	log := slog.With("analysis_id", in.AnalysisID, "attempt", in.Attempt, "round", in.Round)
	res, out, err := d.ask(ctx, string(body))
	if err != nil {
		log.WarnContext(ctx, "no answer from a worker; the row will tell", "detail", err.Error())
		return dispatch.Waiting(d.now(), in.Round, 0), nil
	}
	log.InfoContext(ctx, "posted", "status", res.StatusCode, "state", out.State, "fence", out.Fence)
	switch res.StatusCode {
	case http.StatusAccepted, http.StatusOK: // claimed, or finished before
		return names.DispatchOut{State: names.DispatchOwned}, nil
	case http.StatusGone:
		return names.DispatchOut{}, fault.New(fault.Conceded, "post job: the analysis has ended or was restarted")
	case http.StatusConflict:
		if until, err := time.Parse(time.RFC3339, out.Until); err == nil {
			return dispatch.Waiting(d.now(), 0, min(until.Sub(d.now()), names.QueueVisibility)), nil
		}
	}
	return dispatch.Waiting(d.now(), in.Round, retryAfter(res)), nil
}

// ask posts the job. A worker that is full or leaves says so at once and does nothing
// else; the balancer then has the next one asked, so that a job does not wait while one
// is idle.
func (d Deps) ask(ctx context.Context, body string) (res *http.Response, out names.PoseJobOut, err error) {
	for range names.MaxWorkers {
		var answer []byte
		res, answer, err = dispatch.Caller{Client: d.Client, URL: d.URL}.Call(ctx, http.MethodPost, names.JobsPath, body)
		if err != nil {
			break
		}
		out = names.PoseJobOut{}
		_ = json.Unmarshal(answer, &out) // a balancer's own answers are not JSON; the status decides
		if res.StatusCode != http.StatusTooManyRequests && out.State != names.JobStopping {
			break
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) < 2*names.PoseCallTimeout {
			break // another call could outlast this function
		}
	}
	return res, out, err
}

// retryAfter reads Retry-After in seconds, bounded.
func retryAfter(res *http.Response) time.Duration {
	s, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0
	}
	return time.Duration(min(s, 600)) * time.Second
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}
