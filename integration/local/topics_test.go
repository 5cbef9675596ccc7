package local

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	sestypes "github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/names"
)

// heard is the last event that a topic's function got, once it got n.
func heard(t *testing.T, c *Cloud, n int) events.SNSEntity {
	t.Helper()
	waitFor(t, "the topic's event", func() bool { got, _ := noted(t, c, names.FnFeedback); return got >= n })
	_, text := noted(t, c, names.FnFeedback)
	var ev events.SNSEvent
	check(t, json.Unmarshal([]byte(text), &ev))
	if len(ev.Records) != 1 || ev.Records[0].EventSource != "aws:sns" || ev.Records[0].SNS.Timestamp.IsZero() {
		t.Fatalf("event %s", text)
	}
	return ev.Records[0].SNS
}

// What is published on a topic reaches the function that it starts, in SNS's
// own event, and no other topic's does.
func TestTopicsStartFunctions(t *testing.T) {
	c := start(t, func(cfg *Config) { cfg.Duplicate = func(source string) bool { return source == "topic" } })
	client, kind := sns.NewFromConfig(c.AWS()), "String"
	publish := func(topic, message string) string {
		t.Helper()
		out, err := client.Publish(t.Context(), &sns.PublishInput{TopicArn: aws.String(TopicARN(topic)), Message: &message, Subject: aws.String("s"),
			MessageAttributes: map[string]snstypes.MessageAttributeValue{"a": {DataType: &kind, StringValue: aws.String("1 & 2")}}})
		check(t, err)
		return *out.MessageId
	}
	publish(names.PushTopic, "not this one")
	id := publish(names.MailEventsTopic, `{"x":"ü+%20"}`)
	got := heard(t, c, 2) // delivered twice on demand
	attr, _ := got.MessageAttributes["a"].(map[string]any)
	if got.Message != `{"x":"ü+%20"}` || got.MessageID != id || got.Subject != "s" || got.TopicArn != TopicARN(names.MailEventsTopic) || attr["Value"] != "1 & 2" {
		t.Errorf("heard %+v", got)
	}
	if n, _ := noted(t, c, names.FnFeedback); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
}

// Mail to the mailbox simulator comes back as SES's event, when it names the
// configuration set that tells of it.
func TestTheMailboxSimulator(t *testing.T) {
	c := start(t)
	client := sesv2.NewFromConfig(c.AWS(), func(o *sesv2.Options) { o.RetryMaxAttempts = 1 })
	send := func(to string, set *string) error {
		text := aws.String("x")
		_, err := client.SendEmail(t.Context(), &sesv2.SendEmailInput{FromEmailAddress: aws.String(MailFrom), ConfigurationSetName: set,
			Destination: &sestypes.Destination{ToAddresses: []string{to}}, EmailTags: []sestypes.MessageTag{{Name: aws.String("kind"), Value: aws.String("ready")}},
			Content: &sestypes.EmailContent{Simple: &sestypes.Message{Subject: &sestypes.Content{Data: text}, Body: &sestypes.Body{Text: &sestypes.Content{Data: text}}}}})
		return err
	}
	set := aws.String(names.MailEventSet)
	if err := send("bounce@simulator.amazonses.com", aws.String("no-such-set")); awserr.KindOf(err) != awserr.NotFound || !awserr.NotSent(err) {
		t.Errorf("a set that does not exist: %v", err)
	}
	for _, quiet := range []string{"success@simulator.amazonses.com", "bounce@example.com"} {
		check(t, send(quiet, set))
	}
	check(t, send("bounce@simulator.amazonses.com", nil)) // nobody is told
	check(t, send("Complaint+1@simulator.amazonses.com", set))
	got := heard(t, c, 1)
	for _, want := range []string{`"eventType":"Complaint"`, `"complainedRecipients":[{"emailAddress":"Complaint+1@simulator.amazonses.com"}]`, `"kind":["ready"]`} {
		contains(t, got.Message, want)
	}
	check(t, send("bounce@simulator.amazonses.com", set))
	got = heard(t, c, 2)
	for _, want := range []string{`"eventType":"Bounce"`, `"bounceType":"Permanent"`, `"emailAddress":"bounce@simulator.amazonses.com"`} {
		contains(t, got.Message, want)
	}
	ms, err := c.Mails(t.Context())
	check(t, err)
	if len(ms) != 5 || strings.Contains(ms[0].To[0], "no-such") {
		t.Errorf("%d mails were taken, want 5: %+v", len(ms), ms)
	}
}
