package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/analysis"
	athletes "fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/outbox"
)

// told waits for an analysis's notice on a channel to be settled.
func (w *world) told(id string, ch outbox.Channel) (n outbox.Notice) {
	w.t.Helper()
	eventually(w.t, 30*time.Second, "the notice of "+id, func() bool {
		ns, err := outbox.List(context.Background(), w.db, names.Notices.Name, id)
		for _, x := range ns {
			if x.Channel == ch {
				n = x
			}
		}
		return err == nil && n.State != "" && n.State != outbox.Owed && n.State != outbox.Claimed
	})
	return n
}

// cancelled makes an analysis that is told of at an address, and ends it.
func (w *world) cancelled(token, key, email string) string {
	w.t.Helper()
	in := submission(1)
	in["email"], in["push"] = email, true
	var c created
	a := w.call("POST", "/v1/analyses", token, key, in)
	if err := json.Unmarshal(a.body, &c); err != nil || c.AnalysisID == "" {
		w.t.Fatalf("create: %d %s", a.status, a.body)
	}
	if a := w.call("POST", "/v1/analyses/"+c.AnalysisID+"/cancel", token, "", nil); a.status != 200 {
		w.t.Fatalf("cancel: %d %s", a.status, a.body)
	}
	return c.AnalysisID
}

// Field case 49, to the end: a mail bounces, another is complained of; SES tells
// the topic, the topic starts the function, and the next notice to that address
// is not mailed. No analysis is touched by it.
func TestBouncesSuppressFurtherMail(t *testing.T) {
	w := start(t, func(c *local.Config) { c.Duplicate = func(source string) bool { return source == "topic" } })
	token, op := w.tokens()
	w.grant(op, 9)
	people := athletes.Store{DB: w.db, Athletes: names.Athletes.Name, Suppressions: names.Suppressions.Name}
	mails := 0
	for address, cause := range map[string]string{
		"bounce+a@simulator.amazonses.com": athletes.Bounced, "complaint@simulator.amazonses.com": athletes.Complained,
		"success@simulator.amazonses.com": "",
	} {
		first := w.cancelled(token, "1"+address, address)
		if n := w.told(first, outbox.Email); n.State != outbox.Sent {
			t.Errorf("%s: the first notice is %s: %s", address, n.State, n.Detail)
		}
		mails++
		if cause != "" {
			eventually(t, 30*time.Second, "the suppression of "+address, func() bool {
				got, err := people.Suppressed(context.Background(), strings.ToUpper(address))
				return err == nil && got == cause
			})
		}
		second := w.cancelled(token, "2"+address, address)
		n, push := w.told(second, outbox.Email), w.told(second, outbox.Push)
		if cause == "" {
			mails++
			cause = "nothing"
			if n.State != outbox.Sent {
				t.Errorf("%s: the second notice is %s: %s", address, n.State, n.Detail)
			}
		} else if n.State != outbox.Refused || n.Detail != "suppressed: "+cause {
			t.Errorf("%s: the second notice is %s: %s", address, n.State, n.Detail)
		}
		if push.State != outbox.Sent {
			t.Errorf("%s: the push event is %s: %s", address, push.State, push.Detail)
		}
		for _, id := range []string{first, second} {
			if r := w.row(id); r.Status != analysis.Failed || r.Reason != "cancelled" {
				t.Errorf("%s: the analysis is %s %s", address, r.Status, r.Reason)
			}
		}
	}
	got, err := w.Mails(context.Background())
	if err != nil || len(got) != mails {
		t.Errorf("%d mails, %v; want %d", len(got), err, mails)
	}
	if a := w.call("GET", "/v1/credits", token, "", nil); !strings.Contains(string(a.body), `"balance":9`) {
		t.Errorf("credits %s", a.body)
	}
}

// The app's push event reaches whoever subscribes to the topic.
func TestPushEventsReachSubscribers(t *testing.T) {
	w := start(t)
	token, op := w.tokens()
	w.grant(op, 1)
	ctx := t.Context()
	queues := sqs.NewFromConfig(w.AWS())
	q, err := queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String(names.Prefix + "app")})
	if err != nil {
		t.Fatal(err)
	}
	arn := "arn:aws:sqs:" + local.Region + ":" + local.Account + ":" + names.Prefix + "app"
	if _, err := sns.NewFromConfig(w.AWS()).Subscribe(ctx, &sns.SubscribeInput{TopicArn: aws.String(local.TopicARN(names.PushTopic)), Protocol: aws.String("sqs"), Endpoint: &arn}); err != nil {
		t.Fatal(err)
	}
	id := w.cancelled(token, "k", "success@simulator.amazonses.com")
	var body string
	eventually(t, 30*time.Second, "the event", func() bool {
		out, err := queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl, WaitTimeSeconds: 1})
		if err == nil && len(out.Messages) == 1 {
			body = *out.Messages[0].Body
		}
		return body != ""
	})
	var envelope struct{ Message string }
	var ev notice.PushEvent
	if err := json.Unmarshal([]byte(body), &envelope); err != nil || json.Unmarshal([]byte(envelope.Message), &ev) != nil ||
		ev != (notice.PushEvent{Type: "analysis.ended", AnalysisID: id, AthleteID: athlete, Status: analysis.Failed, Reason: "cancelled"}) {
		t.Errorf("the app hears %s", body)
	}
	if strings.Contains(body, "simulator") || strings.Contains(body, "E. Athlete") {
		t.Errorf("the event names somebody: %s", body)
	}
}
