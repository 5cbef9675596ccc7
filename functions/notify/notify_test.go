package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/smithy-go"

	"fastbowlinglab/functions/notify"
)

// sender fails for the analyses it has an error for.
type sender struct {
	errs map[string]error
	sent []string
}

func (s *sender) Send(_ context.Context, id, n string) error {
	s.sent = append(s.sent, id+" "+n)
	return s.errs[id]
}

func rec(seq int, name, id, state string) string {
	return fmt.Sprintf(`{"eventName":%q,"dynamodb":{"SequenceNumber":"%d","NewImage":{
		"analysis_id":{"S":%q},"notice":{"S":"ready#email"},"state":{"S":%q},"tries":{"N":"1"}}}}`, name, seq, id, state)
}

func TestRecords(t *testing.T) {
	s := &sender{errs: map[string]error{
		"an-throttled": &smithy.OperationError{Err: &smithy.GenericAPIError{Code: "TooManyRequestsException"}},
		"an-broken":    errors.New("the row cannot be read"),
	}}
	payload := `{"Records":[` + strings.Join([]string{
		rec(1, "INSERT", "an-1", "owed"),
		rec(2, "INSERT", "an-broken", "owed"),    // offering it again cannot help
		rec(3, "INSERT", "an-throttled", "owed"), // it can
		rec(4, "MODIFY", "an-2", "owed"),
		rec(5, "INSERT", "an-3", "none"),
		rec(6, "REMOVE", "an-4", "owed"),
		`{"eventName":"INSERT","dynamodb":{"SequenceNumber":"7","NewImage":{}}}`,
		rec(8, "INSERT", "an-5", "owed"),
	}, ",") + `]}`
	b, err := notify.New(s).Invoke(t.Context(), []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	var out events.DynamoDBEventResponse
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.BatchItemFailures) != 1 || out.BatchItemFailures[0].ItemIdentifier != "3" {
		t.Errorf("failures = %+v, want record 3", out.BatchItemFailures)
	}
	if got := strings.Join(s.sent, ", "); got != "an-1 ready#email, an-broken ready#email, an-throttled ready#email, an-5 ready#email" {
		t.Errorf("sent %s", got)
	}
	if b, err := notify.New(s).Invoke(t.Context(), []byte(`{"Records":[]}`)); err != nil || string(b) != `{"batchItemFailures":[]}` {
		t.Errorf("empty batch: %s, %v", b, err)
	}
}
