package infra

import (
	"fmt"
	"os"
	"strings"

	"fastbowlinglab/shared/names"
)

func alarms(t reporter) map[string]resource {
	t.Helper()
	out := map[string]resource{}
	for _, stack := range synth(t) {
		for _, r := range stack.of("AWS::CloudWatch::Alarm") {
			out[strings.TrimPrefix(fmt.Sprint(r.Properties["AlarmName"]), names.Prefix)] = r
		}
	}
	return out
}

// checkAlarm504 is mission A3, and case 53: the alarm that can fire.
func checkAlarm504(t reporter) {
	a := alarms(t)["elb-504"].Properties
	for path, want := range map[string]string{"Namespace": `"AWS/ApplicationELB"`, "MetricName": `"HTTPCode_ELB_504_Count"`, "Statistic": `"Sum"`,
		"Period": "300", "Threshold": "1", "ComparisonOperator": `"GreaterThanOrEqualToThreshold"`, "EvaluationPeriods": "1",
		"DatapointsToAlarm": "1", "TreatMissingData": `"notBreaching"`} {
		check(t, "elb-504", a, want, path)
	}
	dimensions, _ := a["Dimensions"].([]any)
	if len(dimensions) != 1 || at(dimensions, 0, "Name") != "LoadBalancer" || !strings.Contains(fmt.Sprint(at(dimensions, 0, "Value")), "LoadBalancerFullName") {
		t.Errorf("dimensions %v, want LoadBalancer alone", dimensions)
	}
}

// checkAlarms: metric, threshold, periods and missing data of each.
func checkAlarms(t reporter) {
	all := alarms(t)
	want := map[string]string{
		"elb-504":              "AWS/ApplicationELB HTTPCode_ELB_504_Count Sum 300 >= 1 1 notBreaching",
		"duplicate-run":        "FastBowlingLab DuplicateRun Sum 300 >= 1 1 notBreaching",
		"executions-failed":    "AWS/States ExecutionsFailed Sum 300 >= 1 1 notBreaching",
		"executions-timed-out": "AWS/States ExecutionsTimedOut Sum 300 >= 1 1 notBreaching",
		"executions-aborted":   "AWS/States ExecutionsAborted Sum 300 >= 1 1 notBreaching",
		"oldest-open":          "FastBowlingLab OldestOpenSeconds Maximum 300 >= 3600 1 notBreaching",
		"oldest-message":       "AWS/SQS ApproximateAgeOfOldestMessage Maximum 300 >= 1800 1 notBreaching",
		"pose-dead-letters":    "AWS/SQS ApproximateNumberOfMessagesVisible Maximum 300 >= 1 1 notBreaching",
		"event-dead-letters":   "AWS/SQS ApproximateNumberOfMessagesVisible Maximum 300 >= 1 1 notBreaching",
		"notice-unknown":       "FastBowlingLab NoticeUnknown Sum 300 >= 1 1 notBreaching",
		"notice-refused":       "FastBowlingLab NoticeRefused Sum 300 >= 1 1 notBreaching",
		"effect-unknown":       "FastBowlingLab EffectUnknown Sum 300 >= 1 1 notBreaching",
		"audit-violations":     "FastBowlingLab AuditViolations Sum 300 >= 1 1 notBreaching",
		"reconciler-silent":    "FastBowlingLab Reconciled Sum 300 < 1 3 breaching",
		"reconciler-failing":   "FastBowlingLab ReconcileFailed Sum 300 >= 1 3 notBreaching",
		"batch-no-progress":    "FastBowlingLab SecondsSinceProgress Maximum 300 >= 300 1 breaching",
		"tags-mismatch":        "FastBowlingLab TagsMismatch Sum 300 >= 1 1 notBreaching",
		"nightly-failed":       "AWS/States ExecutionsFailed Sum 300 >= 1 1 notBreaching",
		"payment-refused":      "FastBowlingLab PaymentRefused Sum 300 >= 1 1 notBreaching",
		"tags-failed":          "FastBowlingLab TagsFailed Sum 300 >= 1 1 notBreaching",
		"model-unavailable":    "FastBowlingLab ModelUnavailable Sum 300 >= 1 1 notBreaching",
		"price-missing":        "FastBowlingLab PriceMissing Sum 300 >= 1 1 notBreaching",
		"api-errors":           "AWS/ApiGateway 5xx Sum 300 >= 5 1 notBreaching",
		"stream-age-notify":    "AWS/Lambda IteratorAge Maximum 300 >= 900000 1 notBreaching",
		"flat-balancer":        "IF(usual >= 765 AND slowest - usual <= 45, 1, 0) >= 1 2 notBreaching",
		"flat-findings":        "IF(usual >= 280500 AND slowest - usual <= 16500, 1, 0) >= 1 2 notBreaching",
		"flat-coaching":        "IF(usual >= 280500 AND slowest - usual <= 16500, 1, 0) >= 1 2 notBreaching",
		"near-timeout-api":     "AWS/Lambda Duration Maximum 300 >= 25200 1 notBreaching",
	}
	flat := func(ms float64) string {
		return fmt.Sprintf("IF(usual >= %g AND slowest - usual <= %g, 1, 0) >= 1 2 notBreaching", 0.85*ms, 0.05*ms)
	}
	for _, f := range names.Functions() {
		ms := f.Timeout.Seconds() * 1000
		want["near-timeout-"+f.Name] = fmt.Sprintf("AWS/Lambda Duration Maximum 300 >= %v 1 notBreaching", 0.9*ms)
		if f.Stream != nil {
			want["stream-age-"+f.Name] = "AWS/Lambda IteratorAge Maximum 300 >= 900000 1 notBreaching"
		}
	}
	for name, ms := range map[string]float64{"api": 28e3, "precheck": 120e3, "findings": 330e3, "coaching": 330e3, "notify": 60e3} {
		want["flat-"+name] = flat(ms)
	}
	for name, w := range want {
		if got := describe(all[name].Properties); got != w {
			t.Errorf("%s: %s\nwant %s", name, got, w)
		}
	}
	for name, r := range all {
		if _, ok := want[name]; !ok {
			t.Errorf("alarm %s is not listed here", name)
		}
		check(t, name, r.Properties, fmt.Sprint(r.Properties["EvaluationPeriods"]), "DatapointsToAlarm")
		checkMetric(t, name, r.Properties)
		text := fmt.Sprint(r.Properties["AlarmDescription"])
		if !strings.HasSuffix(text, "Runbook: infra/README.md, "+names.Prefix+name) {
			t.Errorf("%s: its mail says %q, and does not end with its heading in the runbook", name, text)
		}
	}
}

// checkMetric: an alarm's metric has the dimensions by which its namespace keeps
// it; with others it would never have a value.
func checkMetric(t reporter, name string, a map[string]any) {
	type metric = map[string]any
	metrics := []metric{a}
	if l, ok := a["Metrics"].([]any); ok {
		metrics = nil
		ids := ""
		for _, m := range l {
			ids += fmt.Sprintf("%v %v;", at(m, "Id"), at(m, "ReturnData"))
			if stat, ok := at(m, "MetricStat").(metric); ok {
				one := stat["Metric"].(metric)
				metrics = append(metrics, one)
				check(t, name, stat, "300", "Period")
				check(t, name, stat, map[any]string{"usual": `"p50"`, "slowest": `"Maximum"`}[at(m, "Id")], "Stat")
				want := map[any]string{"AWS/Lambda": `"Duration"`, "AWS/ApplicationELB": `"TargetResponseTime"`}[one["Namespace"]]
				check(t, name, one, want, "MetricName")
			}
		}
		if ids != "expr_1 true;slowest false;usual false;" {
			t.Errorf("%s: its metrics are %s", name, ids)
		}
	}
	for _, m := range metrics {
		want := map[any]string{"AWS/Lambda": "FunctionName", "AWS/States": "StateMachineArn", "AWS/SQS": "QueueName", "AWS/ApiGateway": "ApiId",
			"AWS/ApplicationELB": "LoadBalancer", "FastBowlingLab": ""}
		dimension, known := want[m["Namespace"]]
		dimensions, _ := m["Dimensions"].([]any)
		if !known || dimension == "" && len(dimensions) > 0 || dimension != "" && (len(dimensions) != 1 || at(dimensions, 0, "Name") != dimension) {
			t.Errorf("%s: %v by %v", name, m["Namespace"], dimensions)
			continue
		}
		switch value := at(dimensions, 0, "Value"); dimension {
		case "FunctionName":
			of := name[strings.LastIndex(name, "-")+1:]
			if value != names.Prefix+of {
				t.Errorf("%s watches %v", name, value)
			}
		case "QueueName":
			of := map[string]string{"oldest-message": names.PoseQueue.Name, "pose-dead-letters": names.PoseQueue.DeadLetter, "event-dead-letters": names.EventsDead}
			if value != of[name] {
				t.Errorf("%s watches %v", name, value)
			}
		case "StateMachineArn":
			of := "AnalysisMachine"
			if name == "nightly-failed" {
				of = "NightlyMachine"
			}
			if !strings.Contains(fmt.Sprint(value), of) {
				t.Errorf("%s watches %v", name, value)
			}
		}
	}
}

func describe(p map[string]any) string {
	what := fmt.Sprintf("%v %v %v %v", p["Namespace"], p["MetricName"], p["Statistic"], p["Period"])
	if l, ok := p["Metrics"].([]any); ok {
		for _, m := range l {
			if e := at(m, "Expression"); e != nil {
				what = fmt.Sprint(e)
			}
		}
	}
	op := map[string]string{"GreaterThanOrEqualToThreshold": ">=", "LessThanThreshold": "<"}[fmt.Sprint(p["ComparisonOperator"])]
	return fmt.Sprintf("%s %s %v %v %v", what, op, p["Threshold"], p["EvaluationPeriods"], p["TreatMissingData"])
}

// checkAlarmsReachSomebody: every alarm has the topic as its action, and a
// paragraph in the runbook.
func checkAlarmsReachSomebody(t reporter) {
	runbook, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range alarms(t) {
		actions, _ := r.Properties["AlarmActions"].([]any)
		if len(actions) != 1 || !strings.HasPrefix(fmt.Sprint(at(actions, 0, "Fn::ImportValue")), "FastBowlingLab-Data:ExportsOutputRefAlarms") {
			t.Errorf("%s: actions %v, want the topic", name, actions)
		}
		if r.Properties["ActionsEnabled"] == false {
			t.Errorf("%s: its actions are off", name)
		}
		heading := names.Prefix + name
		for _, family := range []string{"near-timeout-", "flat-", "stream-age-"} {
			if strings.HasPrefix(name, family) {
				heading = names.Prefix + family
			}
		}
		if !strings.Contains(string(runbook), "**`"+heading) {
			t.Errorf("the runbook has no paragraph on %s", heading)
		}
	}
	topics := synth(t)["Data"].of("AWS::SNS::Topic")
	if len(topics) != 2 { // alarms and push
		t.Errorf("%d topics in the data stack, want 2", len(topics))
	}
	subscription := synth(t)["Data"].one(t, "AWS::SNS::Subscription").Properties
	check(t, "subscription", subscription, `"ops@example.com"`, "Endpoint")
	check(t, "subscription", subscription, `"email"`, "Protocol")
	check(t, "subscription", subscription, `{"Ref":"Alarms04B5A0BF"}`, "TopicArn")
	if n := len(synth(t)["Observability"].of("AWS::CloudWatch::Dashboard")); n != 1 {
		t.Errorf("%d dashboards, want 1", n)
	}
}
