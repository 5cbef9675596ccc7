package feedback_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"fastbowlinglab/functions/feedback"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
)

func event(t *testing.T, messages ...string) []byte {
	t.Helper()
	type sns struct {
		MessageID string `json:"MessageId"`
		Message   string `json:"Message"`
	}
	type record struct {
		Sns sns `json:"Sns"`
	}
	var ev struct{ Records []record }
	for _, m := range messages {
		ev.Records = append(ev.Records, record{sns{"m", m}})
	}
	b, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	bounce    = `{"eventType":"Bounce","bounce":{"bounceType":"Permanent","bouncedRecipients":[{"emailAddress":"Gone@example.com"}]}}`
	full      = `{"eventType":"Bounce","bounce":{"bounceType":"Transient","bouncedRecipients":[{"emailAddress":"full@example.com"}]}}`
	complaint = `{"notificationType":"Complaint","complaint":{"complainedRecipients":[{"emailAddress":"angry@example.com"},{"emailAddress":"cross@example.com"}]}}`
	delivery  = `{"eventType":"Delivery"}`
)

func TestFeedback(t *testing.T) {
	s := athlete.Store{DB: dynamotest.New(t), Athletes: names.Athletes.Name, Suppressions: names.Suppressions.Name}
	fn := feedback.New(s)
	for range 2 { // SNS delivers at least once
		out, err := fn.Invoke(t.Context(), event(t, bounce, full, complaint, delivery, "no JSON"))
		if err != nil || string(out) != `{"suppressed":3,"ignored":3}` {
			t.Fatalf("%s, %v", out, err)
		}
	}
	for address, want := range map[string]string{"gone@example.com": athlete.Bounced, "angry@example.com": athlete.Complained,
		"cross@example.com": athlete.Complained, "full@example.com": "", "new@example.com": ""} {
		if got, err := s.Suppressed(t.Context(), address); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", address, got, err, want)
		}
	}
	if _, err := fn.Invoke(t.Context(), []byte(`[]`)); err == nil {
		t.Error("an event that is none was accepted")
	}
}

type broken struct{}

func (broken) Suppress(context.Context, string, string) error { return errors.New("down") }

// An address that could not be suppressed makes SNS deliver again.
func TestFeedbackFails(t *testing.T) {
	if _, err := feedback.New(broken{}).Invoke(t.Context(), event(t, bounce)); err == nil {
		t.Error("no error")
	}
}
