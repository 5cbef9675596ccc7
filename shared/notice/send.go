package notice

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	ses "github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

// DB is what a Sender needs of DynamoDB.
type DB interface {
	analysis.Getter
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// Mailer is what a Sender needs of SES. It must not repeat a request by itself.
type Mailer interface {
	SendEmail(context.Context, *sesv2.SendEmailInput, ...func(*sesv2.Options)) (*sesv2.SendEmailOutput, error)
}

// Limits of sending one notice.
const (
	claimTime = 60 * time.Second
	sendTime  = 20 * time.Second
	markTime  = 5 * time.Second
	maxTries  = 200 // refusals to send now, such as throttles; a sweep comes every 5 minutes
)

// Publisher is what a Sender needs of SNS. It must not repeat a request by itself.
type Publisher interface {
	Publish(context.Context, *sns.PublishInput, ...func(*sns.Options)) (*sns.PublishOutput, error)
}

// People tells what athletes chose, and which addresses must be left alone;
// athlete.Store does.
type People interface {
	Channels(ctx context.Context, athleteID string) (athlete.Channels, error)
	Suppressed(ctx context.Context, address string) (cause string, err error)
}

// Sender sends what is owed.
type Sender struct {
	DB       DB
	Mail     Mailer
	Push     Publisher // with Topic; needed when an analysis asks for push
	Topic    string    // ARN
	People   People    // nil: everybody wants everything
	Notices  string    // table
	Analyses string    // table
	From     string    // address
	AppURL   string    // address of the app; "": mails carry no link
	Now      func() time.Time
	Retry    retry.Policy
}

func (s Sender) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// nameless is an error of SES or SNS without its text: SES names the address
// that it refuses, and errors end in logs.
type nameless struct{ err error }

func (e nameless) Error() string {
	if code := awserr.Code(e.err); code != "" {
		return "refused: " + code
	}
	return "not sent"
}

func (e nameless) Unwrap() error { return e.err }

// Send sends one owed notice, at most once whoever else is at it. It returns an
// error only if the notice is still owed and should be tried again.
func (s Sender) Send(ctx context.Context, analysisID, id string) error {
	if d, ok := ctx.Deadline(); ok && time.Until(d) < sendTime+markTime {
		return fmt.Errorf("send notice %s of %s: too little time left: %w", id, analysisID, context.DeadlineExceeded)
	}
	r, err := analysis.Get(ctx, s.DB, s.Analyses, analysisID)
	if err != nil {
		return fmt.Errorf("send notice %s of %s: %w", id, analysisID, err)
	}
	kind, channel, _ := strings.Cut(id, "#")
	no, err := s.unwanted(ctx, r, outbox.Channel(channel))
	if err != nil {
		return fmt.Errorf("send notice %s of %s: %w", id, analysisID, err)
	}
	send, err := s.prepare(r, kind, outbox.Channel(channel))
	if err != nil {
		return fmt.Errorf("send notice %s of %s: %w", id, analysisID, err)
	}
	n, mine, err := s.claim(ctx, analysisID, id)
	if err != nil || !mine {
		return err
	}
	if no.state != "" {
		return s.settle(ctx, n, no.state, no.why)
	}
	sendCtx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	ref, err := send(sendCtx, n)
	switch {
	case err == nil:
		return s.settle(ctx, n, outbox.Sent, ref)
	case !awserr.NotSent(err):
		return s.settle(ctx, n, outbox.Unknown, "no answer")
	case awserr.Is(err, "MessageRejected") || awserr.Is(err, "BadRequestException") || n.Tries >= maxTries:
		return s.settle(ctx, n, outbox.Refused, awserr.KindOf(err).String())
	default: // a throttle, or an account that may not send today: it stays owed
		return errors.Join(fmt.Errorf("send notice %s of %s: %w", id, analysisID, nameless{err}),
			s.settle(ctx, n, outbox.Owed, awserr.KindOf(err).String()))
	}
}

// refusal is why a notice is not sent at all.
type refusal struct {
	state outbox.State
	why   string
}

// unwanted looks at what the athlete chose and whether the address may be
// written to. It is asked before every try: what was chosen since counts.
func (s Sender) unwanted(ctx context.Context, r analysis.Row, ch outbox.Channel) (refusal, error) {
	if ch == outbox.Email && r.Email == "" || ch == outbox.Push && !r.Push { // removed after the notice was written
		return refusal{outbox.NotDue, "no address"}, nil
	}
	if s.People == nil {
		return refusal{}, nil
	}
	c, err := s.People.Channels(ctx, r.AthleteID)
	if err != nil {
		return refusal{}, err
	}
	if ch == outbox.Email && !c.Email || ch == outbox.Push && !c.Push {
		return refusal{outbox.NotDue, "not wanted"}, nil
	}
	if ch != outbox.Email {
		return refusal{}, nil
	}
	cause, err := s.People.Suppressed(ctx, r.Email)
	if err != nil || cause == "" {
		return refusal{}, err
	}
	return refusal{outbox.Refused, "suppressed: " + cause}, nil
}

// prepare makes ready what is sent, so that nothing but the sending itself
// happens under the claim. The sending returns the service's reference.
func (s Sender) prepare(r analysis.Row, kind string, ch outbox.Channel) (func(context.Context, outbox.Notice) (string, error), error) {
	if ch == outbox.Push {
		if s.Push == nil {
			return nil, errors.New("there is no topic for push events")
		}
		return func(ctx context.Context, n outbox.Notice) (string, error) {
			out, err := s.Push.Publish(ctx, pushInput(s.Topic, r, n))
			if err != nil || out.MessageId == nil {
				return "", err
			}
			return *out.MessageId, nil
		}, nil
	}
	msg, err := words(r, kind, s.AppURL)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, n outbox.Notice) (string, error) {
		out, err := s.Mail.SendEmail(ctx, s.input(r, n, msg))
		if err != nil || out.MessageId == nil {
			return "", err
		}
		return *out.MessageId, nil
	}, nil
}

func (s Sender) input(r analysis.Row, n outbox.Notice, m Message) *sesv2.SendEmailInput {
	content := func(v string) *ses.Content { utf8 := "UTF-8"; return &ses.Content{Data: &v, Charset: &utf8} }
	tag := func(k, v string) ses.MessageTag { return ses.MessageTag{Name: &k, Value: &v} }
	set := names.MailEventSet // without it SES would tell nobody of a bounce
	from := (&mail.Address{Name: names.Product, Address: s.From}).String()
	return &sesv2.SendEmailInput{
		FromEmailAddress: &from, ConfigurationSetName: &set,
		Destination: &ses.Destination{ToAddresses: []string{r.Email}},
		Content: &ses.EmailContent{Simple: &ses.Message{
			Subject: content(m.Subject),
			Body:    &ses.Body{Text: content(m.Text), Html: content(m.HTML)},
		}},
		EmailTags: []ses.MessageTag{tag("analysis_id", r.AnalysisID), tag("kind", n.Kind)},
	}
}

// claim takes an owed notice; mine is false if there is nothing to send. A
// claim of somebody else's that ran out becomes unknown.
func (s Sender) claim(ctx context.Context, analysisID, id string) (n outbox.Notice, mine bool, err error) {
	me, now := rand.Text(), s.now()
	set := "SET #s = :claimed, #o = :me, #u = :until ADD tries :one"
	cond := "#s = :owed"
	var item map[string]ddb.AttributeValue
	err = s.Retry.Do(ctx, func() error {
		out, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Notices, Key: outbox.Key(analysisID, id), UpdateExpression: &set, ConditionExpression: &cond,
			ExpressionAttributeNames: map[string]string{"#s": "state", "#o": "owner", "#u": "until"},
			ExpressionAttributeValues: map[string]ddb.AttributeValue{
				":claimed": text(string(outbox.Claimed)), ":owed": text(string(outbox.Owed)), ":me": text(me),
				":until": stamp.Value(now.Add(claimTime)), ":one": &ddb.AttributeValueMemberN{Value: "1"}},
			ReturnValues:                        ddb.ReturnValueAllNew,
			ReturnValuesOnConditionCheckFailure: ddb.ReturnValuesOnConditionCheckFailureAllOld,
		})
		if err == nil {
			item = out.Attributes
		}
		return err
	})
	if awserr.KindOf(err) == awserr.Condition {
		item, err = awserr.Winner(err), nil
	}
	if err != nil || item == nil {
		return outbox.Notice{}, false, wrap(err, "claim", analysisID, id)
	}
	if n, err = outbox.Decode(item); err != nil {
		return outbox.Notice{}, false, err
	}
	if n.State == outbox.Claimed && n.Owner != me && now.After(n.Until.Add(names.ClockSkew)) {
		return n, false, s.settle(ctx, n, outbox.Unknown, "the claim ran out")
	}
	return n, n.State == outbox.Claimed && n.Owner == me, nil
}

// settle ends the claim that n shows. It finishes even if ctx has ended: the
// mail may be gone already.
func (s Sender) settle(ctx context.Context, n outbox.Notice, to outbox.State, detail string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTime)
	defer cancel()
	set := "SET #s = :to, detail = :detail REMOVE unsent"
	values := map[string]ddb.AttributeValue{
		":to": text(string(to)), ":claimed": text(string(outbox.Claimed)), ":me": text(n.Owner), ":detail": text(detail)}
	switch to {
	case outbox.Owed:
		set = "SET #s = :to, detail = :detail"
	case outbox.Sent:
		set = "SET #s = :to, message_id = :detail, sent_at = :now REMOVE unsent"
		values[":now"] = stamp.Value(s.now())
	}
	cond := "#s = :claimed AND #o = :me"
	err := s.Retry.Do(ctx, func() error {
		_, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Notices, Key: outbox.Key(n.AnalysisID, n.ID), UpdateExpression: &set, ConditionExpression: &cond,
			ExpressionAttributeNames: map[string]string{"#s": "state", "#o": "owner"}, ExpressionAttributeValues: values,
		})
		return err
	})
	if awserr.KindOf(err) == awserr.Condition {
		err = nil // another one settled it: ours with its answer lost, or a sweep that found the claim run out
	} else if err == nil && (to == outbox.Unknown || to == outbox.Refused) {
		name := map[outbox.State]string{outbox.Unknown: metric.NoticeUnknown, outbox.Refused: metric.NoticeRefused}[to]
		metric.Count(ctx, name, 1, "analysis_id", n.AnalysisID, "notice", n.ID, "detail", detail)
	}
	return wrap(err, "mark as "+string(to), n.AnalysisID, n.ID)
}

func wrap(err error, doing, analysisID, id string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("notice %s of %s: %s: %w", id, analysisID, doing, err)
}

func text(v string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: v} }
