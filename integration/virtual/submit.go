package virtual

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
)

// Athlete is whose analyses a world holds.
const Athlete = "athlete-1"

// Grant gives the athlete credits.
func (c *Cloud) Grant(ctx context.Context, credits int) error {
	_, err := c.Ledger().Enter(ctx, credit.Grant{AthleteID: Athlete, Credits: int64(credits), Operator: "op", Key: "grant", Reason: "virtual"})
	return err
}

// submission is what every athlete of a world wants analysed.
func submission() analysis.Submission {
	return analysis.Submission{
		AthleteName: "A. Athlete", Email: "athlete@example.com", TimeZone: "Asia/Colombo", Consent: true,
		Clips: []analysis.Clip{{Name: "clip.mp4", Type: "video/mp4", SizeBytes: 4}},
	}
}

// Create reserves a credit for an analysis of one clip. It returns its id.
func (c *Cloud) Create(ctx context.Context, key string) (string, error) {
	row, _, err := c.Life().Create(ctx, Athlete, key, submission())
	if err != nil {
		return "", fmt.Errorf("create: %w", err)
	}
	return row.AnalysisID, nil
}

// Submit creates an analysis of one clip, uploads it and confirms it, as far as
// the queue: what functions/api does. It returns the analysis id.
func (c *Cloud) Submit(ctx context.Context, key string) (string, error) {
	row, _, err := c.Life().Create(ctx, Athlete, key, submission())
	if err != nil {
		return "", fmt.Errorf("create: %w", err)
	}
	if err := c.put(ctx, row.Clips[0].Key, []byte("clip")); err != nil {
		return "", fmt.Errorf("upload: %w", err)
	}
	return row.AnalysisID, c.Confirm(ctx, row.AnalysisID)
}

// Confirm pins what was uploaded and queues an analysis, as functions/api does.
func (c *Cloud) Confirm(ctx context.Context, id string) error {
	row, err := c.Life().Get(ctx, id)
	if err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	pinned, err := analysis.Pin(ctx, c.Objects(), names.Bucket, row.Clips)
	if err != nil {
		return fmt.Errorf("pin: %w", err)
	}
	if _, err := c.Life().Queue(ctx, id, pinned); err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	return nil
}

// SendClaimCheck sends a claim check once more, as a queue that delivers at least
// once does.
func (c *Cloud) SendClaimCheck(ctx context.Context, id string) error {
	url := QueueURL
	_, err := sqs.NewFromConfig(c.Config).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &id})
	return err
}

// StartExecution starts the execution of an attempt through the API.
func (c *Cloud) StartExecution(ctx context.Context, id string, attempt int) error {
	_, err := analysis.Start(ctx, sfn.NewFromConfig(c.Config), c.Machine, id, attempt)
	return err
}

// Mails are what SES accepted.
func (c *Cloud) Mails() []Mail { return c.mail.mails }

// SetParameter changes a setting, as an operator does without a deploy.
func (c *Cloud) SetParameter(path, value string) { c.params.values[names.Parameters+path] = value }

// Desired is the fleet's desired count.
func (c *Cloud) Desired() int { return c.service.desired }

// DeadLetters counts the messages that the queue gave up.
func (c *Cloud) DeadLetters() int { return len(c.queue.dead) }

// State is all that a run left about one analysis.
type State struct {
	Row     analysis.Row
	Ledger  credit.Ledger
	Notices []outbox.Notice
	Calls   int // usage rows: model calls, failed ones included
}

// State reads what stands.
func (c *Cloud) State(ctx context.Context, id string) (State, error) {
	var s State
	var err error
	if s.Row, err = c.Life().Get(ctx, id); err != nil {
		return s, err
	}
	if s.Ledger, err = c.Ledger().Read(ctx, Athlete); err != nil {
		return s, err
	}
	if s.Notices, err = outbox.List(ctx, c.DB, names.Notices.Name, id); err != nil {
		return s, err
	}
	out, err := c.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String(names.Usage.Name), KeyConditionExpression: aws.String("analysis_id = :id"),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":id": &ddb.AttributeValueMemberS{Value: id}},
	})
	if err != nil {
		return s, err
	}
	s.Calls = len(out.Items)
	return s, nil
}

// Refunds counts the refunds of an analysis.
func (s State) Refunds() int {
	n := 0
	for _, e := range s.Ledger.Entries {
		if e.Kind == credit.KindRefund && e.AnalysisID == s.Row.AnalysisID {
			n++
		}
	}
	return n
}
