package infra

import (
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// reviewed are the types of resources whose every setting is listed in
// testdata/settings.txt, one a line, as somebody read and agreed to it: network,
// fleet, balancer, users, bucket, mails. A change shows there as a line of the
// diff; the checks beside this one say why the figures among them are as they are.
var reviewed = []string{"AWS::EC2::", "AWS::ECS::", "AWS::ElasticLoadBalancingV2::", "AWS::Cognito::", "AWS::S3::Bucket", "AWS::SES::",
	"AWS::SecretsManager::", "AWS::Scheduler::", "AWS::SQS::Queue", "AWS::SNS::Topic", "AWS::SNS::Subscription",
	"AWS::ApiGatewayV2::Stage", "AWS::ApiGatewayV2::Authorizer", "AWS::ApiGatewayV2::Api", "AWS::StepFunctions::StateMachineAlias"}

//go:embed testdata/settings.txt
var settingsFile string

var review = flag.Bool("review", false, "write testdata/settings.txt anew, for a person to read its diff")

func settings(all map[string]template) string {
	var out strings.Builder
	for _, stack := range slices.Sorted(maps.Keys(all)) {
		for _, id := range slices.Sorted(maps.Keys(all[stack].Resources)) {
			r := all[stack].Resources[id]
			if strings.HasSuffix(r.Type, "Policy") || !slices.ContainsFunc(reviewed, func(p string) bool { return strings.HasPrefix(r.Type, p) }) {
				continue
			}
			fmt.Fprintf(&out, "%s/%s %s\n", stack, id, r.Type)
			leaves(r.Properties, "", &out)
		}
	}
	return out.String()
}

// leaves writes one line for each value. What a build decides (hashes of assets)
// and who is told the same elsewhere (environment) are left out.
func leaves(v any, path string, out *strings.Builder) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if k != "Tags" && path+"."+k != ".ContainerDefinitions.0.Image" && path+"."+k != ".ContainerDefinitions.0.Environment" {
				leaves(v[k], path+"."+k, out)
			}
		}
	case []any:
		for i, e := range v {
			leaves(e, fmt.Sprintf("%s.%d", path, i), out)
		}
	default:
		fmt.Fprintf(out, "  %s = %v\n", strings.TrimPrefix(path, "."), v)
	}
}

func checkSettings(t reporter) {
	now, then := strings.Split(settings(synth(t)), "\n"), strings.Split(settingsFile, "\n")
	for i := range max(len(now), len(then)) {
		switch {
		case i >= len(now):
			t.Fatalf("testdata/settings.txt goes on with %s", then[i])
		case i >= len(then):
			t.Fatalf("testdata/settings.txt ends before %s", now[i])
		case now[i] != then[i]:
			t.Fatalf("%s\ntestdata/settings.txt has %s\nread the change, and if it is meant: go test ./infra -run TestReview -review", now[i], then[i])
		}
	}
}

func TestReview(t *testing.T) {
	if !*review {
		t.Skip("writes only with -review")
	}
	if err := os.WriteFile("testdata/settings.txt", []byte(settings(synth(t))), 0o644); err != nil {
		t.Fatal(err)
	}
}
