package infra

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
)

// alarmPeriod is the period of every alarm's metric.
const alarmPeriod = 5 * time.Minute

// watch is an alarm. Its name, after names.Prefix, is a heading of the runbook.
type watch struct {
	name      string
	says      string // what it means, in a line
	metric    awscloudwatch.IMetric
	below     bool    // goes off under the threshold, else at it and above
	threshold float64 //
	periods   float64 // in a row; 0 for 1
	missing   awscloudwatch.TreatMissingData
}

// at makes the alarm and sends it to the topic.
func (w watch) at(scope constructs.Construct, topic awssns.ITopic) awscloudwatch.Alarm {
	compare := awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD
	if w.below {
		compare = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
	}
	periods := max(w.periods, 1)
	missing := w.missing
	if missing == "" {
		missing = awscloudwatch.TreatMissingData_NOT_BREACHING
	}
	a := awscloudwatch.NewAlarm(scope, jsii.String("Alarm-"+w.name), &awscloudwatch.AlarmProps{
		AlarmName: jsii.String(names.Prefix + w.name), AlarmDescription: jsii.String(w.says + ". Runbook: infra/README.md, " + names.Prefix + w.name),
		Metric: w.metric, Threshold: jsii.Number(w.threshold), ComparisonOperator: compare,
		EvaluationPeriods: jsii.Number(periods), DatapointsToAlarm: jsii.Number(periods), TreatMissingData: missing,
	})
	a.AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
	return a
}

// measure is a metric of AWS's, or ours, by its dimensions.
func measure(namespace, name, statistic string, dimensions map[string]*string) awscloudwatch.Metric {
	p := &awscloudwatch.MetricProps{Namespace: jsii.String(namespace), MetricName: jsii.String(name),
		Statistic: jsii.String(statistic), Period: duration(alarmPeriod)}
	if dimensions != nil {
		p.DimensionsMap = &dimensions
	}
	return awscloudwatch.NewMetric(p)
}

// own is a count of package metric.
func own(name string) awscloudwatch.Metric { return measure(metric.Namespace, name, "Sum", nil) }

// canary lists the alarms that roll a deploy back. Any failed execution is a
// refund, so one is enough while a new definition is on trial.
func (a *Analysis) canary(topic awssns.ITopic) []awscloudwatch.Alarm {
	machine := map[string]*string{"StateMachineArn": a.Machine.AttrArn()}
	var out []awscloudwatch.Alarm
	for _, w := range []watch{
		{name: "executions-failed", says: "An execution failed: an analysis was refunded",
			metric: measure("AWS/States", "ExecutionsFailed", "Sum", machine), threshold: 1},
		{name: "executions-timed-out", says: "An execution ran out of time: nothing inside it ended the analysis",
			metric: measure("AWS/States", "ExecutionsTimedOut", "Sum", machine), threshold: 1},
		{name: "duplicate-run", says: "Two executions met on one attempt; the later one stopped",
			metric: own(metric.DuplicateRun), threshold: 1},
	} {
		out = append(out, w.at(a.Stack, topic))
	}
	return out
}

// nearTimeout is the part of its timeout at which a function is too slow, and
// flatBand how close, in parts of the timeout, its slowest calls are to its
// usual ones when something cuts them all at one point.
const (
	nearTimeout = 0.9
	flatBand    = 0.05
)

// slow watches a function's longest call.
func slow(f names.Function) watch {
	return watch{name: "near-timeout-" + f.Name, says: fmt.Sprintf("A call of %s took %d %% of its timeout of %s or more", f.Name, int(nearTimeout*100), f.Timeout),
		metric:    measure("AWS/Lambda", "Duration", "Maximum", map[string]*string{"FunctionName": jsii.String(names.Prefix + f.Name)}),
		threshold: nearTimeout * float64(f.Timeout.Milliseconds())}
}

// flat watches for incident A's signature: usual and slowest response times are
// the same, and just under a timeout. It is 1 while that is so.
func flat(name, of string, usual, slowest awscloudwatch.IMetric, timeout float64) watch {
	return watch{name: "flat-" + name, says: "Response times of " + of + " are flat just under a timeout: something cuts every call",
		metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression:   jsii.String(fmt.Sprintf("IF(usual >= %g AND slowest - usual <= %g, 1, 0)", (nearTimeout-flatBand)*timeout, flatBand*timeout)),
			UsingMetrics: &map[string]awscloudwatch.IMetric{"usual": usual, "slowest": slowest},
			Period:       duration(alarmPeriod), Label: jsii.String("flat"),
		}), threshold: 1, periods: 2}
}

// flatFunction watches a function's durations.
func flatFunction(f names.Function) watch {
	d := map[string]*string{"FunctionName": jsii.String(names.Prefix + f.Name)}
	return flat(f.Name, f.Name, measure("AWS/Lambda", "Duration", "p50", d), measure("AWS/Lambda", "Duration", "Maximum", d), float64(f.Timeout.Milliseconds()))
}
