// Package notify sends the notices that the notices table's stream announces.
// What it cannot send stays owed; the reconciler's sweep tries again.
package notify

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
)

// Sender sends one notice.
type Sender interface {
	Send(ctx context.Context, analysisID, id string) error
}

// New makes the function.
func New(s Sender) lambda.Handler {
	return handler.New(names.FnNotify, func(ctx context.Context, in json.RawMessage) (events.DynamoDBEventResponse, error) {
		var ev events.DynamoDBEvent
		if err := json.Unmarshal(in, &ev); err != nil {
			return events.DynamoDBEventResponse{}, fault.Wrap(fault.Permanent, err, "notify: decode the event")
		}
		out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
		for _, rec := range ev.Records {
			if err := record(ctx, s, rec); err != nil {
				slog.ErrorContext(ctx, "notice not sent", "sequence", rec.Change.SequenceNumber, "detail", err.Error())
				if again(err) {
					out.BatchItemFailures = append(out.BatchItemFailures,
						events.DynamoDBBatchItemFailure{ItemIdentifier: rec.Change.SequenceNumber})
				}
			}
		}
		return out, nil
	})
}

// record sends the notice of one new row. A changed row is not news: if it is
// owed again, it is the sweep's, which comes slowly enough for a throttle.
func record(ctx context.Context, s Sender, rec events.DynamoDBEventRecord) error {
	if rec.EventName != string(events.DynamoDBOperationTypeInsert) {
		return nil
	}
	img := rec.Change.NewImage
	get := func(k string) string {
		if v, ok := img[k]; ok && v.DataType() == events.DataTypeString {
			return v.String()
		}
		return ""
	}
	id, n := get("analysis_id"), get("notice")
	if id == "" || n == "" {
		return fault.New(fault.Permanent, "record without analysis_id and notice")
	}
	if get("state") != string(outbox.Owed) {
		return nil
	}
	return s.Send(ctx, id, n)
}

// again reports whether the record should be offered once more.
func again(err error) bool {
	return fault.NameOf(awserr.Fault(err, "send")) == fault.Transient
}
