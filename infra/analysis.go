package infra

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsses"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/infra/access"
	"fastbowlinglab/shared/names"
)

// How often what starts a function by itself is tried again.
const (
	eventRetries  = 2       // asynchronous invocations, as many as Lambda allows
	eventHours    = 6       // the longest that an event is kept for another try
	startRetries  = 185     // the start of the nightly job, which nobody makes up for: as many as EventBridge Scheduler allows
	streamRetries = 10      // a stream record, before it goes to the dead letters
	streamBatch   = 10      // records of one invocation; each may wait for a mail
	streamAge     = 24 * 60 // minutes: a record's whole life in a stream
)

// Analysis is the stack of the state machine and of the functions that no route
// leads to.
type Analysis struct {
	awscdk.Stack
	Functions map[string]awslambda.Function
	Dead      awssqs.Queue                     // of stream records, events and schedules
	Machine   awsstepfunctions.CfnStateMachine // of analyses
	Nightly   awsstepfunctions.CfnStateMachine
	version   awsstepfunctions.CfnStateMachineVersion
	Alias     awsstepfunctions.CfnStateMachineAlias
	Canary    []awscloudwatch.Alarm // these roll a deploy back
}

// NewAnalysis declares the stack.
func NewAnalysis(scope constructs.Construct, props *awscdk.StackProps, s Settings, d *Data, n *Network, f *PoseFleet) *Analysis {
	a := &Analysis{Stack: awscdk.NewStack(scope, jsii.String("Analysis"), props), Functions: map[string]awslambda.Function{}}
	a.Dead = awssqs.NewQueue(a.Stack, jsii.String("EventsDead"), &awssqs.QueueProps{
		QueueName: jsii.String(names.EventsDead), EnforceSSL: jsii.Bool(true),
		Encryption: awssqs.QueueEncryption_SQS_MANAGED, RetentionPeriod: duration(names.QueueRetention),
	})
	suppress(a.Dead, "AwsSolutions-SQS3", "this is the dead-letter queue")
	values := environment(s, d)
	values[names.EnvPoseURL] = f.BalancerURL()
	m := maker{a.Stack, s, d.vars(), n, values}
	for _, fn := range names.Functions() {
		if !behindRoute(fn.Name) {
			a.Functions[fn.Name] = m.function(fn)
			a.sources(fn, d)
		}
	}
	a.Machine = a.machine(names.MachineAnalysis)
	a.live(d)
	a.batch()
	return a
}

// sources connects a function to what starts it by itself.
func (a *Analysis) sources(f names.Function, d *Data) {
	fn := a.Functions[f.Name]
	if f.Stream != nil {
		fn.AddEventSource(awslambdaeventsources.NewDynamoEventSource(d.Tables[f.Stream.Name], &awslambdaeventsources.DynamoEventSourceProps{
			StartingPosition: awslambda.StartingPosition_TRIM_HORIZON, BatchSize: jsii.Number(streamBatch),
			BisectBatchOnError: jsii.Bool(true), ReportBatchItemFailures: jsii.Bool(true),
			RetryAttempts: jsii.Number(streamRetries), MaxRecordAge: awscdk.Duration_Minutes(jsii.Number(streamAge)),
			OnFailure: awslambdaeventsources.NewSqsDlq(a.Dead),
		}))
	}
	if f.Topic != "" {
		a.topic(f).AddSubscription(awssnssubscriptions.NewLambdaSubscription(fn, &awssnssubscriptions.LambdaSubscriptionProps{DeadLetterQueue: a.Dead}))
	}
	if !f.Ended && f.Every == 0 && f.Topic == "" {
		return
	}
	// A call that is refused for want of a place waits in Lambda's own queue for as
	// long as the event may be old; only failures of the function count as retries.
	awslambda.NewEventInvokeConfig(a.Stack, jsii.String(logical(f.Name)+"Invoke"), &awslambda.EventInvokeConfigProps{
		Function: fn, RetryAttempts: jsii.Number(eventRetries), MaxEventAge: awscdk.Duration_Hours(jsii.Number(eventHours)),
		OnFailure: awslambdadestinations.NewSqsDestination(a.Dead),
	})
	if !f.Ended && f.Every == 0 {
		return
	}
	target := awseventstargets.NewLambdaFunction(fn, &awseventstargets.LambdaFunctionProps{
		DeadLetterQueue: a.Dead, RetryAttempts: jsii.Number(eventRetries), MaxEventAge: awscdk.Duration_Hours(jsii.Number(eventHours)),
	})
	if f.Every > 0 {
		awsevents.NewRule(a.Stack, jsii.String(logical(f.Name)+"Schedule"), &awsevents.RuleProps{
			RuleName: jsii.String(names.Prefix + f.Name), Schedule: awsevents.Schedule_Rate(duration(f.Every)),
			Targets: &[]awsevents.IRuleTarget{target},
		})
	}
	if f.Ended {
		// The rule starts the newest code, the state machine a version; each has its
		// own permission.
		awscdk.Annotations_Of(fn).AcknowledgeWarning(jsii.String("@aws-cdk/aws-lambda:addPermissionsToVersionOrAlias"), nil)
		awsevents.NewRule(a.Stack, jsii.String(logical(f.Name)+"Ended"), &awsevents.RuleProps{
			RuleName:    jsii.String(names.Prefix + "ended-" + f.Name),
			Description: jsii.String("An execution that ended without its catch-all: the analysis is ended and refunded"),
			EventPattern: &awsevents.EventPattern{
				Source: jsii.Strings("aws.states"), DetailType: jsii.Strings("Step Functions Execution Status Change"),
				Detail: &map[string]any{"status": []string{"FAILED", "TIMED_OUT", "ABORTED"},
					"stateMachineArn": []any{sub(access.MachineARN, nil)}},
			},
			Targets: &[]awsevents.IRuleTarget{target},
		})
	}
}

// topic makes the topic that starts a function. What SES tells of our mails goes
// to MailEventsTopic.
func (a *Analysis) topic(f names.Function) awssns.Topic {
	t := awssns.NewTopic(a.Stack, jsii.String(logical(f.Name)+"Topic"), &awssns.TopicProps{
		TopicName: jsii.String(f.Topic), EnforceSSL: jsii.Bool(true),
	})
	if f.Topic == names.MailEventsTopic {
		set := awsses.NewConfigurationSet(a.Stack, jsii.String("Mails"), &awsses.ConfigurationSetProps{
			ConfigurationSetName: jsii.String(names.MailEventSet), ReputationMetrics: jsii.Bool(true),
			TlsPolicy: awsses.ConfigurationSetTlsPolicy_REQUIRE,
		})
		set.AddEventDestination(jsii.String("Topic"), &awsses.ConfigurationSetEventDestinationOptions{
			Destination: awsses.EventDestination_SnsTopic(t),
			Events:      &[]awsses.EmailSendingEvent{awsses.EmailSendingEvent_BOUNCE, awsses.EmailSendingEvent_COMPLAINT},
		})
	}
	return t
}
