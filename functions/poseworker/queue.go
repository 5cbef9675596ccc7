package poseworker

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/posejob"
)

// message is a claim check received from the queue.
type message struct {
	url, id, receipt, body string
	receives               int
}

// hide makes the message visible again after d; 0 is at once.
func (m message) hide(ctx context.Context, q Queue, d time.Duration) error {
	d = min(max(d, 0), names.MaxJobVisibility)
	_, err := q.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &m.url, ReceiptHandle: &m.receipt, VisibilityTimeout: int32((d + time.Second - 1) / time.Second)})
	return err
}

// receive takes messages as long as ctx lasts and slots are free.
func (w *Worker) receive(ctx context.Context) {
	for fails := 0; w.slots.WaitFree(ctx); {
		msgs, err := w.poll(ctx)
		if ctx.Err() != nil && len(msgs) == 0 {
			return
		}
		if err != nil {
			fails++
			w.d.Log.Error("the queue did not answer", "error", err.Error(), "fails", fails)
			sleep(ctx, min(time.Second<<min(fails, 5), 30*time.Second))
			continue
		}
		fails = 0
		for _, m := range msgs {
			if ctx.Err() != nil || !w.slots.TryAcquire() { // stopping, or another road was faster
				w.giveBack(m, 0)
				continue
			}
			if !w.begin(func() { w.handle(m) }) {
				w.slots.Release()
				w.giveBack(m, 0)
			}
		}
	}
}

func (w *Worker) poll(ctx context.Context) ([]message, error) {
	// The call may take as long as the poll, and then some.
	ctx, cancel := context.WithTimeout(ctx, w.d.Timers.Poll+10*time.Second)
	defer cancel()
	out, err := w.d.Queue.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &w.d.QueueURL, MaxNumberOfMessages: 1,
		WaitTimeSeconds:             int32(w.d.Timers.Poll / time.Second),
		VisibilityTimeout:           int32((w.d.Timers.Visibility + time.Second - 1) / time.Second),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameApproximateReceiveCount},
	})
	if err != nil {
		return nil, err
	}
	var msgs []message
	for _, m := range out.Messages {
		n, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"]) // 0 when absent
		msgs = append(msgs, message{url: w.d.QueueURL, id: aws.ToString(m.MessageId),
			receipt: aws.ToString(m.ReceiptHandle), body: aws.ToString(m.Body), receives: n})
	}
	return msgs, nil
}

// handle redeems one claim check, in a slot.
func (w *Worker) handle(m message) {
	ctx, cancel := context.WithTimeout(context.Background(), w.d.Timers.Finish)
	defer cancel()
	log := w.d.Log.With("analysis_id", m.body, "message", m.id, "receives", m.receives)
	if len(m.body) == 0 || len(m.body) > 128 {
		log.Error("not a claim check", "bytes", len(m.body))
		w.drop(ctx, log, m)
		return
	}
	job, err := w.d.Jobs.Claim(ctx, m.body, posejob.Claimant{Name: w.claimName(),
		Engine: w.d.Vision.Engine(), Model: w.d.Vision.Model(), Message: m.id})
	var held *posejob.HeldError
	switch {
	case err == nil:
		cancel()
		w.runJob(job, &m)
	case errors.As(err, &held) && held.Message != "" && held.Message != m.id:
		// Its owner holds another message of this job, which comes back if the
		// owner dies; this one would only be counted up to the dead-letter queue.
		log.Info("a second claim check of a job that runs", "owner", held.Owner)
		w.drop(ctx, log, m)
	case errors.As(err, &held):
		log.Info("held", "owner", held.Owner, "until", held.Until)
		w.giveBack(m, max(held.Until.Sub(w.now())+time.Second, min(again(m.receives), mostHeld)))
	case errors.Is(err, posejob.ErrFinished):
		log.Info("finished already", "state", string(job.State))
		w.settled(ctx, log, m, w.answerFinished(ctx, log, job))
	case errors.Is(err, posejob.ErrEnded):
		log.Info("the analysis has ended or was restarted")
		w.settled(ctx, log, m, w.answerConceded(ctx, log, job))
	case errors.Is(err, posejob.ErrNoJob):
		log.Error("a claim check without a job")
		w.drop(ctx, log, m)
	default:
		log.Error("claim failed", "error", err.Error())
		w.giveBack(m, again(m.receives))
	}
}

// Waits of a message for which nothing could be done, because a service was away.
const (
	firstAgain = 10 * time.Second
	mostAgain  = 10 * time.Minute
	// mostHeld is how long at most the message of a job that runs waits beyond the lease it
	// met. Its owner cannot hide it any more once another has received it, as after an
	// absence of the queue; coming back at the end of every lease it would be a dead letter
	// before a long pass is through.
	mostHeld = 3 * time.Minute
)

// again is how long a message waits that has been received so often. Every receive
// counts towards the dead-letter queue, and a service that is away for hours must not
// carry all jobs there.
func again(receives int) time.Duration {
	return min(firstAgain<<min(max(receives-1, 0), 10), mostAgain)
}

// settled lets go of a message of a job that needs no more work, once all who waited
// are told.
func (w *Worker) settled(ctx context.Context, log *slog.Logger, m message, told bool) {
	if told {
		w.drop(ctx, log, m)
		return
	}
	w.giveBack(m, max(again(m.receives), w.d.Timers.Visibility))
}

// drop deletes a message for which nothing is left to do. If that fails it comes
// back, and the row says the same again.
func (w *Worker) drop(ctx context.Context, log *slog.Logger, m message) {
	_, err := w.d.Queue.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &m.url, ReceiptHandle: &m.receipt})
	if err != nil {
		log.Warn("message was not deleted", "error", err.Error())
	}
}

// giveBack makes a message visible after d.
func (w *Worker) giveBack(m message, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), w.d.Timers.Call)
	defer cancel()
	if err := m.hide(ctx, w.d.Queue, d); err != nil {
		w.d.Log.Warn("message keeps its visibility", "message", m.id, "error", err.Error())
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
