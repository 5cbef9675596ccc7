package infra

import (
	"fmt"
	"sort"
	"strings"

	"fastbowlinglab/infra/access"
	"fastbowlinglab/shared/names"
)

// policies lists every statement of every role and policy, with where it is.
func policies(t reporter) map[string][]map[string]any {
	t.Helper()
	out := map[string][]map[string]any{}
	add := func(where string, doc any) {
		l, _ := at(doc, "Statement").([]any)
		for _, s := range l {
			out[where] = append(out[where], s.(map[string]any))
		}
	}
	for stack, tpl := range synth(t) {
		for id, r := range tpl.of("AWS::IAM::Role") {
			l, _ := r.Properties["Policies"].([]any)
			for _, p := range l {
				add(stack+"/"+id, at(p, "PolicyDocument"))
			}
		}
		for id, r := range tpl.of("AWS::IAM::Policy") {
			add(stack+"/"+id, r.Properties["PolicyDocument"])
		}
	}
	return out
}

func list(v any) []string {
	if l, ok := v.([]any); ok {
		var out []string
		for _, e := range l {
			out = append(out, fmt.Sprint(e))
		}
		return out
	}
	return []string{fmt.Sprint(v)}
}

// noResourceLevel are the actions that AWS lets nobody tie to a resource.
var noResourceLevel = map[string]bool{
	"xray:PutTraceSegments": true, "xray:PutTelemetryRecords": true, "xray:GetSamplingRules": true, "xray:GetSamplingTargets": true,
	"dynamodb:ListStreams": true, "ecr:GetAuthorizationToken": true,
	"logs:CreateLogDelivery": true, "logs:GetLogDelivery": true, "logs:UpdateLogDelivery": true, "logs:DeleteLogDelivery": true,
	"logs:ListLogDeliveries": true, "logs:PutResourcePolicy": true, "logs:DescribeResourcePolicies": true, "logs:DescribeLogGroups": true,
	"ec2:AssignPrivateIpAddresses": true, "ec2:CreateNetworkInterface": true, "ec2:DeleteNetworkInterface": true,
	"ec2:DescribeNetworkInterfaces": true, "ec2:DescribeSubnets": true, "ec2:UnassignPrivateIpAddresses": true,
}

func checkLeastPrivilege(t reporter) {
	all := policies(t)
	if len(all) < len(names.Functions())-1 {
		t.Fatalf("%d policies found", len(all))
	}
	for where, statements := range all {
		for _, s := range statements {
			for _, action := range list(s["Action"]) {
				if strings.Contains(action, "*") {
					t.Errorf("%s: action %s", where, action)
				}
				for _, r := range list(s["Resource"]) {
					if r == "*" && !noResourceLevel[action] {
						t.Errorf("%s: %s on every resource", where, action)
					}
				}
			}
		}
	}
	for stack, tpl := range synth(t) {
		for id, r := range tpl.of("AWS::IAM::Role") {
			if m := r.Properties["ManagedPolicyArns"]; m != nil {
				t.Errorf("%s/%s has managed policies: %v", stack, id, m)
			}
		}
	}
}

// checkOwnRoles: each function has a role of its own with exactly the statements
// of infra/access, and no policy beside it.
func checkOwnRoles(t reporter) {
	all := policies(t)
	roles := map[string]string{}
	for stack, tpl := range synth(t) {
		for _, r := range tpl.of("AWS::Lambda::Function") {
			name := strings.TrimPrefix(fmt.Sprint(r.Properties["FunctionName"]), names.Prefix)
			role := stack + "/" + fmt.Sprint(at(r.Properties, "Role", "Fn::GetAtt", 0))
			if other, taken := roles[role]; taken {
				t.Errorf("%s and %s share role %s", name, other, role)
			}
			roles[role] = name
		}
	}
	for role, name := range roles {
		own, err := access.Of(name)
		if err != nil {
			t.Error(err)
			continue
		}
		want := map[string]string{}
		for _, f := range names.Functions() {
			if f.Name == name {
				for _, s := range append(access.Lambda(f), own...) {
					want[s.Sid] = strings.Join(s.Actions, " ")
				}
			}
		}
		got := map[string]string{}
		for _, s := range all[role] {
			got[fmt.Sprint(s["Sid"])] = strings.Join(list(s["Action"]), " ")
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s may do\n%v\nand should\n%v", name, got, want)
		}
	}
}

// checkSecretsReachFew: only those who sign or verify may read a secret, and none
// of them is in the network.
func checkSecretsReachFew(t reporter) {
	var readers []string
	for where, statements := range policies(t) {
		for _, s := range statements {
			if strings.Contains(fmt.Sprint(s["Action"]), "secretsmanager") {
				readers = append(readers, where[:strings.Index(where, "Role")])
			}
		}
	}
	sort.Strings(readers)
	for _, r := range readers {
		for _, f := range names.Functions() {
			if f.VPC && strings.HasSuffix(r, "/"+logical(f.Name)) {
				t.Errorf("%s is in the network and may read a secret", f.Name)
			}
		}
	}
	if len(readers) == 0 {
		t.Error("nobody may read a secret")
	}
}

// checkMailsOnlyFromUs: who may send mails may do so from one address.
func checkMailsOnlyFromUs(t reporter) {
	senders := 0
	for where, statements := range policies(t) {
		for _, s := range statements {
			if strings.Contains(fmt.Sprint(s["Action"]), "ses:SendEmail") {
				senders++
				check(t, where, s, `{"StringEquals":{"ses:FromAddress":"reports@example.com"}}`, "Condition")
			}
		}
	}
	if senders != 2 {
		t.Errorf("%d roles send mails, want notify's and reconcile's", senders)
	}
}
