package local

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"fastbowlinglab/integration/local/endpoint"
)

// Mail is a mail that SES accepted.
type Mail struct {
	ID      string // as SES answered
	From    string
	To      []string
	Subject string
	Text    string
	HTML    string
	Raw     []byte // the whole message, when it was sent so
	At      time.Time
}

// Mails gives the mails that were sent, oldest first. In memory they are those
// since this start.
func (c *Cloud) Mails(ctx context.Context) ([]Mail, error) {
	ms, err := c.allMails(ctx)
	if err != nil {
		return nil, err
	}
	return ms[min(c.mails, len(ms)):], nil
}

func (c *Cloud) allMails(ctx context.Context) ([]Mail, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Endpoint+"/kumo/ses/v2/sent-emails", nil)
	if err != nil {
		return nil, fmt.Errorf("sent mails: %w", err)
	}
	resp, err := endpoint.Transport{Handler: c.kumo}.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("sent mails: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read in full below
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("sent mails: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("sent mails: %s", resp.Status)
	}
	var out struct{ SentEmails []sentEmail }
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("sent mails: %w", err)
	}
	ms := make([]Mail, len(out.SentEmails))
	for i, e := range out.SentEmails {
		ms[i] = Mail{ID: e.MessageId, From: e.FromEmailAddress, To: e.Destination.ToAddresses, Subject: e.Subject,
			Text: e.Body, HTML: e.HTMLBody, Raw: e.RawData, At: e.SentAt}
	}
	return ms, nil
}

// sentEmail is a mail as kumo shows it.
type sentEmail struct {
	MessageId, FromEmailAddress, Subject, Body, HTMLBody string
	Destination                                          struct{ ToAddresses []string }
	RawData                                              []byte
	SentAt                                               time.Time
}
