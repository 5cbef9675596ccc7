package notice_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	ses "github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/notice"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/stamp"
)

// mailer is SES: it accepts, refuses, or accepts without an answer.
type mailer struct {
	mu       sync.Mutex
	accepted []*sesv2.SendEmailInput
	next     []error // for each call; errors named accepted* come after the mail has left
}

var (
	errNoAnswer  = errors.New("accepted, connection reset")
	accepted500  = httpError(500, "InternalServerError")
	throttled    = httpError(429, "TooManyRequestsException")
	rejected     = httpError(400, "MessageRejected")
	noConnection = &net.OpError{Op: "dial", Err: errors.New("refused")}
)

func httpError(status int, code string) error {
	return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err: &smithy.GenericAPIError{Code: code}}
}

func (m *mailer) SendEmail(_ context.Context, in *sesv2.SendEmailInput, _ ...func(*sesv2.Options)) (*sesv2.SendEmailOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var err error
	if len(m.next) > 0 {
		err, m.next = m.next[0], m.next[1:]
	}
	if err == nil || err == errNoAnswer || err == accepted500 {
		m.accepted = append(m.accepted, in)
	}
	id := "m-1"
	return &sesv2.SendEmailOutput{MessageId: &id}, err
}

type world struct {
	t      *testing.T
	server *dynamotest.Server
	mail   *mailer
	notice.Sender
}

func newWorld(t *testing.T) *world {
	s := dynamotest.Start(t)
	w := &world{t: t, server: s, mail: &mailer{}}
	w.Sender = notice.Sender{DB: s.Client(), Mail: w.mail, Notices: names.Notices.Name, Analyses: names.Analyses.Name,
		From: "lab@example.com", AppURL: "https://app.example.com/"}
	return w
}

// owed stores an ended analysis and its notice.
func (w *world) owed(id, email string) outbox.Notice {
	w.t.Helper()
	db := w.server.Client()
	r := analysis.Row{AnalysisID: id, AthleteID: "a", AthleteName: "Zoë", Email: email, Status: analysis.Ready, CreatedAt: time.Now()}
	n := outbox.For(r, r.Status, time.Now())
	put := func(table string, v any) {
		item, err := stamp.MarshalMap(v)
		if err == nil {
			_, err = db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item})
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	put(names.Analyses.Name, r)
	put(names.Notices.Name, n)
	return n
}

func (w *world) state(id string) outbox.Notice {
	w.t.Helper()
	ns, err := outbox.List(w.t.Context(), w.DB, names.Notices.Name, id)
	if err != nil || len(ns) != 1 {
		w.t.Fatalf("notices of %s: %+v, %v", id, ns, err)
	}
	return ns[0]
}

// Field case 49: accept then 500, accept then no answer, refused, throttled.
func TestSend(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct {
		name  string
		next  []error
		state outbox.State
		again bool // Send says that it should be tried again
		mails int
	}{
		{"sent", nil, outbox.Sent, false, 1},
		{"accepted, then 500", []error{accepted500}, outbox.Unknown, false, 1},
		{"accepted, no answer", []error{errNoAnswer}, outbox.Unknown, false, 1},
		{"rejected", []error{rejected}, outbox.Refused, false, 0},
		{"throttled", []error{throttled}, outbox.Owed, true, 0},
		{"no connection", []error{noConnection}, outbox.Owed, true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w.mail.accepted, w.mail.next = nil, tc.next
			n := w.owed(tc.name, "a@example.com")
			err := w.Send(t.Context(), n.AnalysisID, n.ID)
			got := w.state(tc.name)
			if (err != nil) != tc.again || got.State != tc.state || len(w.mail.accepted) != tc.mails {
				t.Fatalf("%v, state %s, %d mails; want again %t, %s, %d", err, got.State, len(w.mail.accepted), tc.again, tc.state, tc.mails)
			}
			if unsent := got.Unsent != ""; unsent != (tc.state == outbox.Owed) {
				t.Errorf("unsent mark %q in state %s", got.Unsent, got.State)
			}
			// Whatever came of it: one more Send mails only what is still owed.
			if err := w.Send(t.Context(), n.AnalysisID, n.ID); err != nil {
				t.Errorf("again: %v", err)
			}
			want := tc.mails
			if tc.state == outbox.Owed {
				want++
			}
			if len(w.mail.accepted) != want {
				t.Errorf("%d mails after a second Send, want %d", len(w.mail.accepted), want)
			}
		})
	}
}

func TestSendParallel(t *testing.T) {
	w := newWorld(t)
	n := w.owed("an-1", "a@example.com")
	var wg sync.WaitGroup
	for range 20 { // duplicate stream records, and a sweep at the same time
		wg.Go(func() {
			if err := w.Send(t.Context(), n.AnalysisID, n.ID); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := w.Sweep(t.Context(), 10); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(w.mail.accepted) != 1 || w.state("an-1").State != outbox.Sent {
		t.Errorf("%d mails, state %s", len(w.mail.accepted), w.state("an-1").State)
	}
}

func TestCrashBetweenSendAndMark(t *testing.T) {
	w := newWorld(t)
	n := w.owed("an-1", "a@example.com")
	// The mark after the mail never gets through: the first update is the claim.
	f := &dynamotest.Faults{}
	f.Next = func(op string) dynamotest.Fault {
		if op == "UpdateItem" && f.Calls(op) > 1 {
			return dynamotest.NotDone
		}
		return dynamotest.OK
	}
	dying := w.Sender
	dying.DB = w.server.Faulty(f)
	if err := dying.Send(t.Context(), n.AnalysisID, n.ID); err == nil {
		t.Fatal("no error although the mark was lost")
	}
	if _, err := w.Sweep(t.Context(), 10); err != nil || w.state("an-1").State != outbox.Claimed {
		t.Errorf("sweep while the claim holds: %s, %v", w.state("an-1").State, err)
	}
	later := w.Sender
	later.Now = func() time.Time { return time.Now().Add(10 * time.Minute) }
	for range 2 {
		if _, err := later.Sweep(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.state("an-1"); got.State != outbox.Unknown || len(w.mail.accepted) != 1 {
		t.Errorf("state %s, %d mails; want unknown and one", got.State, len(w.mail.accepted))
	}
}

func TestLostAnswersOfTheDatabase(t *testing.T) {
	w := newWorld(t)
	for n := 1; n <= 3; n++ {
		id := fmt.Sprint("an-", n)
		o := w.owed(id, "a@example.com")
		s := w.Sender
		s.DB = w.server.Faulty(&dynamotest.Faults{Next: dynamotest.First(n, "UpdateItem", dynamotest.Lost)})
		if err := s.Send(t.Context(), o.AnalysisID, o.ID); err != nil || w.state(id).State != outbox.Sent || len(w.mail.accepted) != n {
			t.Errorf("%d lost answers: %v, %s, %d mails in all", n, err, w.state(id).State, len(w.mail.accepted))
		}
	}
}

func TestNobodyToTell(t *testing.T) {
	w := newWorld(t)
	n := w.owed("an-1", "")
	if n.Channel != outbox.None || n.State != outbox.NotDue || n.Unsent != "" {
		t.Errorf("notice = %+v", n)
	}
	if handled, err := w.Sweep(t.Context(), 10); err != nil || handled != 0 {
		t.Errorf("sweep handled %d, %v", handled, err)
	}
	if err := w.Send(t.Context(), n.AnalysisID, n.ID); err != nil || len(w.mail.accepted) != 0 {
		t.Errorf("sent %d, %v", len(w.mail.accepted), err)
	}
}

// SES names the address that it refuses; errors end in logs.
func TestAnErrorNamesNoAddress(t *testing.T) {
	w := newWorld(t)
	n := w.owed("an-1", "child@example.com")
	w.mail.next = []error{&smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: 403}},
		Err: &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "child@example.com is not verified"}}}
	err := w.Send(t.Context(), n.AnalysisID, n.ID)
	if err == nil || strings.Contains(err.Error(), "child") || !strings.Contains(err.Error(), "AccessDeniedException") {
		t.Errorf("error = %v; want one with the code and without the address", err)
	}
}

func TestSweepGoesOnAfterAFailure(t *testing.T) {
	w := newWorld(t)
	for i := range 4 {
		w.owed(fmt.Sprint("an-", i), "a@example.com")
	}
	w.mail.next = []error{throttled}
	handled, err := w.Sweep(t.Context(), 3)
	if err == nil || handled != 3 || len(w.mail.accepted) != 2 {
		t.Errorf("handled %d, %v, %d mails; want 3, an error, 2", handled, err, len(w.mail.accepted))
	}
	if handled, err := w.Sweep(t.Context(), 10); err != nil || handled != 2 || len(w.mail.accepted) != 4 {
		t.Errorf("handled %d, %v, %d mails; want 2, 4 in all", handled, err, len(w.mail.accepted))
	}
}

func TestNoTimeLeft(t *testing.T) {
	w := newWorld(t)
	n := w.owed("an-1", "a@example.com")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := w.Send(ctx, n.AnalysisID, n.ID); !errors.Is(err, context.DeadlineExceeded) || w.state("an-1").State != outbox.Owed {
		t.Errorf("%v, state %s; want it left owed", err, w.state("an-1").State)
	}
}

func TestRender(t *testing.T) {
	all := []string{"Zoë", ""}
	if b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "cases", "payloads", "n_names.json")); err == nil {
		if err := json.Unmarshal(b, &all); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range all {
		name = strings.ReplaceAll(name, "\n", " ") // as Submission.Clean leaves it
		for _, end := range []analysis.Status{analysis.Ready, analysis.Rejected, analysis.Failed, analysis.Expired} {
			m, err := notice.Render(analysis.Row{AnalysisID: "an-1", AthleteName: name, Status: end, Reason: string(reason.NotBowling)}, "https://app.example.com/")
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(m.Subject, "\r\n") || !strings.Contains(strings.ReplaceAll(m.Text, "\u2060", ""), name) || !strings.Contains(m.Text, "https://app.example.com/?analysis=an-1\r\n") {
				t.Errorf("%q %s: %+v", name, end, m)
			}
			if strings.Contains(m.HTML, "<b>") || strings.Contains(m.Text, "X-Amz-") || strings.Contains(m.HTML, "X-Amz-") {
				t.Errorf("%q %s: %s", name, end, m.HTML)
			}
			if refunded := strings.Contains(m.Text, "credit has been given back"); refunded == (end == analysis.Ready) {
				t.Errorf("%s: says refunded %t", end, refunded)
			}
		}
	}
	if _, err := notice.Render(analysis.Row{Status: analysis.Queued}, "https://app.example.com/"); err == nil {
		t.Error("an open analysis has a mail")
	}
}

func TestMailInput(t *testing.T) {
	w := newWorld(t)
	n := w.owed("an-1", "a@example.com")
	if err := w.Send(t.Context(), n.AnalysisID, n.ID); err != nil {
		t.Fatal(err)
	}
	in := w.mail.accepted[0]
	if in.ConfigurationSetName == nil || *in.ConfigurationSetName != names.MailEventSet {
		t.Error("the mail names no configuration set: SES would tell nobody of a bounce")
	}
	body := in.Content.Simple.Body
	if *in.FromEmailAddress != `"FastBowlingLab" <lab@example.com>` || len(in.Destination.ToAddresses) != 1 || in.Destination.ToAddresses[0] != "a@example.com" ||
		*body.Text.Charset != "UTF-8" || *body.Html.Charset != "UTF-8" || !strings.Contains(*body.Text.Data, "Zoë") {
		t.Errorf("input = %+v", in)
	}
	if tags := in.EmailTags; len(tags) != 2 || *tags[0].Value != "an-1" {
		t.Errorf("tags = %+v", []ses.MessageTag(tags))
	}
}
