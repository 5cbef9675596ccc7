package infra

import (
	"encoding/json"
	"fmt"
	"strings"

	"fastbowlinglab/infra/access"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// functions gives every function of every stack by its name in shared/names.
func functions(t reporter) map[string]resource {
	t.Helper()
	out := map[string]resource{}
	for _, stack := range synth(t) {
		for _, r := range stack.of("AWS::Lambda::Function") {
			out[strings.TrimPrefix(fmt.Sprint(r.Properties["FunctionName"]), names.Prefix)] = r
		}
	}
	return out
}

func checkFunctions(t reporter) {
	all := functions(t)
	if len(all) != len(names.Functions()) {
		t.Errorf("%d functions, want %d: nothing but what shared/names declares", len(all), len(names.Functions()))
	}
	for _, f := range names.Functions() {
		r := all[f.Name]
		check(t, f.Name, r.Properties, fmt.Sprint(f.Timeout.Seconds()), "Timeout")
		check(t, f.Name, r.Properties, fmt.Sprint(f.MemoryMB), "MemorySize")
		check(t, f.Name, r.Properties, `{"Mode":"Active"}`, "TracingConfig")
		vars, _ := at(r.Properties, "Environment", "Variables").(map[string]any)
		if len(vars) != len(f.Env) {
			t.Errorf("%s has %d environment variables, declared are %d", f.Name, len(vars), len(f.Env))
		}
		checkEnvironment(t, f, vars)
		check(t, f.Name, r.Properties, fmt.Sprintf(`"%s"`, names.Prefix+f.Name), "FunctionName")
		check(t, f.Name, r.Properties, fmt.Sprintf(`{"Fn::GetAtt":["%sRole%s","Arn"]}`, logical(f.Name), suffix(r, "Role", logical(f.Name)+"Role")), "Role")
		group := fmt.Sprint(at(r.Properties, "LoggingConfig", "LogGroup", "Ref"))
		for _, stack := range synth(t) {
			if l, ok := stack.Resources[group]; ok && l.Properties["LogGroupName"] == access.LogGroup(f.Name) {
				group = ""
			}
		}
		if group != "" {
			t.Errorf("%s logs to %s, which is not %s", f.Name, group, access.LogGroup(f.Name))
		}
		// Case 58: what the asset was built for is what runs it.
		if f.Package == names.Image {
			check(t, f.Name, r.Properties, `["x86_64"]`, "Architectures")
			check(t, f.Name, r.Properties, `"Image"`, "PackageType")
			check(t, f.Name, r.Properties, `512`, "EphemeralStorage", "Size")
		} else {
			check(t, f.Name, r.Properties, `["arm64"]`, "Architectures")
			check(t, f.Name, r.Properties, `"provided.al2023"`, "Runtime")
			check(t, f.Name, r.Properties, `"bootstrap"`, "Handler")
		}
		if f.VPC {
			for path, n := range map[string]int{"SubnetIds": 2, "SecurityGroupIds": 1} {
				if l, _ := at(r.Properties, "VpcConfig", path).([]any); len(l) != n {
					t.Errorf("%s has %d %s, want %d", f.Name, len(l), path, n)
				}
			}
		}
		if inVPC := r.Properties["VpcConfig"] != nil; inVPC != f.VPC {
			t.Errorf("%s in the network: %t, declared %t", f.Name, inVPC, f.VPC)
		}
	}
}

// checkFigures pins timeouts that people were promised or that others rely on.
func checkFigures(t reporter) {
	all := functions(t)
	for name, seconds := range map[string]string{"api": "28", "findings": "330", "coaching": "330", "precheck": "120", "render": "120", "reconcile": "120"} {
		check(t, name, all[name].Properties, seconds, "Timeout")
	}
}

// checkMachine: a version behind an alias, with a canary, of a definition that
// names versions of functions; neither is ever deleted under a run in flight.
func checkMachine(t reporter) {
	a := synth(t)["Analysis"]
	m := a.Resources["AnalysisMachine"]
	kept(t, "state machine", m)
	source, err := statemachine.Source(statemachine.Analysis)
	if err != nil {
		t.Fatal(err)
	}
	if m.Properties["DefinitionString"] != string(source) {
		t.Error("the definition is not that of package statemachine, byte for byte")
	}
	check(t, "machine", m.Properties, `"fbl-analysis"`, "StateMachineName")
	check(t, "machine", m.Properties, `"STANDARD"`, "StateMachineType")
	check(t, "machine", m.Properties, `{"Enabled":true}`, "TracingConfiguration")
	check(t, "machine", m.Properties, `false`, "LoggingConfiguration", "IncludeExecutionData")
	check(t, "machine", m.Properties, `"ALL"`, "LoggingConfiguration", "Level")

	want, err := statemachine.Placeholders(statemachine.Analysis)
	if err != nil {
		t.Fatal(err)
	}
	subs, _ := m.Properties["DefinitionSubstitutions"].(map[string]any)
	if len(subs) != len(want) {
		t.Errorf("%d substitutions, the definition has %d placeholders", len(subs), len(want))
	}
	for _, p := range want {
		version := a.Resources[fmt.Sprint(at(subs[p], "Ref"))]
		if version.Type != "AWS::Lambda::Version" {
			t.Errorf("%s is %v, want a published version", p, subs[p])
			continue
		}
		kept(t, p, version)
	}
	version := a.Resources["AnalysisVersion"]
	kept(t, "version of the state machine", version)
	check(t, "version", version.Properties, `{"Fn::GetAtt":["AnalysisMachine","StateMachineRevisionId"]}`, "StateMachineRevisionId")

	alias := a.one(t, "AWS::StepFunctions::StateMachineAlias")
	check(t, "alias", alias.Properties, `"live"`, "Name")
	preference, _ := alias.Properties["DeploymentPreference"].(map[string]any)
	check(t, "alias", preference, `"CANARY"`, "Type")
	check(t, "alias", preference, `10`, "Percentage")
	check(t, "alias", preference, `15`, "Interval")
	alarms, _ := preference["Alarms"].([]any)
	if len(alarms) != 3 {
		t.Errorf("%d alarms roll a deploy back, want 3", len(alarms))
	}
	for _, al := range alarms {
		if r := a.Resources[fmt.Sprint(at(al, "Ref"))]; r.Type != "AWS::CloudWatch::Alarm" {
			t.Errorf("%v is no alarm of this stack", al)
		}
	}
	env := fmt.Sprint(at(functions(t)["api"].Properties, "Environment", "Variables", names.EnvStateMachineARN))
	if !strings.Contains(env, "stateMachine:fbl-analysis:live") {
		t.Errorf("the API starts %s, want the alias", env)
	}
}

// checkBatchMachines: backfill and nightly, and when the latter starts.
func checkBatchMachines(t reporter) {
	a := synth(t)["Analysis"]
	if n := len(a.of("AWS::StepFunctions::StateMachine")); n != len(statemachine.Names()) {
		t.Errorf("%d state machines, there are %d definitions", n, len(statemachine.Names()))
	}
	for _, name := range statemachine.Names() {
		id := logical(name) + "Machine"
		m := a.Resources[id]
		kept(t, id, m)
		source, err := statemachine.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		if m.Properties["DefinitionString"] != string(source) {
			t.Errorf("%s: the definition is not that of package statemachine", id)
		}
		check(t, id, m.Properties, fmt.Sprintf(`"%s"`, names.MachineName(name)), "StateMachineName")
		check(t, id, m.Properties, `"STANDARD"`, "StateMachineType")
		check(t, id, m.Properties, `{"Enabled":true}`, "TracingConfiguration")
		check(t, id, m.Properties, `false`, "LoggingConfiguration", "IncludeExecutionData")
		check(t, id, m.Properties, `"ALL"`, "LoggingConfiguration", "Level")
		log := fmt.Sprint(at(m.Properties, "LoggingConfiguration", "Destinations", 0, "CloudWatchLogsLogGroup", "LogGroupArn", "Fn::GetAtt", 0))
		check(t, id, a.Resources[log].Properties, fmt.Sprintf(`"/aws/vendedlogs/states/%s"`, names.MachineName(name)), "LogGroupName")
		check(t, id, a.Resources[logical(name)+"Version"].Properties, fmt.Sprintf(`{"Fn::GetAtt":["%s","Arn"]}`, id), "StateMachineArn")
	}
	s := a.one(t, "AWS::Scheduler::Schedule").Properties
	check(t, "nightly", s, `"cron(0 1 * * ? *)"`, "ScheduleExpression")
	check(t, "nightly", s, `"UTC"`, "ScheduleExpressionTimezone")
	check(t, "nightly", s, `"OFF"`, "FlexibleTimeWindow", "Mode")
	check(t, "nightly", s, `{"MaximumEventAgeInSeconds":21600,"MaximumRetryAttempts":185}`, "Target", "RetryPolicy")
	check(t, "nightly", s, `"{}"`, "Target", "Input")
}

func checkSources(t reporter) {
	a := synth(t)["Analysis"]
	streams := 0
	for _, f := range names.Functions() {
		if f.Stream != nil {
			streams++
		}
	}
	sources := a.of("AWS::Lambda::EventSourceMapping")
	if len(sources) != streams {
		t.Errorf("%d event sources, declared are %d streams", len(sources), streams)
	}
	for id, source := range sources {
		for path, want := range map[string]string{"BatchSize": "10", "BisectBatchOnFunctionError": "true", "MaximumRetryAttempts": "10",
			"MaximumRecordAgeInSeconds": "86400", "FunctionResponseTypes": `["ReportBatchItemFailures"]`, "StartingPosition": `"TRIM_HORIZON"`} {
			check(t, id, source.Properties, want, path)
		}
		if !strings.Contains(fmt.Sprint(at(source.Properties, "DestinationConfig", "OnFailure")), "EventsDead") {
			t.Errorf("%s: records that are given up go nowhere", id)
		}
	}
	rules := map[string]resource{}
	for _, r := range a.of("AWS::Events::Rule") {
		rules[fmt.Sprint(r.Properties["Name"])] = r
		check(t, "rule", r.Properties, `"ENABLED"`, "State")
		check(t, "rule", r.Properties, `{"MaximumEventAgeInSeconds":21600,"MaximumRetryAttempts":2}`, "Targets", 0, "RetryPolicy")
		if !strings.Contains(fmt.Sprint(at(r.Properties, "Targets", 0, "DeadLetterConfig")), "EventsDead") {
			t.Errorf("rule %v: events that are given up go nowhere", r.Properties["Name"])
		}
	}
	for name, rate := range map[string]string{"reconcile": "rate(5 minutes)", "audit": "rate(1 day)", "watch": "rate(1 minute)", "erase": "rate(5 minutes)"} {
		check(t, name, rules["fbl-"+name].Properties, `"`+rate+`"`, "ScheduleExpression")
	}
	invoked := map[string]bool{}
	for id, r := range a.of("AWS::Lambda::EventInvokeConfig") {
		check(t, id, r.Properties, `"$LATEST"`, "Qualifier")
		fn := a.Resources[fmt.Sprint(at(r.Properties, "FunctionName", "Ref"))]
		invoked[strings.TrimPrefix(fmt.Sprint(fn.Properties["FunctionName"]), names.Prefix)] = true
	}
	for _, f := range names.Functions() {
		if asked := f.Every > 0 || f.Ended || f.Topic != ""; asked != invoked[f.Name] {
			t.Errorf("%s: started by events %t, with its retries set %t", f.Name, asked, invoked[f.Name])
		}
	}
	ended := rules["fbl-ended-settle"].Properties
	check(t, "settle", ended, `["aws.states"]`, "EventPattern", "source")
	check(t, "settle", ended, `["Step Functions Execution Status Change"]`, "EventPattern", "detail-type")
	check(t, "settle", ended, `["FAILED","TIMED_OUT","ABORTED"]`, "EventPattern", "detail", "status")
	if arn := fmt.Sprint(at(ended, "EventPattern", "detail", "stateMachineArn", 0)); !strings.HasSuffix(arn, "stateMachine:fbl-analysis]") {
		t.Errorf("the rule listens to %s, want the analysis state machine alone", arn)
	}
	for id, r := range a.of("AWS::Lambda::EventInvokeConfig") {
		check(t, id, r.Properties, "2", "MaximumRetryAttempts")
		check(t, id, r.Properties, "21600", "MaximumEventAgeInSeconds")
	}
}

func checkLogs(t reporter) {
	groups := 0
	for stack, tpl := range synth(t) {
		for id, r := range tpl.of("AWS::Logs::LogGroup") {
			groups++
			want := "90"
			name := fmt.Sprint(r.Properties["LogGroupName"])
			switch stack {
			case "Network":
				want = "7"
			case "PoseFleet":
				check(t, id, r.Properties, `"/ecs/fbl-poseworker"`, "LogGroupName")
			case "API":
				if !strings.HasPrefix(name, "/aws/lambda/") && name != "/aws/apigateway/fbl-api" {
					t.Errorf("a log group of the API is named %s", name)
				}
			}
			check(t, stack+"/"+id, r.Properties, want, "RetentionInDays")
		}
	}
	if want := len(names.Functions()) + 6; groups != want {
		t.Errorf("%d log groups, want one for each function, worker, three machines, API and the network: %d", groups, want)
	}
}

func checkAPI(t reporter) {
	api := synth(t)["API"]
	routes := map[string]resource{}
	for _, r := range api.of("AWS::ApiGatewayV2::Route") {
		routes[fmt.Sprint(r.Properties["RouteKey"])] = r
	}
	if len(routes) != len(names.Routes()) {
		t.Errorf("%d routes, declared are %d", len(routes), len(names.Routes()))
	}
	for _, r := range names.Routes() {
		want := `"JWT"`
		if r.Access == names.AccessPublic {
			want = `"NONE"`
		}
		p := routes[r.Key()].Properties
		check(t, r.Key(), p, want, "AuthorizationType")
		check(t, r.Key(), p, `["",["integrations/",{"Ref":"`+fmt.Sprint(at(p, "Target", "Fn::Join", 1, 1, "Ref"))+`"}]]`, "Target", "Fn::Join")
		served := api.Resources[fmt.Sprint(at(api.Resources[fmt.Sprint(at(p, "Target", "Fn::Join", 1, 1, "Ref"))].Properties, "IntegrationUri", "Fn::GetAtt", 0))]
		check(t, r.Key(), served.Properties, `"`+names.Prefix+r.Function+`"`, "FunctionName")
	}
	for id, r := range api.of("AWS::ApiGatewayV2::Integration") {
		check(t, id, r.Properties, `"2.0"`, "PayloadFormatVersion")
		check(t, id, r.Properties, `"AWS_PROXY"`, "IntegrationType")
		check(t, id, r.Properties, `29000`, "TimeoutInMillis")
	}
	stage := api.one(t, "AWS::ApiGatewayV2::Stage").Properties
	check(t, "stage", stage, `{"DetailedMetricsEnabled":false,"ThrottlingBurstLimit":100,"ThrottlingRateLimit":50}`, "DefaultRouteSettings")
	check(t, "stage", stage, `true`, "AutoDeploy")
	var format map[string]string
	if err := json.Unmarshal([]byte(fmt.Sprint(at(stage, "AccessLogSettings", "Format"))), &format); err != nil {
		t.Fatal(err)
	}
	for field, v := range format {
		for _, private := range []string{"sourceIp", "authorizer.claims", "path", "requestOverride", "identity"} {
			if strings.Contains(v, private) {
				t.Errorf("the access log's %s is %s", field, v)
			}
		}
	}
	cors := api.one(t, "AWS::ApiGatewayV2::Api").Properties
	check(t, "CORS", cors, `3600`, "CorsConfiguration", "MaxAge")
	for path, want := range map[string][]string{"AllowHeaders": names.CORSHeaders, "AllowMethods": names.CORSMethods, "ExposeHeaders": names.CORSExpose} {
		b, _ := json.Marshal(want)
		check(t, "CORS", cors, string(b), "CorsConfiguration", path)
	}
	check(t, "intake", functions(t)["api"].Properties, `"open"`, "Environment", "Variables", names.EnvIntake)
}
