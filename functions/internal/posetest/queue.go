package posetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fastbowlinglab/shared/names"
)

// Queue is an SQS queue: visibility, receive counts, a dead-letter queue.
type Queue struct {
	mu   sync.Mutex
	n    int
	msgs []*msg
	dead []string
	fail func(operation string) error
}

type msg struct {
	id, body, receipt string
	visible           time.Time
	receives          int
}

// NewQueue makes an empty queue.
func NewQueue() *Queue { return &Queue{} }

// Send puts a message on the queue.
func (q *Queue) Send(body string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.n++
	id := fmt.Sprintf("m%d", q.n)
	q.msgs = append(q.msgs, &msg{id: id, body: body})
	return id
}

// Len is how many messages there are, visible or not.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.msgs)
}

// Bodies are those of the messages there are.
func (q *Queue) Bodies() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []string
	for _, m := range q.msgs {
		out = append(out, m.body)
	}
	return out
}

// Visible is how many messages could be received now.
func (q *Queue) Visible() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, m := range q.msgs {
		if !m.visible.After(time.Now()) {
			n++
		}
	}
	return n
}

// Hidden is how long a message is still hidden, and how often it was received.
func (q *Queue) Hidden(id string) (time.Duration, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.msgs {
		if m.id == id {
			return time.Until(m.visible), m.receives
		}
	}
	return 0, 0
}

// Show makes every message visible now, as time would.
func (q *Queue) Show() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.msgs {
		m.visible = time.Time{}
	}
}

// Dead are the bodies in the dead-letter queue.
func (q *Queue) Dead() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dead
}

// Fail makes every call ask fn whether it fails; nil ends that.
func (q *Queue) Fail(fn func(operation string) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fail = fn
}

func (q *Queue) failing(op string) error {
	if q.fail == nil {
		return nil
	}
	return q.fail(op)
}

// SendMessage implements queuejob.Queue.
func (q *Queue) SendMessage(_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	q.mu.Lock()
	err := q.failing("SendMessage")
	q.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &sqs.SendMessageOutput{MessageId: aws.String(q.Send(*in.MessageBody))}, nil
}

// ReceiveMessage implements poseworker.Queue.
func (q *Queue) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	until := time.Now().Add(time.Duration(in.WaitTimeSeconds) * time.Second)
	for {
		out, err := q.take(time.Duration(in.VisibilityTimeout) * time.Second)
		if err != nil || len(out.Messages) > 0 || !time.Now().Before(until) {
			return out, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (q *Queue) take(hide time.Duration) (*sqs.ReceiveMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.failing("ReceiveMessage"); err != nil {
		return nil, err
	}
	for i, m := range q.msgs {
		if m.visible.After(time.Now()) {
			continue
		}
		if m.receives == names.PoseQueue.MaxReceiveCount {
			q.dead = append(q.dead, m.body)
			q.msgs = append(q.msgs[:i], q.msgs[i+1:]...)
			break
		}
		m.receives++
		q.n++
		m.receipt, m.visible = fmt.Sprintf("%s-%d", m.id, q.n), time.Now().Add(hide)
		return &sqs.ReceiveMessageOutput{Messages: []types.Message{{MessageId: &m.id, Body: &m.body, ReceiptHandle: aws.String(m.receipt),
			Attributes: map[string]string{"ApproximateReceiveCount": fmt.Sprint(m.receives)}}}}, nil
	}
	return &sqs.ReceiveMessageOutput{}, nil
}

func (q *Queue) find(op, receipt string) (int, error) {
	if err := q.failing(op); err != nil {
		return 0, err
	}
	for i, m := range q.msgs {
		if m.receipt == receipt {
			return i, nil
		}
	}
	return 0, errors.New("InvalidParameterValue: the receipt handle is of a message that is not in flight")
}

// DeleteMessage implements poseworker.Queue.
func (q *Queue) DeleteMessage(_ context.Context, in *sqs.DeleteMessageInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i, err := q.find("DeleteMessage", *in.ReceiptHandle)
	if err != nil {
		return nil, err
	}
	q.msgs = append(q.msgs[:i], q.msgs[i+1:]...)
	return &sqs.DeleteMessageOutput{}, nil
}

// ChangeMessageVisibility implements poseworker.Queue.
func (q *Queue) ChangeMessageVisibility(_ context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i, err := q.find("ChangeMessageVisibility", *in.ReceiptHandle)
	if err != nil {
		return nil, err
	}
	q.msgs[i].visible = time.Now().Add(time.Duration(in.VisibilityTimeout) * time.Second)
	return &sqs.ChangeMessageVisibilityOutput{}, nil
}
