package access

import (
	"fmt"

	"fastbowlinglab/shared/names"
)

// paid is what a stage with a model call does, for the call.
func paid(task string) []Statement {
	return []Statement{
		table("Analyses", names.Analyses, "GetItem"),
		table("Effects", names.Effects, "GetItem", "PutItem", "UpdateItem"),
		table("Usage", names.Usage, "PutItem"),
		parameter("Model", "GetParameter", "model/"+task),
		models(),
	}
}

func text(task string) []Statement {
	return append(paid(task), objects("Work", names.PrefixWork, "GetObject", "PutObject"))
}

// tell is what sending a notice does.
func tell() []Statement {
	return []Statement{
		table("Athletes", names.Athletes, "GetItem"),
		table("Suppressions", names.Suppressions, "GetItem"),
		mail(),
		push(),
	}
}

// programs lists what each program does with AWS, as its code says.
var programs = map[string][]Statement{
	names.FnAPI: {
		table("Analyses", names.Analyses, "GetItem", "PutItem", "UpdateItem"),
		index("ByAthlete", names.Analyses, names.IndexByAthlete),
		table("Credits", names.Credits, "PutItem", "Query", "UpdateItem"),
		table("Effects", names.Effects, "PutItem", "Query"),
		table("Notices", names.Notices, "PutItem", "Query"),
		table("PoseJobs", names.PoseJobs, "GetItem"),
		table("Usage", names.Usage, "Query"),
		index("UsageByDay", names.Usage, names.IndexByDay),
		table("Prices", names.Prices, "Query"),
		table("Athletes", names.Athletes, "GetItem", "PutItem"),
		table("Erasures", names.Erasures, "GetItem", "PutItem"),
		table("Suppressions", names.Suppressions, "GetItem"),
		table("Tags", names.Tags, "Query"),
		objects("Clips", names.PrefixClips, "GetObject", "GetObjectVersion", "PutObject"),
		objects("Work", names.PrefixWork, "GetObject"),
		objects("Reports", names.PrefixReports, "GetObject"),
		listing(),
		start(),
		executions("StopExecution"),
		payments(),
	},
	names.FnBegin: {
		table("Analyses", names.Analyses, "UpdateItem"),
		{Sid: "Flags", Actions: []string{"ssm:GetParametersByPath"}, Resources: []string{parameterARN + "/flags", parameterARN + "/flags/*"},
			Reason: "the call names a path, and the flags under it may come and go"},
	},
	names.FnWake: {
		index("Open", names.Analyses, names.IndexOpen),
		table("Effects", names.Effects, "UpdateItem"),
		fleet(),
	},
	names.FnPrecheck: append(paid("precheck"),
		objects("Clips", names.PrefixClips, "GetObjectVersion"),
		objects("Work", names.PrefixWork, "PutObject"),
	),
	names.FnQueueJob: {
		table("Analyses", names.Analyses, "GetItem"),
		table("PoseJobs", names.PoseJobs, "GetItem", "UpdateItem"),
		{Sid: "Queue", Actions: []string{"sqs:SendMessage"}, Resources: []string{QueueARN(names.PoseQueue.Name)}},
		tokens("SendTaskSuccess"),
	},
	names.FnProbe: {},
	names.FnPostJob: {
		table("Analyses", names.Analyses, "GetItem"),
		table("PoseJobs", names.PoseJobs, "GetItem", "UpdateItem"),
	},
	names.FnCallback: {
		table("Analyses", names.Analyses, "GetItem"),
		table("PoseJobs", names.PoseJobs, "GetItem", "UpdateItem"),
		table("Effects", names.Effects, "GetItem", "PutItem"),
		tokens("SendTaskSuccess"),
		secret("Keys", "${CallbackKeys}"),
	},
	names.FnAwaitPose: {
		table("PoseJobs", names.PoseJobs, "UpdateItem"),
		tokens("SendTaskSuccess"),
	},
	names.FnFindings: text("findings"),
	names.FnCoaching: text("coaching"),
	names.FnRender: {
		table("Analyses", names.Analyses, "GetItem"),
		objects("Work", names.PrefixWork, "GetObject"),
		objects("Reports", names.PrefixReports, "PutObject"),
	},
	names.FnDeliver: ends(),
	names.FnReject:  ends(),
	names.FnSettle:  ends(),
	names.FnNotify: append(tell(),
		table("Analyses", names.Analyses, "GetItem"),
		table("Notices", names.Notices, "UpdateItem"),
	),
	names.FnFeedback: {
		table("Suppressions", names.Suppressions, "PutItem"),
	},
	names.FnErase: {
		table("Analyses", names.Analyses, "DeleteItem", "GetItem", "Scan", "UpdateItem"),
		index("ByAthlete", names.Analyses, names.IndexByAthlete),
		table("Credits", names.Credits, "DeleteItem", "PutItem", "Query", "UpdateItem"),
		table("Effects", names.Effects, "DeleteItem", "UpdateItem"),
		table("Notices", names.Notices, "DeleteItem", "PutItem", "Query"),
		table("PoseJobs", names.PoseJobs, "DeleteItem"),
		table("Usage", names.Usage, "DeleteItem", "PutItem", "Query"),
		table("Tags", names.Tags, "DeleteItem", "Query"),
		table("Runs", names.Runs, "DeleteItem", "Scan"),
		table("Athletes", names.Athletes, "DeleteItem"),
		table("Erasures", names.Erasures, "GetItem", "UpdateItem"),
		index("OpenErasures", names.Erasures, names.IndexOpen),
		objects("Clips", names.PrefixClips, "DeleteObjectVersion"),
		objects("Work", names.PrefixWork, "DeleteObjectVersion"),
		objects("Reports", names.PrefixReports, "DeleteObjectVersion"),
		{Sid: "Versions", Actions: []string{"s3:ListBucketVersions"}, Resources: []string{bucketARN}},
		executions("StopExecution"),
	},
	names.FnAudit: {
		table("Analyses", names.Analyses, "GetItem", "Scan"),
		table("Credits", names.Credits, "GetItem", "Query", "Scan"),
		table("Notices", names.Notices, "GetItem", "Query", "Scan"),
		table("Effects", names.Effects, "Scan"),
		table("Usage", names.Usage, "Query"),
		index("UsageByDay", names.Usage, names.IndexByDay),
		table("Prices", names.Prices, "Query"),
		objects("Audits", names.PrefixAudits, "PutObject"),
	},
	names.FnReconcile: append(tell(),
		table("Analyses", names.Analyses, "GetItem", "UpdateItem"),
		index("Open", names.Analyses, names.IndexOpen),
		table("Credits", names.Credits, "PutItem", "UpdateItem"),
		table("Notices", names.Notices, "PutItem", "UpdateItem"),
		index("Unsent", names.Notices, names.IndexUnsent),
		table("Effects", names.Effects, "GetItem", "UpdateItem"),
		Statement{Sid: "Queue", Actions: []string{"sqs:GetQueueAttributes"}, Resources: []string{QueueARN(names.PoseQueue.Name)}},
		fleet(),
		start(),
		executions("DescribeExecution", "StopExecution"),
	),
	names.FnBackfill: append(redo("BatchGetItem"), revisions()...),
	names.FnNightly:  redo(),
	names.FnOperator: {
		table("Analyses", names.Analyses, "GetItem", "UpdateItem"),
		index("Open", names.Analyses, names.IndexOpen),
		table("Credits", names.Credits, "PutItem", "Query", "UpdateItem"),
		table("Effects", names.Effects, "GetItem", "PutItem", "UpdateItem"),
		table("Erasures", names.Erasures, "GetItem", "PutItem"),
		table("Runs", names.Runs, "GetItem", "Query", "UpdateItem"),
		index("OpenRuns", names.Runs, names.IndexOpen),
		table("Usage", names.Usage, "Query"),
		index("UsageByDay", names.Usage, names.IndexByDay),
		table("Prices", names.Prices, "Query"),
		{Sid: "Queue", Actions: []string{"sqs:SendMessage"}, Resources: []string{QueueARN(names.PoseQueue.Name)}},
		{Sid: "DeadLetters", Actions: []string{"sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"},
			Resources: []string{QueueARN(names.PoseQueue.DeadLetter)}},
		start(),
		executions("DescribeExecution", "RedriveExecution", "StopExecution"),
		{Sid: "Batches", Actions: []string{"states:DescribeExecution", "states:RedriveExecution"}, Resources: []string{
			executionsARN + names.MachineBackfill + ":*", executionsARN + names.MachineNightly + ":*"},
			Reason: "runs are named when they are started"},
	},
	names.FnWatch: {
		index("OpenRuns", names.Runs, names.IndexOpen),
	},
	names.PoseWorker: {
		table("Analyses", names.Analyses, "GetItem", "UpdateItem"),
		table("PoseJobs", names.PoseJobs, "GetItem", "UpdateItem"),
		{Sid: "Queue", Actions: []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"},
			Resources: []string{QueueARN(names.PoseQueue.Name)}},
		objects("Clips", names.PrefixClips, "GetObjectVersion"),
		objects("Work", names.PrefixWork, "GetObject", "PutObject"),
		tokens("SendTaskFailure", "SendTaskHeartbeat", "SendTaskSuccess"),
		secret("Keys", "${CallbackKeys}"),
		{Sid: "Protection", Actions: []string{"ecs:GetTaskProtection", "ecs:UpdateTaskProtection"},
			Resources: []string{"arn:${AWS::Partition}:ecs:" + account + "task/" + names.Cluster + "/*"},
			Reason:    "a task protects itself, and its id is not known before"},
	},
}

// Of lists what a program may do in AWS; an error if it is not known here.
func Of(program string) ([]Statement, error) {
	s, ok := programs[program]
	if !ok {
		return nil, fmt.Errorf("program %s has no statements in infra/access: what it does in AWS has to be written there", program)
	}
	return s, nil
}

// redo is what the functions of the batch machines do: keep runs under a lease,
// tag delivered analyses with a model's help, and write the tags.
func redo(bulk ...string) []Statement {
	return append(paid("tags"),
		index("ByEndDay", names.Analyses, names.IndexByEndDay),
		table("Runs", names.Runs, append(bulk, "ConditionCheckItem", "GetItem", "PutItem", "Query", "UpdateItem")...),
		index("OpenRuns", names.Runs, names.IndexOpen),
		table("Tags", names.Tags, "ConditionCheckItem", "PutItem", "Query"),
		objects("Work", names.PrefixWork, "GetObject", "PutObject"),
	)
}

// revisions is what a backfill does besides, to make delivered reports again: it
// reads the keypoints, has the two texts written and the files rendered, and adds
// a revision with its notice to the analysis's row.
func revisions() []Statement {
	return []Statement{
		{Sid: "AddRevision", Actions: []string{"dynamodb:UpdateItem"}, Resources: []string{TableARN(names.Analyses)}},
		table("Notices", names.Notices, "PutItem"),
		table("PoseJobs", names.PoseJobs, "GetItem"),
		parameter("FindingsModel", "GetParameter", "model/findings"),
		parameter("CoachingModel", "GetParameter", "model/coaching"),
		objects("Reports", names.PrefixReports, "GetObject"),
		listing(),
		{Sid: "Render", Actions: []string{"lambda:InvokeFunction"}, Resources: []string{FunctionARN(names.FnRender)}},
	}
}

// Lambda lists what a function may do because of how it is started and where it
// runs: write its own log, send trace segments, read its stream, hand on what
// failed, and have an address in the network.
func Lambda(f names.Function) []Statement {
	all := []Statement{
		{Sid: "Log", Actions: []string{"logs:CreateLogStream", "logs:PutLogEvents"},
			Resources: []string{"arn:${AWS::Partition}:logs:" + account + "log-group:" + LogGroup(f.Name) + ":*"},
			Reason:    "Lambda names the streams of the function's own log group"},
		{Sid: "Trace", Actions: []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}, Resources: []string{"*"},
			Reason: "X-Ray has no resource level for these actions"},
	}
	if f.Stream != nil {
		all = append(all,
			Statement{Sid: "Stream", Actions: []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"},
				Resources: []string{TableARN(*f.Stream) + "/stream/*"},
				Reason:    "a stream's name is the time at which it was made"},
			Statement{Sid: "Streams", Actions: []string{"dynamodb:ListStreams"}, Resources: []string{"*"},
				Reason: "DynamoDB has no resource level for this action"})
	}
	if f.Stream != nil || f.Ended || f.Every > 0 || f.Topic != "" {
		all = append(all, Statement{Sid: "GivenUp", Actions: []string{"sqs:SendMessage"}, Resources: []string{QueueARN(names.EventsDead)}})
	}
	if f.VPC {
		all = append(all, Statement{Sid: "Network", Actions: []string{
			"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
			"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses"},
			Resources: []string{"*"}, Reason: "Lambda makes and removes the function's network interfaces by itself; their ids are not known before"})
	}
	return all
}

// Machine lists what a state machine's role may do. Every version of a function
// stays allowed, so that a run in flight keeps the versions that its definition
// names.
func Machine(machine string) []Statement {
	invoke := Statement{Sid: "Invoke", Actions: []string{"lambda:InvokeFunction"},
		Reason: "every published version: runs in flight keep the versions that their definition names"}
	for _, f := range names.Functions() {
		if f.In(machine) {
			invoke.Resources = append(invoke.Resources, FunctionARN(f.Name)+":*")
		}
	}
	return []Statement{invoke,
		{Sid: "LogDelivery", Actions: []string{"logs:CreateLogDelivery", "logs:GetLogDelivery", "logs:UpdateLogDelivery",
			"logs:DeleteLogDelivery", "logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:DescribeResourcePolicies", "logs:DescribeLogGroups"},
			Resources: []string{"*"}, Reason: "CloudWatch Logs has no resource level for the delivery of vended logs"},
		{Sid: "Trace", Actions: []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSamplingRules", "xray:GetSamplingTargets"},
			Resources: []string{"*"}, Reason: "X-Ray has no resource level for these actions"},
	}
}

// Nightly lists what the schedule of the nightly job may do.
func Nightly() []Statement {
	return []Statement{
		{Sid: "Start", Actions: []string{"states:StartExecution"}, Resources: []string{MachinesARN + names.MachineNightly}},
		{Sid: "GivenUp", Actions: []string{"sqs:SendMessage"}, Resources: []string{QueueARN(names.EventsDead)}},
	}
}
