// Package access says what each program may do, statement by statement: least
// privilege as data, from which the CDK app makes the roles and tests make
// their checks. It knows nothing of the CDK.
package access

import "fastbowlinglab/shared/names"

// Statement allows actions on resources. A resource is an ARN in the syntax of
// CloudFormation's Fn::Sub; ${Bucket} stands for the bucket's name.
type Statement struct {
	Sid       string
	Actions   []string
	Resources []string
	// Reason says why a resource holds a wildcard; every one that does has it.
	Reason string
}

const account = "${AWS::Region}:${AWS::AccountId}:"

// ARNs of what shared/names declares.
const (
	MachinesARN   = "arn:${AWS::Partition}:states:" + account + "stateMachine:" + names.Prefix // a machine's name follows
	MachineARN    = "arn:${AWS::Partition}:states:" + account + "stateMachine:" + names.StateMachine
	ExecutionARN  = "arn:${AWS::Partition}:states:" + account + "execution:" + names.StateMachine
	executionsARN = "arn:${AWS::Partition}:states:" + account + "execution:" + names.Prefix
	ServiceARN    = "arn:${AWS::Partition}:ecs:" + account + "service/" + names.Cluster + "/" + names.PoseService
	parameterARN  = "arn:${AWS::Partition}:ssm:" + account + "parameter" + names.Parameters
	identityARN   = "arn:${AWS::Partition}:ses:" + account + "identity/*"
	mailSetARN    = "arn:${AWS::Partition}:ses:" + account + "configuration-set/" + names.MailEventSet
	pushARN       = "arn:${AWS::Partition}:sns:" + account + names.PushTopic
	bucketARN     = "arn:${AWS::Partition}:s3:::${Bucket}"
)

// TableARN and QueueARN are the ARNs of a declared table and queue.
func TableARN(t names.Table) string {
	return "arn:${AWS::Partition}:dynamodb:" + account + "table/" + t.Name
}

// QueueARN is the ARN of a queue by its name.
func QueueARN(name string) string { return "arn:${AWS::Partition}:sqs:" + account + name }

// FunctionARN is the ARN of a function by its name in shared/names.
func FunctionARN(name string) string {
	return "arn:${AWS::Partition}:lambda:" + account + "function:" + names.Prefix + name
}

// LogGroup is the name of a function's log group.
func LogGroup(function string) string { return "/aws/lambda/" + names.Prefix + function }

func table(sid string, t names.Table, actions ...string) Statement {
	s := Statement{Sid: sid, Resources: []string{TableARN(t)}}
	for _, a := range actions {
		s.Actions = append(s.Actions, "dynamodb:"+a)
	}
	return s
}

func index(sid string, t names.Table, name string) Statement {
	return Statement{Sid: sid, Actions: []string{"dynamodb:Query"}, Resources: []string{TableARN(t) + "/index/" + name}}
}

func objects(sid, prefix string, actions ...string) Statement {
	s := Statement{Sid: sid, Resources: []string{bucketARN + "/" + prefix + "*"},
		Reason: "object keys begin with the analysis id, which is not known before"}
	for _, a := range actions {
		s.Actions = append(s.Actions, "s3:"+a)
	}
	return s
}

// listing lets a program list the bucket. It also lets S3 say 404 of an object
// that is not there: without it S3 says 403, and a clip that was never uploaded
// would look like a broken permission.
func listing() Statement {
	return Statement{Sid: "Listing", Actions: []string{"s3:ListBucket"}, Resources: []string{bucketARN}}
}

// models lets a program call models on Bedrock. Which one is a setting that
// changes without a deploy, and an inference profile calls the model in any of
// its regions.
func models() Statement {
	return Statement{Sid: "Models", Actions: []string{"bedrock:InvokeModel"}, Resources: []string{
		"arn:${AWS::Partition}:bedrock:*::foundation-model/*",
		"arn:${AWS::Partition}:bedrock:" + account + "inference-profile/*"},
		Reason: "the model is a setting that changes without a deploy; only models that the account was given access to answer"}
}

func parameter(sid, action, name string) Statement {
	return Statement{Sid: sid, Actions: []string{"ssm:" + action}, Resources: []string{parameterARN + "/" + name}}
}

// secret lets a program read one secret; arn is the whole ARN.
func secret(sid, arn string) Statement {
	return Statement{Sid: sid, Actions: []string{"secretsmanager:GetSecretValue"}, Resources: []string{arn}}
}

// payments lets a program read the keys of payment events.
func payments() Statement {
	s := secret("Payments", "arn:${AWS::Partition}:secretsmanager:"+account+"secret:"+names.PaymentsSecret+"-??????")
	s.Reason = "Secrets Manager ends a secret's ARN with six random characters"
	return s
}

// push lets a program tell the app that an analysis has ended.
func push() Statement {
	return Statement{Sid: "Push", Actions: []string{"sns:Publish"}, Resources: []string{pushARN}}
}

func fleet() Statement {
	return Statement{Sid: "Fleet", Actions: []string{"ecs:DescribeServices", "ecs:UpdateService"}, Resources: []string{ServiceARN}}
}

// tokens lets a program answer states that wait for it.
func tokens(actions ...string) Statement {
	s := Statement{Sid: "Tokens", Resources: []string{MachineARN, MachineARN + ":*"},
		Reason: "a token may be of any version of the state machine: runs in flight keep theirs"}
	for _, a := range actions {
		s.Actions = append(s.Actions, "states:"+a)
	}
	return s
}

func executions(actions ...string) Statement {
	s := Statement{Sid: "Executions", Resources: []string{ExecutionARN + ":*"},
		Reason: "executions are named by analysis id and attempt, which are not known before"}
	for _, a := range actions {
		s.Actions = append(s.Actions, "states:"+a)
	}
	return s
}

func start() Statement {
	return Statement{Sid: "Start", Actions: []string{"states:StartExecution"}, Resources: []string{MachineARN + ":" + names.MachineAlias}}
}

func mail() Statement {
	return Statement{Sid: "Mail", Actions: []string{"ses:SendEmail"}, Resources: []string{identityARN, mailSetARN},
		Reason: "SES authorises the sending identity and, in the sandbox, the recipient's; the sender is fixed by the ses:FromAddress condition"}
}

// ends are the writes of shared/outcome: one transaction over three tables.
func ends() []Statement {
	return []Statement{
		table("Analyses", names.Analyses, "GetItem", "UpdateItem"),
		table("Credits", names.Credits, "PutItem", "UpdateItem"),
		table("Notices", names.Notices, "PutItem"),
	}
}
