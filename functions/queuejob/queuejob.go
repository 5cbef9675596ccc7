// Package queuejob registers a pose job with the token of the state that waits
// for its claim, and puts its claim check on the queue. The check is the
// analysis id alone: nothing in it expires, and however often it is sent, the
// row lets one worker in.
package queuejob

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/tasktoken"
)

// Queue is what this function needs of SQS.
type Queue interface {
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// Deps is what the function works with.
type Deps struct {
	Jobs     *posejob.Store
	Tokens   tasktoken.Answerer
	Queue    Queue
	QueueURL string
	Retry    retry.Policy
	Now      func() time.Time // nil for time.Now
}

// Out says how the job stood; the state machine reads the token's answer only.
type Out struct {
	State  posejob.State `json:"state"`
	Queued bool          `json:"queued"`
}

// New makes the function.
func New(d Deps) lambda.Handler {
	return handler.New(names.FnQueueJob, d.run)
}

func (d Deps) run(ctx context.Context, in names.TokenIn) (Out, error) {
	if in.AnalysisID == "" || in.Attempt < 1 || in.TaskToken == "" {
		return Out{}, fault.New(fault.Permanent, "queue job: analysis_id, attempt and task_token are needed")
	}
	job, err := d.Jobs.Enqueue(ctx, in)
	if errors.Is(err, posejob.ErrStale) {
		slog.WarnContext(ctx, "a slow duplicate: nothing done", "analysis_id", in.AnalysisID, "attempt", in.Attempt, "detail", err.Error())
		return Out{State: job.State}, nil
	}
	if err != nil {
		return Out{}, posejob.AsFault(err, "queue job")
	}
	if job.State == posejob.Failed {
		f := job.Failure
		return Out{}, fault.New(f.Error, "pose job failed: %s", f.Detail)
	}
	if job.State == posejob.Done || job.Live(d.now(), d.Jobs.ClockSkew()) {
		_, err := d.Tokens.Success(ctx, in.TaskToken, names.ClaimedOut{Claimed: true, Fence: job.Fence})
		return Out{State: job.State}, fault.Wrap(fault.Transient, err, "queue job: answer the token")
	}
	// Waiting, or under a lease that has run out. The row stands before the
	// message is sent, so no worker can meet a message without a row.
	err = d.Retry.Do(ctx, func() error {
		_, err := d.Queue.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &d.QueueURL, MessageBody: &in.AnalysisID})
		return err
	})
	if err != nil {
		return Out{}, posejob.AsFault(err, "queue job: send the claim check")
	}
	slog.InfoContext(ctx, "claim check sent", "analysis_id", in.AnalysisID, "attempt", in.Attempt, "returns", job.Returns)
	return Out{State: job.State, Queued: true}, nil
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}
