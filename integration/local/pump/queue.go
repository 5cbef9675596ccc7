package pump

import (
	"context"
	"encoding/json"
	"strings"

	"fastbowlinglab/shared/retry"
)

// Queue pumps an SQS queue into a function. A message that is not handled comes
// back when its visibility ends, and goes to the dead-letter queue after the
// queue's own maxReceiveCount: the pump counts nothing.
type Queue struct {
	Common
	URL string
	ARN string
}

const sqsScope = "sqs"

type message struct {
	MessageId         string
	ReceiptHandle     string
	Body              string
	MD5OfBody         string
	Attributes        map[string]string
	MessageAttributes map[string]attribute
}

type attribute struct {
	StringValue string `json:",omitempty"`
	BinaryValue []byte `json:",omitempty"`
	DataType    string
}

// Run pumps until ctx ends.
func (q Queue) Run(ctx context.Context) {
	q.Common = q.withDefaults()
	for n := 1; ctx.Err() == nil; {
		var out struct{ Messages []message }
		err := q.call(ctx, sqsScope, "AmazonSQS.ReceiveMessage", map[string]any{
			"QueueUrl": q.URL, "MaxNumberOfMessages": min(q.Batch, 10), "WaitTimeSeconds": 20,
			"AttributeNames": []string{"All"}, "MessageAttributeNames": []string{"All"}}, &out)
		if err != nil {
			if ctx.Err() == nil {
				q.Log.Error("queue not read", "error", err)
				_ = retry.Sleep(ctx, backoff(q.Poll, maxBackoff, n))
			}
			n++
			continue
		}
		n = 1
		if len(out.Messages) > 0 {
			q.handle(ctx, out.Messages)
		}
	}
}

// handle invokes the function and deletes what it handled.
func (q Queue) handle(ctx context.Context, ms []message) {
	raws := make([]json.RawMessage, len(ms))
	ids := map[string]bool{}
	for i, m := range ms {
		raw, err := json.Marshal(q.event(m))
		if err != nil {
			q.Log.Error("message not passed on", "message", m.MessageId, "error", err)
			return
		}
		raws[i], ids[m.MessageId] = raw, true
	}
	failed, whole, detail := q.invoke(ctx, raws, func(id string) bool { return ids[id] })
	if whole {
		q.Log.Warn("queue batch failed", "messages", len(ms), "detail", detail)
		return
	}
	for _, m := range ms {
		if failed[m.MessageId] {
			continue
		}
		if q.Duplicate != nil && q.Duplicate() {
			continue // handled, and comes again
		}
		err := q.call(context.WithoutCancel(ctx), sqsScope, "AmazonSQS.DeleteMessage",
			map[string]string{"QueueUrl": q.URL, "ReceiptHandle": m.ReceiptHandle}, &struct{}{})
		if err != nil {
			q.Log.Warn("message handled and not deleted", "message", m.MessageId, "error", err)
		}
	}
}

// event is a message as Lambda passes it on.
func (q Queue) event(m message) map[string]any {
	attrs := map[string]any{}
	for k, a := range m.MessageAttributes {
		v := map[string]any{"dataType": a.DataType, "stringListValues": []string{}, "binaryListValues": []string{}}
		if strings.HasPrefix(a.DataType, "Binary") {
			v["binaryValue"] = a.BinaryValue
		} else {
			v["stringValue"] = a.StringValue
		}
		attrs[k] = v
	}
	return map[string]any{
		"messageId": m.MessageId, "receiptHandle": m.ReceiptHandle, "body": m.Body, "md5OfBody": m.MD5OfBody,
		"attributes": m.Attributes, "messageAttributes": attrs,
		"eventSource": "aws:sqs", "eventSourceARN": q.ARN, "awsRegion": q.Region,
	}
}
