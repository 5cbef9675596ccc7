package infra

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/shared/names"
)

// Data is the stack of what must never be lost. Nothing in it is deleted with
// the stack.
type Data struct {
	awscdk.Stack
	Tables   map[string]awsdynamodb.Table // by names.Table.Name
	Bucket   awss3.Bucket
	Pool     awscognito.UserPool
	Client   awscognito.UserPoolClient // of apps and of the runbook's commands
	Page     awscognito.UserPoolClient // of the web page at appUrl; nil without one
	SignIn   awscognito.UserPoolDomain // where people sign in on that page; nil too
	Alarms   awssns.Topic              // every alarm; its subscriptions were confirmed by people
	Push     awssns.Topic              // the app's push events
	Callback awssecretsmanager.Secret  // HMAC keys of callbacks: {"current","previous"}
}

// NewData declares the stack.
func NewData(scope constructs.Construct, props *awscdk.StackProps, s Settings) *Data {
	d := &Data{
		Stack:  awscdk.NewStack(scope, jsii.String("Data"), props),
		Tables: map[string]awsdynamodb.Table{},
	}
	for _, t := range names.Tables() {
		d.Tables[t.Name] = d.table(t)
	}
	d.Bucket = d.bucket(s)
	d.users(s)
	d.topic(s)
	d.secrets()
	return d
}

func (d *Data) table(t names.Table) awsdynamodb.Table {
	str := func(name string) *awsdynamodb.Attribute {
		return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
	}
	props := &awsdynamodb.TableProps{
		TableName:          jsii.String(t.Name),
		PartitionKey:       str(t.PartitionKey),
		BillingMode:        awsdynamodb.BillingMode_PAY_PER_REQUEST,
		DeletionProtection: jsii.Bool(true),
		Encryption:         awsdynamodb.TableEncryption_AWS_MANAGED,
		RemovalPolicy:      awscdk.RemovalPolicy_RETAIN,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
	}
	if t.SortKey != "" {
		props.SortKey = str(t.SortKey)
	}
	if t.Stream {
		props.Stream = awsdynamodb.StreamViewType_NEW_IMAGE
	}
	if t.TTL != "" {
		props.TimeToLiveAttribute = jsii.String(t.TTL)
	}
	table := awsdynamodb.NewTable(d.Stack, jsii.String(logical(t.Name)), props)
	for _, i := range t.Indexes {
		g := &awsdynamodb.GlobalSecondaryIndexProps{IndexName: jsii.String(i.Name), PartitionKey: str(i.PartitionKey)}
		if i.SortKey != "" {
			g.SortKey = str(i.SortKey)
		}
		table.AddGlobalSecondaryIndex(g)
	}
	return table
}

func (d *Data) bucket(s Settings) awss3.Bucket {
	days := func(n float64) awscdk.Duration { return awscdk.Duration_Days(jsii.Number(n)) }
	expire := func(prefix string, n, old float64) *awss3.LifecycleRule {
		return &awss3.LifecycleRule{
			Id: jsii.String("expire-" + prefix[:len(prefix)-1]), Prefix: jsii.String(prefix),
			Expiration: days(n), NoncurrentVersionExpiration: days(old),
			AbortIncompleteMultipartUploadAfter: days(1),
		}
	}
	b := awss3.NewBucket(d.Stack, jsii.String("Media"), &awss3.BucketProps{
		Versioned:         jsii.Bool(true),
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN,
		Cors: &[]*awss3.CorsRule{{ // browsers upload straight to the bucket
			AllowedOrigins: jsii.Strings(s.WebOrigin), AllowedMethods: uploadMethods(), AllowedHeaders: jsii.Strings("*"),
			ExposedHeaders: jsii.Strings(names.UploadCORSExpose...), MaxAge: jsii.Number(names.CORSMaxAge.Seconds()),
		}},
		LifecycleRules: &[]*awss3.LifecycleRule{
			expire(names.PrefixClips, names.ClipLifecycle.Hours()/24, names.ClipVersions.Hours()/24),
			expire(names.PrefixWork, names.WorkLifecycle.Hours()/24, 1),
			{Id: jsii.String("old-reports"), Prefix: jsii.String(names.PrefixReports), NoncurrentVersionExpiration: days(30)},
		},
	})
	suppress(b, "AwsSolutions-S1", "objects are reached by links that live for minutes and are signed for one key; whoever asked for a link is in the API's log")
	return b
}

// output has the deploy print a value that a person needs: the runbook uses it.
func (d *Data) output(name string, value *string) {
	awscdk.NewCfnOutput(d.Stack, jsii.String(name), &awscdk.CfnOutputProps{Value: value})
}

func uploadMethods() *[]awss3.HttpMethods {
	out := []awss3.HttpMethods{}
	for _, m := range names.UploadCORSMethods {
		out = append(out, awss3.HttpMethods(m))
	}
	return &out
}

func (d *Data) topic(s Settings) {
	d.Alarms = awssns.NewTopic(d.Stack, jsii.String("Alarms"), &awssns.TopicProps{
		TopicName: jsii.String(names.Prefix + "alarms"), EnforceSSL: jsii.Bool(true),
	})
	if s.AlarmEmail != "" {
		d.Alarms.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(s.AlarmEmail), nil))
	}
	d.Push = awssns.NewTopic(d.Stack, jsii.String("Push"), &awssns.TopicProps{
		TopicName: jsii.String(names.PushTopic), EnforceSSL: jsii.Bool(true),
	})
	d.output("AlarmTopic", d.Alarms.TopicArn())
}

// vars gives what statements of infra/access refer to.
func (d *Data) vars() variables {
	return variables{"Bucket": d.Bucket.BucketName(), "CallbackKeys": d.Callback.SecretArn()}
}

// secrets makes the keys of signed messages. A rotation copies current to
// previous and makes a new current: the runbook says how.
func (d *Data) secrets() {
	d.Callback = awssecretsmanager.NewSecret(d.Stack, jsii.String("CallbackKeys"), &awssecretsmanager.SecretProps{
		Description: jsii.String("HMAC keys of signed callbacks: current, and previous while a rotation is under way"),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			SecretStringTemplate: jsii.String(`{"previous":""}`),
			GenerateStringKey:    jsii.String("current"),
			PasswordLength:       jsii.Number(64),
			ExcludePunctuation:   jsii.Bool(true),
		},
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	})
	d.output("CallbackKeysSecret", d.Callback.SecretArn()) // its name is made by the deploy
	payments := awssecretsmanager.NewSecret(d.Stack, jsii.String("Payments"), &awssecretsmanager.SecretProps{
		SecretName:  jsii.String(names.PaymentsSecret),
		Description: jsii.String("Keys that sign the payment provider's events; a person replaces the first value, which no provider has"),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			SecretStringTemplate: jsii.String(`{"previous":""}`), GenerateStringKey: jsii.String("current"),
			PasswordLength: jsii.Number(64), ExcludePunctuation: jsii.Bool(true),
		},
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	})
	suppress(payments, "AwsSolutions-SMG4", "the payment provider makes these keys")
	suppress(d.Callback, "AwsSolutions-SMG4", "two keys are valid while a rotation is under way, which a person starts; both sides read them anew every few minutes")
}
