package infra

import (
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"fastbowlinglab/infra/access"
)

// variables are the values of what a resource of infra/access refers to, beside
// CloudFormation's own: ${Bucket}, ${CallbackKeys}.
type variables map[string]*string

// sub fills in a text with CloudFormation's pseudo parameters and variables.
func sub(text string, vars variables) *string {
	if !strings.Contains(text, "${") {
		return jsii.String(text)
	}
	used := map[string]*string{}
	for name, value := range vars {
		if strings.Contains(text, "${"+name+"}") {
			used[name] = value
		}
	}
	if len(used) == 0 {
		return awscdk.Fn_Sub(jsii.String(text), nil)
	}
	return awscdk.Fn_Sub(jsii.String(text), &used)
}

// statements turns what a program may do into IAM's form. mailFrom is the only
// sender of mails.
func statements(all []access.Statement, vars variables, mailFrom string) []awsiam.PolicyStatement {
	var out []awsiam.PolicyStatement
	for _, s := range all {
		p := &awsiam.PolicyStatementProps{Sid: jsii.String(s.Sid), Actions: jsii.Strings(s.Actions...)}
		resources := []*string{}
		for _, r := range s.Resources {
			resources = append(resources, sub(r, vars))
		}
		p.Resources = &resources
		if s.Sid == "Mail" {
			p.Conditions = &map[string]any{"StringEquals": map[string]any{"ses:FromAddress": mailFrom}}
		}
		out = append(out, awsiam.NewPolicyStatement(p))
	}
	return out
}

// role makes a role with exactly these statements, as part of the role itself:
// it never exists without them. What the CDK would add is left out.
// Programs that do nothing in AWS have no policy.
func role(scope constructs.Construct, id string, service string, all []access.Statement, vars variables, mailFrom string) awsiam.IRole {
	doc := awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Minimize: jsii.Bool(false)})
	for _, s := range statements(all, vars, mailFrom) {
		doc.AddStatements(s)
	}
	policies := map[string]awsiam.PolicyDocument{}
	if len(all) > 0 {
		policies["Own"] = doc
	}
	r := awsiam.NewRole(scope, jsii.String(id), &awsiam.RoleProps{
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String(service), nil),
		InlinePolicies: &policies,
	})
	explain(r, all)
	return r.WithoutPolicyUpdates(nil)
}

// explain gives cdk-nag the written reason of every wildcard.
func explain(c constructs.IConstruct, all []access.Statement) {
	for _, s := range all {
		if s.Reason == "" {
			continue
		}
		var applies []any
		for _, r := range s.Resources {
			switch {
			case r == "*":
				applies = append(applies, "Resource::*")
			case strings.Contains(r, "*"):
				applies = append(applies, map[string]string{"regex": "/^Resource::.*" + pattern(r) + "/g"})
			}
		}
		suppress(c, "AwsSolutions-IAM5", s.Sid+": "+s.Reason, applies...)
	}
}

// pattern is the part of a resource after its last pseudo parameter, as a
// regular expression of JavaScript's: cdk-nag writes what is before in a way of
// its own.
func pattern(resource string) string {
	tail := resource[strings.LastIndex(resource, "}")+1:]
	return strings.ReplaceAll(regexp.QuoteMeta(tail), "/", `\/`)
}

// suppress states why a rule of cdk-nag does not hold for a construct and what
// is under it.
func suppress(c constructs.IConstruct, id, reason string, applies ...any) {
	s := &cdknag.NagPackSuppression{Id: jsii.String(id), Reason: jsii.String(reason)}
	if len(applies) > 0 {
		s.AppliesTo = &applies
	}
	cdknag.NagSuppressions_AddResourceSuppressions(c, &[]*cdknag.NagPackSuppression{s}, jsii.Bool(true))
}
