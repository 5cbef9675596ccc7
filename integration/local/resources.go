package local

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/names"
)

// ParametersSet are the settings that a new cloud starts with, by their name
// under names.Parameters. A setting that somebody changed is left alone.
var ParametersSet = map[string]string{
	"flags/pose_road": "queue",
	"model/precheck":  "rules",
	"model/findings":  "rules",
	"model/coaching":  "rules",
}

// creator makes what shared/names declares. Everything may be there already.
type creator struct {
	aws aws.Config
}

// create makes the parts side by side.
func (c creator) create(ctx context.Context) error {
	steps := []func(context.Context) error{c.bucket, c.queues, c.parameters, c.identity, c.secrets, c.topics}
	for _, t := range names.Tables() {
		steps = append(steps, func(ctx context.Context) error { return c.table(ctx, t) })
	}
	errs := make(chan error, len(steps))
	for _, step := range steps {
		go func() { errs <- step(ctx) }()
	}
	var all []error
	for range steps {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

func (c creator) table(ctx context.Context, t names.Table) error {
	db := dynamodb.NewFromConfig(c.aws)
	_, err := db.CreateTable(ctx, tableInput(t))
	var exists *ddb.ResourceInUseException
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("create table %s: %w", t.Name, err)
	}
	if err := expire(ctx, db, t); err != nil {
		return fmt.Errorf("time to live of table %s: %w", t.Name, err)
	}
	return nil
}

// expire turns a table's time to live on; to turn on what is on is an error.
func expire(ctx context.Context, db *dynamodb.Client, t names.Table) error {
	if t.TTL == "" {
		return nil
	}
	now, err := db.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &t.Name})
	if err != nil || now.TimeToLiveDescription.AttributeName != nil {
		return err
	}
	_, err = db.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &t.Name,
		TimeToLiveSpecification: &ddb.TimeToLiveSpecification{AttributeName: &t.TTL, Enabled: aws.Bool(true)}})
	return err
}

func tableInput(t names.Table) *dynamodb.CreateTableInput {
	seen := map[string]bool{}
	in := &dynamodb.CreateTableInput{TableName: &t.Name, BillingMode: ddb.BillingModePayPerRequest}
	keys := func(partition, sort string) []ddb.KeySchemaElement {
		var out []ddb.KeySchemaElement
		for i, k := range []string{partition, sort} {
			if k == "" {
				continue
			}
			out = append(out, ddb.KeySchemaElement{AttributeName: &k, KeyType: []ddb.KeyType{ddb.KeyTypeHash, ddb.KeyTypeRange}[i]})
			if !seen[k] {
				seen[k] = true
				in.AttributeDefinitions = append(in.AttributeDefinitions,
					ddb.AttributeDefinition{AttributeName: &k, AttributeType: ddb.ScalarAttributeTypeS})
			}
		}
		return out
	}
	in.KeySchema = keys(t.PartitionKey, t.SortKey)
	for _, ix := range t.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, ddb.GlobalSecondaryIndex{
			IndexName: &ix.Name, KeySchema: keys(ix.PartitionKey, ix.SortKey),
			Projection: &ddb.Projection{ProjectionType: ddb.ProjectionTypeAll}})
	}
	if t.Stream {
		in.StreamSpecification = &ddb.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: ddb.StreamViewTypeNewImage}
	}
	return in
}

func (c creator) bucket(ctx context.Context) error {
	client := s3.NewFromConfig(c.aws)
	_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(names.Bucket)})
	if err != nil && !awserr.Is(err, "BucketAlreadyOwnedByYou") {
		return fmt.Errorf("create bucket %s: %w", names.Bucket, err)
	}
	_, err = client.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: aws.String(names.Bucket),
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusEnabled}})
	if err != nil {
		return fmt.Errorf("versioning of bucket %s: %w", names.Bucket, err)
	}
	return nil
}

func (c creator) queues(ctx context.Context) error {
	client := sqs.NewFromConfig(c.aws)
	retention := strconv.Itoa(int(names.QueueRetention.Seconds()))
	for _, q := range names.Queues() {
		dead, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &q.DeadLetter,
			Attributes: map[string]string{"MessageRetentionPeriod": retention}})
		if err != nil {
			return fmt.Errorf("create queue %s: %w", q.DeadLetter, err)
		}
		attrs, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: dead.QueueUrl,
			AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn}})
		if err != nil {
			return fmt.Errorf("ARN of queue %s: %w", q.DeadLetter, err)
		}
		redrive, err := json.Marshal(map[string]string{"deadLetterTargetArn": attrs.Attributes["QueueArn"],
			"maxReceiveCount": strconv.Itoa(q.MaxReceiveCount)})
		if err != nil {
			return fmt.Errorf("redrive policy of queue %s: %w", q.Name, err)
		}
		settings := map[string]string{"MessageRetentionPeriod": retention, "RedrivePolicy": string(redrive),
			"VisibilityTimeout": strconv.Itoa(int(names.QueueVisibility.Seconds()))}
		out, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &q.Name, Attributes: settings})
		if err != nil {
			return fmt.Errorf("create queue %s: %w", q.Name, err)
		}
		// One that was there keeps its old settings: an update changes them.
		if _, err := client.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: out.QueueUrl, Attributes: settings}); err != nil {
			return fmt.Errorf("settings of queue %s: %w", q.Name, err)
		}
	}
	return nil
}

func (c creator) parameters(ctx context.Context) error {
	client := ssm.NewFromConfig(c.aws)
	for name, value := range ParametersSet {
		_, err := client.PutParameter(ctx, &ssm.PutParameterInput{Name: aws.String(names.Parameters + "/" + name),
			Value: &value, Type: ssmtypes.ParameterTypeString})
		if err != nil && !awserr.Is(err, "ParameterAlreadyExists") {
			return fmt.Errorf("set parameter %s: %w", name, err)
		}
	}
	return nil
}

// secrets makes the keys of signed messages; what is there stays.
func (c creator) secrets(ctx context.Context) error {
	for _, name := range []string{CallbackSecret, names.PaymentsSecret} {
		value := fmt.Sprintf(`{"current":%q,"previous":""}`, rand.Text()+rand.Text())
		_, err := secretsmanager.NewFromConfig(c.aws).CreateSecret(ctx, &secretsmanager.CreateSecretInput{
			Name: aws.String(name), SecretString: &value})
		if err != nil && !awserr.Is(err, "ResourceExistsException") {
			return fmt.Errorf("create secret %s: %w", name, err)
		}
	}
	return nil
}

// topics makes the SNS topics; a topic that is there is found.
func (c creator) topics(ctx context.Context) error {
	for _, name := range []string{names.PushTopic, names.MailEventsTopic} {
		if _, err := sns.NewFromConfig(c.aws).CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String(name)}); err != nil {
			return fmt.Errorf("create topic %s: %w", name, err)
		}
	}
	return nil
}

func (c creator) identity(ctx context.Context) error {
	_, err := sesv2.NewFromConfig(c.aws).CreateEmailIdentity(ctx, &sesv2.CreateEmailIdentityInput{EmailIdentity: aws.String(MailFrom)})
	if err != nil && !awserr.Is(err, "AlreadyExistsException") {
		return fmt.Errorf("create mail identity: %w", err)
	}
	return nil
}
