package cost

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fastbowlinglab/shared/names"
)

// Sizes that no template tells.
const (
	imageGB      = 0.2 // two images as stored (make image), and what a deploy before left; they share their layers
	scheduleWork = 1.0 // seconds of a scheduled function's idle call
	idleMetrics  = 8   // own metrics written while nothing happens: 2 of the reconciler, 4 of the watcher, 2 of the audit
	idleLogsGB   = 0.05
	tableGB      = 0.1
)

// Idle is a month in which nobody submits anything.
func Idle(p Prices, all []Resource) []Item {
	items := []Item{
		{fmt.Sprintf("load balancers: %.0f", count(all, "AWS::ElasticLoadBalancingV2::LoadBalancer")), count(all, "AWS::ElasticLoadBalancingV2::LoadBalancer") * p.of("alb_hour") * p.Hours},
		{fmt.Sprintf("NAT gateways: %.0f", count(all, "AWS::EC2::NatGateway")), count(all, "AWS::EC2::NatGateway") * p.of("nat_hour") * p.Hours},
	}
	endpoints := 0.0
	for _, r := range all {
		if r.Type == "AWS::EC2::VPCEndpoint" && r.Properties["VpcEndpointType"] == "Interface" {
			endpoints++
		}
	}
	items = append(items, Item{fmt.Sprintf("interface endpoints: %.0f", endpoints), endpoints * p.of("endpoint_hour") * p.Hours})
	metrics := alarmMetrics(all)
	items = append(items,
		Item{fmt.Sprintf("metrics under alarm: %.0f", metrics), metrics * p.of("alarm_metric_month")},
		Item{fmt.Sprintf("dashboards: %.0f", count(all, "AWS::CloudWatch::Dashboard")), count(all, "AWS::CloudWatch::Dashboard") * p.of("dashboard_month")},
		Item{fmt.Sprintf("own metrics while idle: %d", idleMetrics), idleMetrics * p.of("custom_metric_month")},
		Item{fmt.Sprintf("secrets: %.0f", count(all, "AWS::SecretsManager::Secret")), count(all, "AWS::SecretsManager::Secret") * p.of("secret_month")},
		Item{fmt.Sprintf("images: %.1f GB", imageGB), imageGB * p.of("ecr_gb_month")},
		Item{"scheduled functions", schedules(p)},
		Item{fmt.Sprintf("logs and tables: %.2f GB", idleLogsGB+tableGB), idleLogsGB*p.of("logs_gb") + tableGB*p.of("dynamodb_gb_month")},
	)
	return items
}

// alarmMetrics counts the metrics that alarms evaluate; each is charged.
func alarmMetrics(all []Resource) float64 {
	n := 0.0
	for _, r := range all {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		list, ok := r.Properties["Metrics"].([]any)
		if !ok {
			n++
			continue
		}
		for _, m := range list {
			if m.(map[string]any)["MetricStat"] != nil {
				n++
			}
		}
	}
	return n
}

func schedules(p Prices) float64 {
	usd := 0.0
	for _, f := range names.Functions() {
		if f.Every > 0 {
			calls := p.Hours * 3600 / f.Every.Seconds()
			usd += calls * (p.of("lambda_request") + scheduleWork*float64(f.MemoryMB)/1024*p.of("lambda_arm_gb_second") + 4*p.of("dynamodb_read"))
		}
	}
	return usd
}

// Analysis is one analysis, on an otherwise idle system.
func Analysis(p Prices, u Profile, all []Resource) ([]Item, error) {
	lambda, err := lambdas(p, u, all)
	if err != nil {
		return nil, err
	}
	worker, idle, err := workers(p, u, all)
	if err != nil {
		return nil, err
	}
	return []Item{
		{fmt.Sprintf("state transitions: %.0f", u.Transitions), u.Transitions * p.of("states_transition")},
		{"functions", lambda},
		{fmt.Sprintf("worker at work: %.0f s", u.Worker), worker},
		{fmt.Sprintf("worker until it is stopped: %.0f s", u.WorkerIdle), idle},
		{fmt.Sprintf("API requests: %.0f", u.APIRequests), u.APIRequests * p.of("http_api_request")},
		{"tables", u.Writes*p.of("dynamodb_write") + u.Reads*p.of("dynamodb_read")},
		{"objects", u.Puts*p.of("s3_put") + u.Gets*p.of("s3_get") + u.StoredGB*p.of("s3_gb_month")},
		{"queue, mail, logs, traces", u.QueueRequests*p.of("sqs_request") + u.Mails*p.of("ses_mail") + u.LogsGB*p.of("logs_gb") + float64(len(u.Lambda))*p.of("xray_trace")},
		{"model calls (the shipped settings make none outside)", u.Models},
	}, nil
}

func lambdas(p Prices, u Profile, all []Resource) (float64, error) {
	usd := 0.0
	for _, name := range slices.Sorted(maps.Keys(u.Lambda)) {
		found := false
		for _, r := range all {
			if r.Type != "AWS::Lambda::Function" || r.Properties["FunctionName"] != names.Prefix+name {
				continue
			}
			found = true
			price := "lambda_arm_gb_second"
			if strings.Contains(fmt.Sprint(r.Properties["Architectures"]), "x86") {
				price = "lambda_x86_gb_second"
			}
			usd += p.of("lambda_request") + u.Lambda[name]*number(r.Properties["MemorySize"])/1024*p.of(price)
		}
		if !found {
			return 0, fmt.Errorf("profile.json: function %s is in no template", name)
		}
	}
	return usd, nil
}

func workers(p Prices, u Profile, all []Resource) (work, idle float64, err error) {
	for _, r := range all {
		if r.Type == "AWS::ECS::TaskDefinition" {
			hour := number(r.Properties["Cpu"])/1024*p.of("fargate_vcpu_hour") + number(r.Properties["Memory"])/1024*p.of("fargate_gb_hour") + p.of("public_ipv4_hour")
			return u.Worker / 3600 * hour, u.WorkerIdle / 3600 * hour, nil
		}
	}
	return 0, 0, fmt.Errorf("no task definition in the templates")
}
