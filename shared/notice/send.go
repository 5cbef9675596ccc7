package notice

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	ses "github.com/aws/aws-sdk-go-v2/service/sesv2/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
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

// Sender sends what is owed.
type Sender struct {
	DB       DB
	Mail     Mailer
	Notices  string // table
	Analyses string // table
	From     string // address
	APIURL   string
	Now      func() time.Time
	Retry    retry.Policy
}

func (s Sender) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

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
	msg, err := Render(r, s.APIURL)
	if err != nil {
		return fmt.Errorf("send notice %s of %s: %w", id, analysisID, err)
	}
	n, mine, err := s.claim(ctx, analysisID, id)
	if err != nil || !mine {
		return err
	}
	sendCtx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	out, err := s.Mail.SendEmail(sendCtx, s.input(r, n, msg))
	switch {
	case err == nil:
		id := ""
		if out.MessageId != nil {
			id = *out.MessageId
		}
		return s.settle(ctx, n, Sent, id)
	case !awserr.NotSent(err):
		return s.settle(ctx, n, Unknown, "no answer")
	case awserr.Is(err, "MessageRejected") || awserr.Is(err, "BadRequestException") || n.Tries >= maxTries:
		return s.settle(ctx, n, Refused, awserr.KindOf(err).String())
	default: // a throttle, or an account that may not send today: it stays owed
		return errors.Join(fmt.Errorf("send notice %s of %s: %w", id, analysisID, err),
			s.settle(ctx, n, Owed, awserr.KindOf(err).String()))
	}
}

func (s Sender) input(r analysis.Row, n Notice, m Message) *sesv2.SendEmailInput {
	content := func(v string) *ses.Content { utf8 := "UTF-8"; return &ses.Content{Data: &v, Charset: &utf8} }
	tag := func(k, v string) ses.MessageTag { return ses.MessageTag{Name: &k, Value: &v} }
	return &sesv2.SendEmailInput{
		FromEmailAddress: &s.From,
		Destination:      &ses.Destination{ToAddresses: []string{r.Email}},
		Content: &ses.EmailContent{Simple: &ses.Message{
			Subject: content(m.Subject),
			Body:    &ses.Body{Text: content(m.Text), Html: content(m.HTML)},
		}},
		EmailTags: []ses.MessageTag{tag("analysis_id", r.AnalysisID), tag("kind", n.Kind)},
	}
}

// claim takes an owed notice; mine is false if there is nothing to send. A
// claim of somebody else's that ran out becomes unknown.
func (s Sender) claim(ctx context.Context, analysisID, id string) (n Notice, mine bool, err error) {
	me, now := rand.Text(), s.now()
	set := "SET #s = :claimed, #o = :me, #u = :until ADD tries :one"
	cond := "#s = :owed"
	var item map[string]ddb.AttributeValue
	err = s.Retry.Do(ctx, func() error {
		out, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Notices, Key: Key(analysisID, id), UpdateExpression: &set, ConditionExpression: &cond,
			ExpressionAttributeNames: map[string]string{"#s": "state", "#o": "owner", "#u": "until"},
			ExpressionAttributeValues: map[string]ddb.AttributeValue{
				":claimed": text(string(Claimed)), ":owed": text(string(Owed)), ":me": text(me),
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
		return Notice{}, false, wrap(err, "claim", analysisID, id)
	}
	if n, err = Decode(item); err != nil {
		return Notice{}, false, err
	}
	if n.State == Claimed && n.Owner != me && now.After(n.Until.Add(names.ClockSkew)) {
		return n, false, s.settle(ctx, n, Unknown, "the claim ran out")
	}
	return n, n.State == Claimed && n.Owner == me, nil
}

// settle ends the claim that n shows. It finishes even if ctx has ended: the
// mail may be gone already.
func (s Sender) settle(ctx context.Context, n Notice, to State, detail string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTime)
	defer cancel()
	set := "SET #s = :to, detail = :detail REMOVE unsent"
	values := map[string]ddb.AttributeValue{
		":to": text(string(to)), ":claimed": text(string(Claimed)), ":me": text(n.Owner), ":detail": text(detail)}
	switch to {
	case Owed:
		set = "SET #s = :to, detail = :detail"
	case Sent:
		set = "SET #s = :to, message_id = :detail, sent_at = :now REMOVE unsent"
		values[":now"] = stamp.Value(s.now())
	}
	cond := "#s = :claimed AND #o = :me"
	err := s.Retry.Do(ctx, func() error {
		_, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Notices, Key: Key(n.AnalysisID, n.ID), UpdateExpression: &set, ConditionExpression: &cond,
			ExpressionAttributeNames: map[string]string{"#s": "state", "#o": "owner"}, ExpressionAttributeValues: values,
		})
		return err
	})
	if awserr.KindOf(err) == awserr.Condition {
		err = nil // another one settled it: ours with its answer lost, or a sweep that found the claim run out
	} else if err == nil && (to == Unknown || to == Refused) {
		name := map[State]string{Unknown: metric.NoticeUnknown, Refused: metric.NoticeRefused}[to]
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

// Sweep sends what the stream left behind and finds claims that ran out, oldest
// first, until ctx ends or limit notices were looked at. One that fails does
// not stop the others. It returns how many it handled and the failures.
func (s Sender) Sweep(ctx context.Context, limit int) (handled int, err error) {
	cond, index := "#u = :mark", names.IndexUnsent
	var from map[string]ddb.AttributeValue
	var failed []error
	for handled < limit && ctx.Err() == nil {
		var out *dynamodb.QueryOutput
		err := s.Retry.Do(ctx, func() (err error) {
			out, err = s.DB.Query(ctx, &dynamodb.QueryInput{TableName: &s.Notices, IndexName: &index,
				KeyConditionExpression: &cond, ExpressionAttributeNames: map[string]string{"#u": "unsent"},
				ExpressionAttributeValues: map[string]ddb.AttributeValue{":mark": text(unsentMark)}, ExclusiveStartKey: from})
			return err
		})
		if err != nil {
			return handled, errors.Join(append(failed, fmt.Errorf("list unsent notices: %w", err))...)
		}
		for _, item := range out.Items {
			n, err := Decode(item)
			if err == nil {
				err = s.Send(ctx, n.AnalysisID, n.ID)
			}
			if err != nil {
				failed = append(failed, err)
			}
			if handled++; handled >= limit || ctx.Err() != nil {
				break
			}
		}
		if from = out.LastEvaluatedKey; from == nil {
			break
		}
	}
	return handled, errors.Join(failed...)
}

// ByAnalysis lists the notices of an analysis.
func (s Sender) ByAnalysis(ctx context.Context, analysisID string) ([]Notice, error) {
	cond, yes := "analysis_id = :id", true
	out, err := s.DB.Query(ctx, &dynamodb.QueryInput{TableName: &s.Notices, KeyConditionExpression: &cond, ConsistentRead: &yes,
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":id": text(analysisID)}})
	if err != nil {
		return nil, fmt.Errorf("list notices of %s: %w", analysisID, err)
	}
	var all []Notice
	for _, it := range out.Items {
		n, err := Decode(it)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}
