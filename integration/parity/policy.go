package parity

import (
	"fmt"
	"regexp"
	"strings"

	"fastbowlinglab/shared/names"
)

// Policy is what a role allows. Conditions are left out: none of ours can be
// seen in a request to the embedded cloud.
type Policy []statement

type statement struct {
	actions   map[string]bool
	resources []*regexp.Regexp
}

// Allows reports whether an action on a resource, by its ARN, is allowed.
func (p Policy) Allows(action, arn string) bool {
	for _, s := range p {
		if !s.actions[action] {
			continue
		}
		for _, r := range s.resources {
			if r.MatchString(arn) {
				return true
			}
		}
	}
	return false
}

// Policies gives the policy of every program by its name: functions by their
// roles, and the pose worker's task role.
func (t Templates) Policies() map[string]Policy {
	out := map[string]Policy{}
	for at, f := range t.Of("AWS::Lambda::Function") {
		stack, _, _ := strings.Cut(at, "/")
		role, _, _ := strings.Cut(Text(f.Properties["Role"]), ".")
		out[strings.TrimPrefix(Text(f.Properties["FunctionName"]), names.Prefix)] = t.role(stack, role)
	}
	for at, task := range t.Of("AWS::ECS::TaskDefinition") {
		stack, _, _ := strings.Cut(at, "/")
		role, _, _ := strings.Cut(Text(task.Properties["TaskRoleArn"]), ".")
		out[names.PoseWorker] = t.role(stack, role)
	}
	return out
}

func (t Templates) role(stack, id string) Policy {
	var p Policy
	policies, _ := t[stack][id].Properties["Policies"].([]any)
	for _, doc := range policies {
		m := doc.(map[string]any)["PolicyDocument"].(map[string]any)
		for _, s := range list(m["Statement"]) {
			p = append(p, parse(s.(map[string]any)))
		}
	}
	return p
}

func parse(s map[string]any) statement {
	out := statement{actions: map[string]bool{}}
	for _, a := range list(s["Action"]) {
		out.actions[fmt.Sprint(a)] = true
	}
	for _, r := range list(s["Resource"]) {
		arn := Text(r)
		if strings.HasPrefix(arn, "arn:aws:s3:::") { // the bucket's own name is known to AWS alone
			_, key, slash := strings.Cut(strings.TrimPrefix(arn, "arn:aws:s3:::"), "/")
			if arn = "arn:aws:s3:::" + names.Bucket; slash {
				arn += "/" + key
			}
		}
		pattern := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(arn))
		out.resources = append(out.resources, regexp.MustCompile("^"+pattern+"$"))
	}
	return out
}

func list(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}
