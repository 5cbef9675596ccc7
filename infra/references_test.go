package infra

import (
	"fmt"
	"regexp"
	"strings"
)

// attributes are what Fn::GetAtt is used for.
var attributes = map[string]bool{"Arn": true, "StreamArn": true, "GroupId": true, "ApiEndpoint": true, "ProviderURL": true, "RootResourceId": true,
	"DNSName": true, "LoadBalancerFullName": true, "LoadBalancerArn": true, "StateMachineRevisionId": true, "DefaultSecurityGroup": true,
	"Name": true, "TargetGroupFullName": true, "RegionalDomainName": true, "ServiceArn": true, "TopicArn": true, "RepositoryUri": true}

var subVariable = regexp.MustCompile(`\$\{([^}]+)\}`)

// checkReferences: every reference leads to something, in its own stack or by an
// export of another.
func checkReferences(t reporter) {
	all := synth(t)
	exports := map[string]bool{}
	for _, tpl := range all {
		for _, o := range tpl.Outputs {
			if name := at(o, "Export", "Name"); name != nil {
				exports[fmt.Sprint(name)] = true
			}
		}
	}
	for stack, tpl := range all {
		known := func(id string) bool {
			_, ok := tpl.Resources[id]
			return ok || strings.HasPrefix(id, "AWS::") && pseudo[id]
		}
		for id, r := range tpl.Resources {
			walk(r.Properties, func(kind string, v any) {
				bad := false
				switch kind {
				case "Ref":
					bad = !known(fmt.Sprint(v))
				case "Fn::GetAtt":
					l, _ := v.([]any)
					bad = len(l) != 2 || !known(fmt.Sprint(l[0])) || !attributes[fmt.Sprint(l[1])]
				case "Fn::ImportValue":
					bad = !exports[fmt.Sprint(v)]
				case "Fn::Join":
					l, _ := v.([]any)
					_, list := at(v, 1).([]any)
					bad = len(l) != 2 || l[0] != "" || !list
				case "Fn::Sub":
					bad = !substituted(v, known)
				}
				if bad {
					t.Errorf("%s/%s: %s %v leads nowhere", stack, id, kind, v)
				}
			})
		}
	}
}

var pseudo = map[string]bool{"AWS::Region": true, "AWS::AccountId": true, "AWS::Partition": true, "AWS::URLSuffix": true, "AWS::StackId": true, "AWS::StackName": true, "AWS::NoValue": true}

// substituted tells whether each variable of an Fn::Sub has a value, and each
// value a variable.
func substituted(v any, known func(string) bool) bool {
	text, values := fmt.Sprint(v), map[string]any{}
	if l, ok := v.([]any); ok {
		if len(l) != 2 {
			return false
		}
		text = fmt.Sprint(l[0])
		values, _ = l[1].(map[string]any)
	}
	used := 0
	for _, m := range subVariable.FindAllStringSubmatch(text, -1) {
		if _, own := values[m[1]]; own {
			used++
		} else if !known(m[1]) {
			return false
		}
	}
	return used >= len(values)
}

// walk calls see for each key of each object under v.
func walk(v any, see func(key string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for k, in := range v {
			see(k, in)
			walk(in, see)
		}
	case []any:
		for _, in := range v {
			walk(in, see)
		}
	}
}

// retained are the types of what outlives its stack: what people entrusted to
// us, what runs in flight still use, and what an investigation needs.
var retained = map[string]bool{"AWS::DynamoDB::Table": true, "AWS::S3::Bucket": true, "AWS::Cognito::UserPool": true, "AWS::SecretsManager::Secret": true,
	"AWS::StepFunctions::StateMachine": true, "AWS::StepFunctions::StateMachineVersion": true, "AWS::Lambda::Version": true, "AWS::Logs::LogGroup": true}

// checkRemoval: nothing else does, so that a stack can be made again.
func checkRemoval(t reporter) {
	for stack, tpl := range synth(t) {
		for id, r := range tpl.Resources {
			keep := retained[r.Type] && (r.Type != "AWS::Logs::LogGroup" || stack == "API" || stack == "Analysis")
			if keep {
				kept(t, stack+"/"+id, r)
			} else if r.DeletionPolicy == "Retain" || r.UpdateReplacePolicy == "Retain" {
				t.Errorf("%s/%s, %s, outlives its stack", stack, id, r.Type)
			}
		}
	}
}
