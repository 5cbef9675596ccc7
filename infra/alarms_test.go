package infra

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"fastbowlinglab/shared/names"
)

func alarms(t *testing.T) map[string]resource {
	t.Helper()
	out := map[string]resource{}
	for _, stack := range synth(t) {
		for _, r := range stack.of("AWS::CloudWatch::Alarm") {
			out[strings.TrimPrefix(fmt.Sprint(r.Properties["AlarmName"]), names.Prefix)] = r
		}
	}
	return out
}

// TestAlarm504 is mission A3, and case 53: the alarm that can fire.
func TestAlarm504(t *testing.T) {
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

// TestAlarms: metric, threshold, periods and missing data of each.
func TestAlarms(t *testing.T) {
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
		"model-unavailable":    "FastBowlingLab ModelUnavailable Sum 300 >= 1 1 notBreaching",
		"api-errors":           "AWS/ApiGateway 5xx Sum 300 >= 5 1 notBreaching",
		"stream-age-notify":    "AWS/Lambda IteratorAge Maximum 300 >= 900000 1 notBreaching",
		"flat-balancer":        "IF(usual >= 765 AND slowest - usual <= 45, 1, 0) >= 1 2 notBreaching",
		"flat-findings":        "IF(usual >= 280500 AND slowest - usual <= 16500, 1, 0) >= 1 2 notBreaching",
		"flat-coaching":        "IF(usual >= 280500 AND slowest - usual <= 16500, 1, 0) >= 1 2 notBreaching",
		"near-timeout-api":     "AWS/Lambda Duration Maximum 300 >= 25200 1 notBreaching",
	}
	for name, w := range want {
		if got := describe(all[name].Properties); got != w {
			t.Errorf("%s: %s\nwant %s", name, got, w)
		}
	}
	for _, f := range names.Functions() {
		if _, ok := all["near-timeout-"+f.Name]; !ok {
			t.Errorf("no alarm on the duration of %s", f.Name)
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

// TestAlarmsReachSomebody: every alarm has the topic as its action, and a
// paragraph in the runbook.
func TestAlarmsReachSomebody(t *testing.T) {
	runbook, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range alarms(t) {
		actions, _ := r.Properties["AlarmActions"].([]any)
		if len(actions) != 1 || !strings.Contains(fmt.Sprint(actions[0]), "Alarms") {
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
	check(t, "subscription", synth(t)["Data"].one(t, "AWS::SNS::Subscription").Properties, `"ops@example.com"`, "Endpoint")
	if n := len(synth(t)["Observability"].of("AWS::CloudWatch::Dashboard")); n != 1 {
		t.Errorf("%d dashboards, want 1", n)
	}
}
