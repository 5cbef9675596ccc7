package infra

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"fastbowlinglab/infra/access"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/statemachine"
)

// line writes a statement as one text: what, on what, under which condition.
func line(s map[string]any) string {
	var on []string
	l, ok := s["Resource"].([]any)
	if !ok {
		l = []any{s["Resource"]}
	}
	for _, r := range l {
		on = append(on, plain(r))
	}
	c, _ := json.Marshal(s["Condition"])
	return fmt.Sprintf("%v %s %s on %s if %s", s["Effect"], s["Sid"], strings.Join(list(s["Action"]), " "), strings.Join(on, " "), c)
}

// plain is a value as infra/access writes it: Fn::Sub's text.
func plain(v any) string {
	sub := at(v, "Fn::Sub")
	if l, ok := sub.([]any); ok {
		sub = l[0]
	}
	if sub != nil {
		return fmt.Sprint(sub)
	}
	b, _ := json.Marshal(v)
	return strings.Trim(string(b), `"`)
}

func wanted(all []access.Statement) string {
	var out []string
	for _, s := range all {
		condition := "null"
		if s.Sid == "Mail" {
			condition = `{"StringEquals":{"ses:FromAddress":"reports@example.com"}}`
		}
		out = append(out, fmt.Sprintf("Allow %s %s on %s if %s", s.Sid, strings.Join(s.Actions, " "), strings.Join(s.Resources, " "), condition))
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}

// checkRoles: each role of ours is trusted by one service, and holds exactly the
// statements of infra/access: action, resource and condition.
func checkRoles(t reporter) {
	want := map[string][2]string{} // by role: service, statements
	all := synth(t)
	role := func(stack string, r resource, key, service string, statements []access.Statement) {
		want[stack+"/"+fmt.Sprint(at(r.Properties, key, "Fn::GetAtt", 0))] = [2]string{service, wanted(statements)}
	}
	for stack, tpl := range all {
		for _, r := range tpl.of("AWS::Lambda::Function") {
			for _, f := range names.Functions() {
				if names.Prefix+f.Name == r.Properties["FunctionName"] {
					own, err := access.Of(f.Name)
					if err != nil {
						t.Fatal(err)
					}
					role(stack, r, "Role", "lambda.amazonaws.com", append(access.Lambda(f), own...))
				}
			}
		}
		for _, r := range tpl.of("AWS::ECS::TaskDefinition") {
			own, err := access.Of(names.PoseWorker)
			if err != nil {
				t.Fatal(err)
			}
			role(stack, r, "TaskRoleArn", "ecs-tasks.amazonaws.com", own)
		}
		for _, r := range tpl.of("AWS::StepFunctions::StateMachine") {
			for _, name := range statemachine.Names() {
				if names.MachineName(name) == r.Properties["StateMachineName"] {
					role(stack, r, "RoleArn", "states.amazonaws.com", access.Machine(name))
				}
			}
		}
		for _, r := range tpl.of("AWS::Scheduler::Schedule") {
			want[stack+"/"+fmt.Sprint(at(r.Properties, "Target", "RoleArn", "Fn::GetAtt", 0))] = [2]string{"scheduler.amazonaws.com", wanted(access.Nightly())}
		}
	}
	// Two roles are the CDK's: ECS's, which pulls the image, and the flow log's.
	want["PoseFleet/TaskExecutionRoleEF964934"] = [2]string{"ecs-tasks.amazonaws.com", ""}
	want["Network/VpcRejectedIAMRole136DD74E"] = [2]string{"vpc-flow-logs.amazonaws.com", ""}
	found := 0
	for stack, tpl := range all {
		for id, r := range tpl.of("AWS::IAM::Role") {
			found++
			where := stack + "/" + id
			check(t, where, r.Properties, fmt.Sprintf(`{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"%s"}}],"Version":"2012-10-17"}`, want[where][0]), "AssumeRolePolicyDocument")
			var got []string
			policies, _ := r.Properties["Policies"].([]any)
			for _, p := range policies {
				check(t, where, p, `"2012-10-17"`, "PolicyDocument", "Version")
				check(t, where, p, `"Own"`, "PolicyName")
				statements, _ := at(p, "PolicyDocument", "Statement").([]any)
				for _, s := range statements {
					got = append(got, line(s.(map[string]any)))
				}
			}
			sort.Strings(got)
			if g := strings.Join(got, "\n"); g != want[where][1] {
				t.Errorf("%s holds\n%s\nand should hold\n%s", where, g, want[where][1])
			}
		}
	}
	if found != len(want) {
		t.Errorf("%d roles, want %d", found, len(want))
	}
}

// checkLoosePolicies: the two policies that the CDK writes for its own roles.
func checkLoosePolicies(t reporter) {
	for stack, want := range map[string]string{
		"PoseFleet": `[{"Action":["ecr:BatchCheckLayerAvailability","ecr:GetDownloadUrlForLayer","ecr:BatchGetImage"],"Effect":"Allow","Resource":{"Fn::Join":["",["arn:",{"Ref":"AWS::Partition"},":ecr:",{"Ref":"AWS::Region"},":",{"Ref":"AWS::AccountId"},":repository/",{"Fn::Sub":"cdk-hnb659fds-container-assets-${AWS::AccountId}-${AWS::Region}"}]]}},` +
			`{"Action":"ecr:GetAuthorizationToken","Effect":"Allow","Resource":"*"},{"Action":["logs:CreateLogStream","logs:PutLogEvents"],"Effect":"Allow","Resource":{"Fn::GetAtt":["Log95422804","Arn"]}}]`,
		"Network": `[{"Action":["logs:CreateLogStream","logs:PutLogEvents","logs:DescribeLogStreams"],"Effect":"Allow","Resource":{"Fn::GetAtt":["FlowLog22E63E81","Arn"]}}]`,
	} {
		p := synth(t)[stack].one(t, "AWS::IAM::Policy")
		check(t, stack, p.Properties, want, "PolicyDocument", "Statement")
		check(t, stack, p.Properties, `"2012-10-17"`, "PolicyDocument", "Version")
		check(t, stack, p.Properties, map[string]string{"PoseFleet": `"TaskExecutionRoleDefaultPolicy72339918"`, "Network": `"VpcRejectedIAMRoleDefaultPolicy56BCE5D0"`}[stack], "PolicyName")
		if roles, _ := p.Properties["Roles"].([]any); len(roles) != 1 {
			t.Errorf("%s: its policy is of %v", stack, roles)
		}
	}
}

// checkResourcePolicies: queues, topics and the bucket refuse what comes without
// TLS, and let in a service of AWS only for one source of ours.
func checkResourcePolicies(t reporter) {
	guarded := map[string]bool{}
	for stack, tpl := range synth(t) {
		for kind, of := range map[string]string{"AWS::SQS::QueuePolicy": "Queues", "AWS::SNS::TopicPolicy": "Topics", "AWS::S3::BucketPolicy": "Bucket"} {
			for id, r := range tpl.of(kind) {
				check(t, id, r.Properties, `"2012-10-17"`, "PolicyDocument", "Version")
				target := fmt.Sprint(at(r.Properties, of, "Ref"))
				if of != "Bucket" {
					target = fmt.Sprint(at(r.Properties, of, 0, "Ref"))
				}
				statements, _ := at(r.Properties, "PolicyDocument", "Statement").([]any)
				for _, s := range statements {
					if !strings.Contains(fmt.Sprint(at(s, "Resource")), target) {
						t.Errorf("%s/%s: a statement is on %v", stack, id, at(s, "Resource"))
					}
					condition, _ := json.Marshal(at(s, "Condition"))
					switch action := fmt.Sprint(at(s, "Action")); {
					case at(s, "Effect") == "Deny":
						everybody := at(s, "Principal") == "*" || at(s, "Principal", "AWS") == "*"
						if everybody && string(condition) == `{"Bool":{"aws:SecureTransport":"false"}}` && (action == "sqs:*" || action == "sns:Publish" || action == "s3:*") {
							guarded[stack+"/"+target] = true
						} else if !everybody || string(condition) != `{"NumericLessThan":{"s3:TlsVersion":1.2}}` || action != "s3:*" {
							t.Errorf("%s/%s: %v", stack, id, s)
						}
						if of == "Bucket" {
							arn := `{"Fn::GetAtt":["` + target + `","Arn"]}`
							check(t, id, s, `[`+arn+`,{"Fn::Join":["",[`+arn+`,"/*"]]}]`, "Resource")
						}
					case at(s, "Effect") == "Allow":
						source, of := at(s, "Condition", "ArnEquals", "aws:SourceArn"), at(s, "Principal", "Service")
						service := map[any]string{"events.amazonaws.com": "sqs:SendMessage", "sns.amazonaws.com": "sqs:SendMessage"}[of]
						if of == "ses.amazonaws.com" {
							service = "sns:Publish"
							source = at(s, "Condition", "StringEquals", "AWS:SourceArn")
							check(t, id, s, `{"Ref":"AWS::AccountId"}`, "Condition", "StringEquals", "AWS:SourceAccount")
							check(t, id, s, `["",["arn:",{"Ref":"AWS::Partition"},":ses:",{"Ref":"AWS::Region"},":",{"Ref":"AWS::AccountId"},":configuration-set/",{"Ref":"Mails0DC70ADE"}]]`,
								"Condition", "StringEquals", "AWS:SourceArn", "Fn::Join")
						}
						if service == "" || action != service || source == nil {
							t.Errorf("%s/%s: %v may %s from %v", stack, id, of, action, source)
						}
					default:
						t.Errorf("%s/%s: %v", stack, id, at(s, "Effect"))
					}
				}
			}
		}
	}
	for stack, tpl := range synth(t) {
		for _, kind := range []string{"AWS::SQS::Queue", "AWS::SNS::Topic", "AWS::S3::Bucket"} {
			for id := range tpl.of(kind) {
				if !guarded[stack+"/"+id] {
					t.Errorf("%s/%s takes what comes without TLS", stack, id)
				}
			}
		}
	}
	// Each rule and topic may leave in the dead letters what it gives up.
	a := synth(t)["Analysis"]
	if mails := fmt.Sprint(a.one(t, "AWS::SNS::TopicPolicy").Properties); !strings.Contains(mails, "ses.amazonaws.com") {
		t.Error("SES may not tell of bounces and complaints")
	}
	allowed := fmt.Sprint(a.one(t, "AWS::SQS::QueuePolicy").Properties)
	for _, kind := range []string{"AWS::Events::Rule", "AWS::SNS::Topic"} {
		for id := range a.of(kind) {
			if !strings.Contains(allowed, id) {
				t.Errorf("%s may not leave what it gives up in the dead letters", id)
			}
		}
	}
}

// checkPermissions: what starts a function by itself is allowed to, and nothing
// else is.
func checkPermissions(t reporter) {
	for _, stack := range []string{"API", "Analysis"} {
		tpl := synth(t)[stack]
		got := map[string]bool{}
		for id, p := range tpl.of("AWS::Lambda::Permission") {
			check(t, id, p.Properties, `"lambda:InvokeFunction"`, "Action")
			fn := tpl.Resources[fmt.Sprint(at(p.Properties, "FunctionName", "Fn::GetAtt", 0))]
			source := plain(at(p.Properties, "SourceArn"))
			if strings.Contains(source, "execute-api") {
				check(t, id, p.Properties, `["",["arn:",{"Ref":"AWS::Partition"},":execute-api:",{"Ref":"AWS::Region"},":",{"Ref":"AWS::AccountId"},":",{"Ref":"Http36EFD62B"},"/*/*/*"]]`, "SourceArn", "Fn::Join")
			}
			for _, kind := range []string{"AWS::Events::Rule", "AWS::SNS::Topic", "AWS::ApiGatewayV2::Api"} {
				for id := range tpl.of(kind) {
					if strings.Contains(source, `"`+id+`"`) {
						source = kind
					}
				}
			}
			got[fmt.Sprintf("%v by %v from %s", fn.Properties["FunctionName"], p.Properties["Principal"], source)] = true
		}
		want := map[string]bool{}
		for _, f := range names.Functions() {
			name := names.Prefix + f.Name
			if behindRoute(f.Name) != (stack == "API") {
				continue
			}
			if behindRoute(f.Name) {
				want[name+" by apigateway.amazonaws.com from AWS::ApiGatewayV2::Api"] = true
			}
			if f.Every > 0 || f.Ended {
				want[name+" by events.amazonaws.com from AWS::Events::Rule"] = true
			}
			if f.Topic != "" {
				want[name+" by sns.amazonaws.com from AWS::SNS::Topic"] = true
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: allowed are\n%v\nand should be\n%v", stack, got, want)
		}
	}
}
