package infra

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
)

// Thresholds of the alarms on age.
const (
	oldestAnalysis = 60 * 60 // seconds since the confirm; an analysis takes minutes
	oldestMessage  = 30 * 60 // seconds; a message stays in the queue while its pass runs
	oldestRecord   = 15 * 60 * 1000
	apiErrors      = 5 // answers with 5xx in five minutes
)

// flatFunctions are those that wait for somebody else's answer.
var flatFunctions = map[string]bool{names.FnAPI: true, names.FnPrecheck: true, names.FnFindings: true, names.FnCoaching: true, names.FnNotify: true}

// Observability is the stack of the alarms that need several other stacks, and
// of the dashboard.
type Observability struct {
	awscdk.Stack
}

// NewObservability declares the stack.
func NewObservability(scope constructs.Construct, props *awscdk.StackProps, d *Data, f *PoseFleet, api *API, a *Analysis) *Observability {
	o := &Observability{Stack: awscdk.NewStack(scope, jsii.String("Observability"), props)}
	alarms := append([]awscloudwatch.Alarm{}, a.Canary...)
	for _, w := range watches(f, api, a) {
		alarms = append(alarms, w.at(o.Stack, d.Alarms))
	}
	o.dashboard(f, api, a, alarms)
	return o
}

func watches(f *PoseFleet, api *API, a *Analysis) []watch {
	machine := map[string]*string{"StateMachineArn": a.Machine.AttrArn()}
	// AWS/ApplicationELB counts a balancer's own 504 by LoadBalancer alone; with a
	// TargetGroup there is no such metric.
	balancer := map[string]*string{"LoadBalancer": f.Balancer.LoadBalancerFullName()}
	queue := func(name string) map[string]*string { return map[string]*string{"QueueName": jsii.String(name)} }
	depth := func(name string) awscloudwatch.Metric {
		return measure("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", queue(name))
	}
	all := []watch{
		{name: "elb-504", says: "The load balancer gave up on a call and answered 504",
			metric: measure("AWS/ApplicationELB", "HTTPCode_ELB_504_Count", "Sum", balancer), threshold: 1},
		{name: "executions-aborted", says: "An execution was stopped",
			metric: measure("AWS/States", "ExecutionsAborted", "Sum", machine), threshold: 1},
		{name: "oldest-open", says: "A confirmed analysis has had no end for an hour",
			metric: measure(metric.Namespace, metric.OldestOpenSeconds, "Maximum", nil), threshold: oldestAnalysis},
		{name: "oldest-message", says: "A pose job has been in the queue for half an hour",
			metric: measure("AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum", queue(names.PoseQueue.Name)), threshold: oldestMessage},
		{name: "pose-dead-letters", says: "A pose job was given up by the queue", metric: depth(names.PoseQueue.DeadLetter), threshold: 1},
		{name: "event-dead-letters", says: "A stream record, an event or a schedule was given up", metric: depth(names.EventsDead), threshold: 1},
		{name: "notice-unknown", says: "A mail may or may not have left", metric: own(metric.NoticeUnknown), threshold: 1},
		{name: "notice-refused", says: "A mail was refused for good", metric: own(metric.NoticeRefused), threshold: 1},
		{name: "effect-unknown", says: "A paid call was sent and its outcome is not known", metric: own(metric.EffectUnknown), threshold: 1},
		{name: "audit-violations", says: "The audit found a promise broken: its report in S3 says which", metric: own(metric.AuditViolations), threshold: 1},
		{name: "reconciler-silent", says: "The reconciler has not finished a pass for a quarter of an hour",
			metric: own(metric.Reconciled), below: true, threshold: 1, periods: 3, missing: awscloudwatch.TreatMissingData_BREACHING},
		{name: "reconciler-failing", says: "The reconciler could not repair something three times in a row",
			metric: own(metric.ReconcileFailed), threshold: 1, periods: 3},
		{name: "batch-no-progress", says: "A nightly or backfill run has made no progress for five minutes, or nobody watches",
			metric: measure(metric.Namespace, metric.SecondsSinceProgress, "Maximum", nil), threshold: names.NoProgressAlarm.Seconds(),
			missing: awscloudwatch.TreatMissingData_BREACHING},
		{name: "tags-mismatch", says: "A row of tags is not what it should be", metric: own(metric.TagsMismatch), threshold: 1},
		{name: "nightly-failed", says: "A night's job did not do all of its day, or did not begin it",
			metric:    measure("AWS/States", "ExecutionsFailed", "Sum", map[string]*string{"StateMachineArn": a.Nightly.AttrArn()}),
			threshold: 1},
		{name: "tags-failed", says: "The nightly job cannot tag an analysis", metric: own(metric.TagsFailed), threshold: 1},
		{name: "model-unavailable", says: "A setting names a model that is retired, missing or not allowed", metric: own(metric.ModelUnavailable), threshold: 1},
		{name: "price-missing", says: "Model calls were made that no price is known for: costs are understated", metric: own(metric.PriceMissing), threshold: 1},
		{name: "payment-refused", says: "A payment event that bears a signature was refused: somebody may have paid and got nothing",
			metric: own(metric.PaymentRefused), threshold: 1},
		{name: "api-errors", says: "The HTTP API answered 5xx several times",
			metric: measure("AWS/ApiGateway", "5xx", "Sum", map[string]*string{"ApiId": api.HTTP.ApiId()}), threshold: apiErrors},
		flat("balancer", "the pose workers behind the load balancer",
			measure("AWS/ApplicationELB", "TargetResponseTime", "p50", balancer),
			measure("AWS/ApplicationELB", "TargetResponseTime", "Maximum", balancer), names.ALBIdleTimeout.Seconds()),
	}
	for _, fn := range names.Functions() {
		all = append(all, slow(fn))
		if flatFunctions[fn.Name] {
			all = append(all, flatFunction(fn))
		}
		if fn.Stream != nil {
			all = append(all, watch{name: "stream-age-" + fn.Name, says: "The stream that starts " + fn.Name + " is a quarter of an hour behind",
				metric:    measure("AWS/Lambda", "IteratorAge", "Maximum", map[string]*string{"FunctionName": jsii.String(names.Prefix + fn.Name)}),
				threshold: oldestRecord})
		}
	}
	return all
}

// dashboard answers: is anyone's paid analysis stuck, and where?
func (o *Observability) dashboard(f *PoseFleet, api *API, a *Analysis, alarms []awscloudwatch.Alarm) {
	machine := map[string]*string{"StateMachineArn": a.Machine.AttrArn()}
	graph := func(title string, left ...awscloudwatch.IMetric) awscloudwatch.IWidget {
		return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Title: jsii.String(title), Left: &left, Width: jsii.Number(8), Height: jsii.Number(6)})
	}
	states := func(name string) awscloudwatch.IMetric { return measure("AWS/States", name, "Sum", machine) }
	queue := func(metric, name string) awscloudwatch.IMetric {
		return measure("AWS/SQS", metric, "Maximum", map[string]*string{"QueueName": jsii.String(name)})
	}
	var list []interfacesawscloudwatch.IAlarmRef
	for _, al := range alarms {
		list = append(list, al)
	}
	awscloudwatch.NewDashboard(o.Stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String(names.Prefix + "analyses"),
		Widgets: &[]*[]awscloudwatch.IWidget{
			{awscloudwatch.NewTextWidget(&awscloudwatch.TextWidgetProps{Width: jsii.Number(24), Height: jsii.Number(2), Markdown: jsii.String(
				"# Is anyone's paid analysis stuck, and where?\nOldest open analysis first, then each place where one can wait. Alarms below; what to do: infra/README.md.")})},
			{graph("Stuck: oldest confirmed analysis without an end (s)", measure(metric.Namespace, metric.OldestOpenSeconds, "Maximum", nil)),
				graph("Waiting for a worker: queue", queue("ApproximateNumberOfMessagesVisible", names.PoseQueue.Name),
					queue("ApproximateNumberOfMessagesNotVisible", names.PoseQueue.Name), queue("ApproximateAgeOfOldestMessage", names.PoseQueue.Name)),
				graph("Workers", measure("AWS/ECS", "CPUUtilization", "Average", map[string]*string{
					"ClusterName": jsii.String(names.Cluster), "ServiceName": jsii.String(names.PoseService)}), own(metric.PosePasses), own(metric.PoseChunksRedone))},
			{graph("Executions", states("ExecutionsStarted"), states("ExecutionsSucceeded"), states("ExecutionsFailed"), states("ExecutionsTimedOut"), states("ExecutionsAborted")),
				graph("Ends", own(metric.Ended), own(metric.ConcededEnd), own(metric.DeadlineReached), own(metric.DuplicateRun)),
				graph("Not known, given up", own(metric.EffectUnknown), own(metric.NoticeUnknown), own(metric.NoticeRefused),
					queue("ApproximateNumberOfMessagesVisible", names.PoseQueue.DeadLetter), queue("ApproximateNumberOfMessagesVisible", names.EventsDead))},
			{graph("API", measure("AWS/ApiGateway", "Count", "Sum", map[string]*string{"ApiId": api.HTTP.ApiId()}),
				measure("AWS/ApiGateway", "4xx", "Sum", map[string]*string{"ApiId": api.HTTP.ApiId()}),
				measure("AWS/ApiGateway", "5xx", "Sum", map[string]*string{"ApiId": api.HTTP.ApiId()})),
				graph("Load balancer", measure("AWS/ApplicationELB", "HTTPCode_ELB_504_Count", "Sum", map[string]*string{"LoadBalancer": f.Balancer.LoadBalancerFullName()}),
					measure("AWS/ApplicationELB", "HTTPCode_ELB_502_Count", "Sum", map[string]*string{"LoadBalancer": f.Balancer.LoadBalancerFullName()})),
				graph("Reconciler", own(metric.Reconciled), own(metric.ReconcileFailed))},
			{awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{Alarms: &list, Width: jsii.Number(24), Height: jsii.Number(6), Title: jsii.String("Alarms")})},
		},
	})
}
