package operator

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// Queue is what the function needs of SQS.
type Queue interface {
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
}

// RequeueIn asks for the pose queue's dead letters to be queued again, at most Max
// (default and most 100) of them.
type RequeueIn struct {
	By
	Max int `json:"max"`
}

// RequeueOut names what was queued again, and what was dropped because the row
// says that nothing is left to do.
type RequeueOut struct {
	Requeued []string `json:"requeued"`
	Dropped  []string `json:"dropped"`
	More     bool     `json:"more"`
}

const maxRequeue = 100

// requeue moves dead letters back, one by one: queued first, then deleted, so
// that none is lost. A claim check that is there twice is redeemed once.
func (d Deps) requeue(ctx context.Context, in RequeueIn) (RequeueOut, error) {
	out := RequeueOut{Requeued: []string{}, Dropped: []string{}}
	if in.Max < 0 || in.Max > maxRequeue {
		return out, fault.New(fault.Permanent, "requeue: max is 1 to %d", maxRequeue)
	}
	if in.Max == 0 {
		in.Max = maxRequeue
	}
	dead, err := d.Queue.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(names.PoseQueue.DeadLetter)})
	if err != nil {
		return out, awserr.Fault(err, "find the queue "+names.PoseQueue.DeadLetter)
	}
	for len(out.Requeued)+len(out.Dropped) < in.Max {
		got, err := d.Queue.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: dead.QueueUrl, MaxNumberOfMessages: 1, VisibilityTimeout: 60})
		if err != nil {
			return out, awserr.Fault(err, "receive a dead letter")
		}
		if len(got.Messages) == 0 {
			return out, nil
		}
		id := aws.ToString(got.Messages[0].Body)
		open, err := d.isOpen(ctx, id)
		if err != nil {
			return out, err
		}
		if open {
			if _, err := d.Queue.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &d.QueueURL, MessageBody: &id}); err != nil {
				return out, awserr.Fault(err, "queue "+id+" again")
			}
			out.Requeued = append(out.Requeued, id)
		} else {
			out.Dropped = append(out.Dropped, id)
		}
		if _, err := d.Queue.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: dead.QueueUrl, ReceiptHandle: got.Messages[0].ReceiptHandle}); err != nil {
			return out, awserr.Fault(err, "delete the dead letter of "+id)
		}
	}
	out.More = true
	return out, nil
}

func (d Deps) isOpen(ctx context.Context, id string) (bool, error) {
	r, err := d.Life.Get(ctx, id)
	if errors.Is(err, analysis.ErrNotFound) {
		return false, nil
	}
	return err == nil && !r.Status.Ended(), awserr.Fault(err, "read the analysis of a dead letter")
}
