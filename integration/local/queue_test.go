package local

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fastbowlinglab/integration/local/pump"
	"fastbowlinglab/shared/names"
)

// consumer is a function that takes from a queue: it keeps what it saw and says
// which bodies it could not handle.
type consumer struct {
	mu   sync.Mutex
	seen []events.SQSMessage
	rule func(bodies []string) (failed []string, functionError string)
}

func (f *consumer) Invoke(_ context.Context, _ string, payload []byte) ([]byte, string, error) {
	var in events.SQSEvent
	if err := json.Unmarshal(payload, &in); err != nil {
		return nil, "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var bodies []string
	for _, r := range in.Records {
		bodies = append(bodies, r.Body)
	}
	f.seen = append(f.seen, in.Records...)
	failed, fnErr := f.rule(bodies)
	var out events.SQSEventResponse
	for _, r := range in.Records {
		if slices.Contains(failed, r.Body) {
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: r.MessageId})
		}
	}
	b, err := json.Marshal(out)
	return b, fnErr, err
}

func (f *consumer) count(body string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, m := range f.seen {
		if m.Body == body {
			n++
		}
	}
	return n
}

// queue makes a queue whose messages come again after a second, and a pump.
func queue(t *testing.T, c *Cloud, name string, f *consumer, duplicate func() bool) (url string, send func(bodies ...string)) {
	t.Helper()
	client := sqs.NewFromConfig(c.AWS())
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: map[string]string{"VisibilityTimeout": "1"}})
	check(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		pump.Queue{URL: *out.QueueUrl, ARN: "arn:aws:sqs:us-east-1:000000000000:" + name, Common: pump.Common{Function: "fn", Invoker: f,
			Service: c.services, Region: Region, Duplicate: duplicate, Log: slog.New(slog.DiscardHandler)}}.Run(ctx)
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return *out.QueueUrl, func(bodies ...string) {
		var entries []sqstypes.SendMessageBatchRequestEntry
		for _, b := range bodies {
			entries = append(entries, sqstypes.SendMessageBatchRequestEntry{Id: aws.String(b), MessageBody: aws.String(b),
				MessageAttributes: map[string]sqstypes.MessageAttributeValue{"kind": {DataType: aws.String("String"), StringValue: aws.String("test")}}})
		}
		_, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: out.QueueUrl, Entries: entries})
		check(t, err)
	}
}

// left is how many messages a queue holds, visible or not.
func left(t *testing.T, c *Cloud, url string) int {
	t.Helper()
	out, err := sqs.NewFromConfig(c.AWS()).GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	check(t, err)
	n := 0
	for _, k := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"} {
		if out.Attributes[k] != "0" {
			n++
		}
	}
	return n
}

func TestQueuePump(t *testing.T) {
	c := start(t)
	t.Run("OneOfABatchFails", func(t *testing.T) {
		n := 0
		f := &consumer{rule: func(bodies []string) ([]string, string) {
			if n++; n == 1 {
				return []string{"bad"}, ""
			}
			return nil, ""
		}}
		url, send := queue(t, c, "fbl-partial", f, nil)
		send("good", "bad")
		waitFor(t, "the failed one, again", func() bool { return f.count("bad") == 2 })
		waitFor(t, "an empty queue", func() bool { return left(t, c, url) == 0 })
		if f.count("good") != 1 {
			t.Errorf("what was handled came %d times", f.count("good"))
		}
		m := f.seen[0]
		if m.EventSource != "aws:sqs" || !strings.HasSuffix(m.EventSourceARN, ":fbl-partial") || m.Attributes["ApproximateReceiveCount"] != "1" ||
			aws.ToString(m.MessageAttributes["kind"].StringValue) != "test" || m.ReceiptHandle == "" {
			t.Errorf("message %+v", m)
		}
	})
	t.Run("TheFunctionFails", func(t *testing.T) {
		n := 0
		f := &consumer{rule: func([]string) ([]string, string) {
			if n++; n == 1 {
				return nil, "Unhandled"
			}
			return nil, ""
		}}
		url, send := queue(t, c, "fbl-fails", f, nil)
		send("a", "b")
		waitFor(t, "both, again", func() bool { return f.count("a") == 2 && f.count("b") == 2 })
		waitFor(t, "an empty queue", func() bool { return left(t, c, url) == 0 })
	})
	t.Run("Duplicates", func(t *testing.T) {
		n := 0
		f := &consumer{rule: func([]string) ([]string, string) { return nil, "" }}
		url, send := queue(t, c, "fbl-twice", f, func() bool { n++; return n == 1 })
		send("a")
		waitFor(t, "it, twice", func() bool { return f.count("a") == 2 })
		waitFor(t, "an empty queue", func() bool { return left(t, c, url) == 0 })
	})
}

// What the pose worker and the reconciler lean on.
func TestQueueSettings(t *testing.T) {
	c := start(t)
	client := sqs.NewFromConfig(c.AWS())
	url := aws.String(queueURL(c.Endpoint, names.PoseQueue.Name))
	receive := func() []sqstypes.Message {
		out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: url})
		check(t, err)
		return out.Messages
	}
	attribute := func(name string) string {
		out, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: url, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
		check(t, err)
		return out.Attributes[name]
	}
	_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String("an-1")})
	check(t, err)
	_, err = client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String("later"), DelaySeconds: 600})
	check(t, err)
	if v, d := attribute("ApproximateNumberOfMessages"), attribute("ApproximateNumberOfMessagesDelayed"); v != "1" || d != "1" {
		t.Errorf("%s visible, %s delayed", v, d)
	}
	for try := range names.PoseQueue.MaxReceiveCount {
		ms := receive()
		if len(ms) != 1 {
			t.Fatalf("receive %d gave %d messages: visibility 0 gives a message back at once", try+1, len(ms))
		}
		if n := attribute("ApproximateNumberOfMessagesNotVisible"); n != "1" {
			t.Errorf("%s in flight", n)
		}
		_, err := client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{QueueUrl: url, ReceiptHandle: ms[0].ReceiptHandle, VisibilityTimeout: 0})
		check(t, err)
	}
	if ms := receive(); len(ms) != 0 {
		t.Error("a message was received more often than the queue allows")
	}
	url = aws.String(queueURL(c.Endpoint, names.PoseQueue.DeadLetter))
	if ms := receive(); len(ms) != 1 || *ms[0].Body != "an-1" {
		t.Errorf("the dead-letter queue holds %+v", ms)
	}
}
