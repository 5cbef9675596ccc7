package notice_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/stamp"
)

// topic is SNS.
type topic struct {
	mu        sync.Mutex
	published []*sns.PublishInput
	err       error
}

func (p *topic) Publish(_ context.Context, in *sns.PublishInput, _ ...func(*sns.Options)) (*sns.PublishOutput, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil || p.err == errNoAnswer {
		p.published = append(p.published, in)
	}
	id := "p-1"
	return &sns.PublishOutput{MessageId: &id}, p.err
}

func (w *world) people() athlete.Store {
	s := athlete.Store{DB: w.server.Client(), Athletes: names.Athletes.Name, Suppressions: names.Suppressions.Name}
	w.People = s
	return s
}

// pushed stores an analysis that asks for a push event, ended, with its notices.
func (w *world) pushed(id string) []outbox.Notice {
	w.t.Helper()
	db := w.server.Client()
	r := analysis.Row{AnalysisID: id, AthleteID: "a", AthleteName: "Zoë", Email: "z@example.com", Push: true, Status: analysis.Rejected, Reason: "not_bowling", CreatedAt: time.Now()}
	all := outbox.All(r, r.Status, time.Now())
	for table, rows := range map[string][]any{names.Analyses.Name: {r}, names.Notices.Name: {all[0], all[1]}} {
		for _, v := range rows {
			item, err := stamp.MarshalMap(v)
			if err == nil {
				_, err = db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item})
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return all
}

func (w *world) states(id string) map[outbox.Channel]outbox.Notice {
	w.t.Helper()
	ns, err := outbox.List(w.t.Context(), w.DB, names.Notices.Name, id)
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[outbox.Channel]outbox.Notice{}
	for _, n := range ns {
		out[n.Channel] = n
	}
	return out
}

// A bounce or a complaint keeps further mail from the address, and fails nothing.
func TestSuppressedAddress(t *testing.T) {
	w := newWorld(t)
	people := w.people()
	if err := people.Suppress(t.Context(), "GONE@example.com", athlete.Bounced); err != nil {
		t.Fatal(err)
	}
	n := w.owed("an-1", "gone@example.com")
	if err := w.Send(t.Context(), "an-1", n.ID); err != nil {
		t.Fatal(err)
	}
	if got := w.state("an-1"); got.State != outbox.Refused || got.Unsent != "" || !strings.Contains(got.Detail, "bounce") {
		t.Errorf("%+v", got)
	}
	n = w.owed("an-2", "changed@example.com") // the athlete's new address
	if err := w.Send(t.Context(), "an-2", n.ID); err != nil || w.state("an-2").State != outbox.Sent {
		t.Errorf("%+v, %v", w.state("an-2"), err)
	}
	if len(w.mail.accepted) != 1 {
		t.Errorf("%d mails, want 1", len(w.mail.accepted))
	}
}

// What the athlete chose since counts.
func TestUnwantedMail(t *testing.T) {
	w := newWorld(t)
	people := w.people()
	n := w.owed("an-1", "z@example.com")
	if err := people.Choose(t.Context(), "a", athlete.Channels{Push: true}, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Send(t.Context(), "an-1", n.ID); err != nil {
		t.Fatal(err)
	}
	if got := w.state("an-1"); got.State != outbox.NotDue || got.Unsent != "" || len(w.mail.accepted) != 0 {
		t.Errorf("%+v, %d mails", got, len(w.mail.accepted))
	}
}

// Nobody is told on any channel of an analysis that was scrubbed since: its athlete
// asked to be forgotten.
func TestScrubbedIsToldNothing(t *testing.T) {
	w := newWorld(t)
	p := &topic{}
	w.Push, w.Topic = p, "arn:topic"
	all := w.pushed("an-1")
	life := analysis.Store{DB: w.server.Client(), Analyses: names.Analyses.Name}
	if err := life.Scrub(t.Context(), "an-1"); err != nil {
		t.Fatal(err)
	}
	for _, n := range all {
		if err := w.Send(t.Context(), "an-1", n.ID); err != nil {
			t.Fatal(err)
		}
	}
	for ch, n := range w.states("an-1") {
		if n.State != outbox.NotDue || n.Unsent != "" {
			t.Errorf("%s: %+v", ch, n)
		}
	}
	if len(p.published) != 0 || len(w.mail.accepted) != 0 {
		t.Errorf("%d events and %d mails, want none", len(p.published), len(w.mail.accepted))
	}
}

type down struct{}

func (down) Channels(context.Context, string) (athlete.Channels, error) {
	return athlete.Channels{}, errors.New("down")
}
func (down) Suppressed(context.Context, string) (string, error) { return "", errors.New("down") }

// While nobody knows what the athlete chose, the notice stays owed.
func TestChoiceNotKnown(t *testing.T) {
	w := newWorld(t)
	w.People = down{}
	n := w.owed("an-1", "z@example.com")
	if err := w.Send(t.Context(), "an-1", n.ID); err == nil || w.state("an-1").State != outbox.Owed || len(w.mail.accepted) != 0 {
		t.Errorf("%v, %+v", err, w.state("an-1"))
	}
}

// The push event is sent once beside the mail, and names nobody.
func TestPush(t *testing.T) {
	w := newWorld(t)
	p := &topic{}
	w.Push, w.Topic = p, "arn:topic"
	all := w.pushed("an-1")
	var wg sync.WaitGroup
	for range 10 {
		for _, n := range all {
			wg.Go(func() { _ = w.Send(t.Context(), "an-1", n.ID) })
		}
	}
	wg.Wait()
	for ch, n := range w.states("an-1") {
		if n.State != outbox.Sent || n.MessageID == "" {
			t.Errorf("%s: %+v", ch, n)
		}
	}
	if len(p.published) != 1 || len(w.mail.accepted) != 1 {
		t.Fatalf("%d events and %d mails, want one of each", len(p.published), len(w.mail.accepted))
	}
	var ev notice.PushEvent
	if err := json.Unmarshal([]byte(*p.published[0].Message), &ev); err != nil || ev != (notice.PushEvent{Type: "analysis.ended", AnalysisID: "an-1",
		AthleteID: "a", Status: analysis.Rejected, Reason: "not_bowling"}) {
		t.Errorf("%+v, %v", ev, err)
	}
	if msg := *p.published[0].Message; strings.Contains(msg, "Zo") || strings.Contains(msg, "@") || *p.published[0].TopicArn != "arn:topic" {
		t.Errorf("event %s", msg)
	}
}

func TestPushWithoutAnswer(t *testing.T) {
	w := newWorld(t)
	w.Push = &topic{err: errNoAnswer}
	all := w.pushed("an-1")
	for range 2 {
		if err := w.Send(t.Context(), "an-1", all[1].ID); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.states("an-1")[outbox.Push]; n.State != outbox.Unknown {
		t.Errorf("%+v", n)
	}
	if n := len(w.Push.(*topic).published); n != 1 {
		t.Errorf("published %d times, want once", n)
	}
}
