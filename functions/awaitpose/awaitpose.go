// Package awaitpose registers the token of the state that waits for the end of
// a pose pass. If the pass has ended already it answers the token itself;
// otherwise the worker will, and sends heartbeats on it until then.
package awaitpose

import (
	"context"
	"errors"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/tasktoken"
)

// Deps is what the function works with.
type Deps struct {
	Jobs   *posejob.Store
	Tokens tasktoken.Answerer
}

// Out says how the job stood; the state machine reads the token's answer only.
type Out struct {
	State posejob.State `json:"state"`
}

// New makes the function.
func New(d Deps) lambda.Handler {
	return handler.New(names.FnAwaitPose, d.run)
}

func (d Deps) run(ctx context.Context, in names.TokenIn) (Out, error) {
	if in.AnalysisID == "" || in.Attempt < 1 || in.TaskToken == "" {
		return Out{}, fault.New(fault.Permanent, "await pose: analysis_id, attempt and task_token are needed")
	}
	job, err := d.Jobs.Await(ctx, in)
	if errors.Is(err, posejob.ErrStale) {
		slog.WarnContext(ctx, "a slow duplicate: nothing done", "analysis_id", in.AnalysisID, "attempt", in.Attempt, "detail", err.Error())
		return Out{job.State}, nil
	}
	if err != nil {
		return Out{}, posejob.AsFault(err, "await pose")
	}
	switch job.State {
	case posejob.Done:
		_, err := d.Tokens.Success(ctx, in.TaskToken, *job.Result)
		return Out{job.State}, fault.Wrap(fault.Transient, err, "await pose: answer the token")
	case posejob.Failed:
		return Out{}, fault.New(job.Failure.Error, "pose job failed: %s", job.Failure.Detail)
	case posejob.Waiting:
		// Given back between its claim and now. The next claim may be hours
		// away, which is for the state without a heartbeat to wait for.
		return Out{}, fault.New(fault.Released, "the pose job was given back before its end was awaited")
	}
	return Out{job.State}, nil
}
