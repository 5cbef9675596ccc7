package kumo_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func TestQueueURLsNameTheEndpoint(t *testing.T) {
	c := start(t)
	made, err := c.sqs.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("urls")})
	check(t, err)
	want := c.url + "/000000000000/urls"
	found, err := c.sqs.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("urls")})
	check(t, err)
	if *made.QueueUrl != want || *found.QueueUrl != want {
		t.Errorf("%s and %s, want %s", *made.QueueUrl, *found.QueueUrl, want)
	}
	_, err = c.sqs.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &want, MessageBody: aws.String("m")})
	check(t, err)
}

func TestALongPollSeesAMessageBecomeVisible(t *testing.T) {
	c := start(t)
	q, err := c.sqs.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("poll")})
	check(t, err)
	_, err = c.sqs.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: q.QueueUrl, MessageBody: aws.String("m")})
	check(t, err)
	first, err := c.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl, VisibilityTimeout: 1})
	check(t, err)
	if len(first.Messages) != 1 {
		t.Fatal("no message")
	}
	began := time.Now()
	again, err := c.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl, WaitTimeSeconds: 8})
	check(t, err)
	if len(again.Messages) != 1 || time.Since(began) > 3*time.Second {
		t.Errorf("%d messages after %v", len(again.Messages), time.Since(began))
	}
	_, err = c.sqs.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: q.QueueUrl, ReceiptHandle: again.Messages[0].ReceiptHandle})
	check(t, err)
	none, err := c.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl, WaitTimeSeconds: 2})
	check(t, err)
	if len(none.Messages) != 0 {
		t.Error("a deleted message came again")
	}
}
