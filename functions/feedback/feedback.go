// Package feedback listens to what SES tells, over SNS, of mails that bounced or
// that somebody complained of, and keeps further mail from those addresses. It
// fails no analysis and refunds nothing: the report is there in any case.
package feedback

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/names"
)

// Suppressor keeps mail from an address.
type Suppressor interface {
	Suppress(ctx context.Context, address, cause string) error
}

// Out counts what an event led to.
type Out struct {
	Suppressed int `json:"suppressed"`
	Ignored    int `json:"ignored"` // deliveries, passing bounces, and what is no SES event
}

// message is the part of an SES event that counts. The address that bounced is
// named by the event itself: the athlete may have changed theirs since.
type message struct {
	EventType        string `json:"eventType"`        // of a configuration set
	NotificationType string `json:"notificationType"` // of an identity's own notifications
	Bounce           struct {
		BounceType string      `json:"bounceType"`
		Recipients []recipient `json:"bouncedRecipients"`
	} `json:"bounce"`
	Complaint struct {
		Recipients []recipient `json:"complainedRecipients"`
	} `json:"complaint"`
}

type recipient struct {
	Address string `json:"emailAddress"`
}

// New makes the function. SNS delivers at least once; suppressing twice is the
// same as once.
func New(s Suppressor) lambda.Handler {
	return handler.New(names.FnFeedback, func(ctx context.Context, in json.RawMessage) (Out, error) {
		var ev events.SNSEvent
		if err := json.Unmarshal(in, &ev); err != nil {
			return Out{}, fault.Wrap(fault.Permanent, err, "feedback: decode the event")
		}
		var out Out
		var failed []error
		for _, rec := range ev.Records {
			who, cause := read(ctx, rec.SNS.Message)
			if cause == "" {
				out.Ignored++
			}
			for _, r := range who {
				if r.Address == "" {
					continue
				}
				if err := s.Suppress(ctx, r.Address, cause); err != nil {
					failed = append(failed, err)
					continue
				}
				out.Suppressed++
				slog.InfoContext(ctx, "address suppressed", "cause", cause, "message_id", rec.SNS.MessageID)
			}
		}
		return out, errors.Join(failed...)
	})
}

// read says which addresses an event condemns, and why. A passing bounce, such
// as a full mailbox, condemns none.
func read(ctx context.Context, text string) ([]recipient, string) {
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		slog.WarnContext(ctx, "not an SES event", "detail", err.Error())
		return nil, ""
	}
	kind := m.EventType
	if kind == "" {
		kind = m.NotificationType
	}
	switch {
	case kind == "Bounce" && m.Bounce.BounceType == "Permanent":
		return m.Bounce.Recipients, athlete.Bounced
	case kind == "Complaint":
		return m.Complaint.Recipients, athlete.Complained
	}
	return nil, ""
}
