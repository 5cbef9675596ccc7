package parity

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/shared/names"
)

func same(t *testing.T, synthesised, local Shape) {
	t.Helper()
	if len(synthesised) == 0 {
		t.Error("nothing is synthesised")
	}
	for _, d := range Differences(synthesised, local) {
		t.Error(d)
	}
}

func localTables(t *testing.T, w *world) Shape {
	t.Helper()
	db := dynamodb.NewFromConfig(w.cloud.AWS())
	here := Shape{}
	all, err := db.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all.TableNames {
		out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		ttl, err := db.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		tb := out.Table
		indexes := []string{}
		for _, ix := range tb.GlobalSecondaryIndexes {
			indexes = append(indexes, fmt.Sprintf("%s(%s, %s)", *ix.IndexName, schema(ix.KeySchema), ix.Projection.ProjectionType))
		}
		stream, billing := "", "PAY_PER_REQUEST"
		if s := tb.StreamSpecification; s != nil {
			stream = string(s.StreamViewType)
		}
		if b := tb.BillingModeSummary; b != nil {
			billing = string(b.BillingMode)
		}
		here[name] = tableLine("keys "+schema(tb.KeySchema), indexes, stream, aws.ToString(ttl.TimeToLiveDescription.AttributeName), billing)
	}
	return here
}

func schema(ks []ddb.KeySchemaElement) string {
	var out []string
	for _, k := range ks {
		out = append(out, fmt.Sprintf("%s:%s", *k.AttributeName, k.KeyType))
	}
	return strings.Join(out, ",")
}

func localQueues(t *testing.T, w *world) Shape {
	client := sqs.NewFromConfig(w.cloud.AWS())
	all, err := client.ListQueues(t.Context(), &sqs.ListQueuesInput{})
	if err != nil {
		t.Fatal(err)
	}
	here := Shape{}
	for _, url := range all.QueueUrls {
		out, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
		if err != nil {
			t.Fatal(err)
		}
		var redrive struct {
			DeadLetterTargetArn string
			MaxReceiveCount     any
		}
		if r := out.Attributes["RedrivePolicy"]; r != "" {
			if err := json.Unmarshal([]byte(r), &redrive); err != nil {
				t.Fatal(err)
			}
		}
		receives := ""
		if redrive.MaxReceiveCount != nil {
			receives = fmt.Sprint(redrive.MaxReceiveCount)
		}
		here[url[strings.LastIndex(url, "/")+1:]] = queueLine(out.Attributes["MessageRetentionPeriod"], out.Attributes["VisibilityTimeout"],
			redrive.DeadLetterTargetArn[strings.LastIndex(redrive.DeadLetterTargetArn, ":")+1:], receives)
	}
	return here
}

func localAliases(t *testing.T, w *world) Shape {
	t.Helper()
	client := sfn.NewFromConfig(w.cloud.AWS())
	out, err := client.DescribeStateMachineAlias(t.Context(), &sfn.DescribeStateMachineAliasInput{StateMachineAliasArn: aws.String(local.LiveARN)})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.RoutingConfiguration) != 1 || !strings.HasPrefix(*out.RoutingConfiguration[0].StateMachineVersionArn, local.StateMachineARN+":") {
		t.Errorf("the alias leads to %v", out.RoutingConfiguration)
	}
	return Shape{*out.Name: names.MachineName(names.MachineAnalysis)}
}

// kinds are what both sides have. Lambda's and EventBridge's own retries have no
// dead letters in the embedded cloud: it logs what it gives up.
var kinds = []struct {
	name        string
	synthesised func(Templates) Shape
	local       func(*testing.T, *world) Shape
}{
	{"tables", Templates.Tables, localTables},
	{"queues", func(t Templates) Shape { return t.Queues(names.EventsDead) }, localQueues},
	{"state machines", Templates.Machines, localMachines},
	{"aliases", Templates.Aliases, localAliases},
	{"functions", func(t Templates) Shape { return t.Functions(address) }, localFunctions},
	{"sources", Templates.Sources, localSources},
	{"routes", Templates.Routes, localRoutes},
}

// TestParity: nothing is on one side that is not on the other, or made otherwise.
func TestParity(t *testing.T) {
	w := start(t)
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { same(t, k.synthesised(w.templates), k.local(t, w)) })
	}
}

// TestEveryDifferenceIsSeen: each name that is changed on one side only, and each
// thing that is made otherwise there, is a difference.
func TestEveryDifferenceIsSeen(t *testing.T) {
	w := start(t)
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			cdk, here := k.synthesised(w.templates), k.local(t, w)
			for name, line := range here {
				for what, change := range map[string]Shape{"renamed": {name + "x": line}, "made otherwise": {name: line + "x"}, "left out": {}} {
					changed := maps.Clone(here)
					delete(changed, name)
					maps.Copy(changed, change)
					if len(Differences(cdk, changed)) == 0 || len(Differences(changed, cdk)) == 0 {
						t.Errorf("%s is %s on one side, and nothing sees it", name, what)
					}
				}
			}
		})
	}
}

func localMachines(t *testing.T, w *world) Shape {
	t.Helper()
	client := sfn.NewFromConfig(w.cloud.AWS())
	all, err := client.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{})
	if err != nil {
		t.Fatal(err)
	}
	here := Shape{}
	for _, m := range all.StateMachines {
		out, err := client.DescribeStateMachine(t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: m.StateMachineArn})
		if err != nil {
			t.Fatal(err)
		}
		here[*m.Name] = functionARN.ReplaceAllString(*out.Definition, "$1")
	}
	return here
}

// where things are differs by its nature: such a variable is told by its name.
func address(k string) bool {
	v := place.Values()[k]
	return strings.Contains(v, "/") && k != names.EnvParameters || strings.HasPrefix(v, "arn:") ||
		k == names.EnvBucket || k == names.EnvMailFrom || k == names.EnvCallbackKeys || k == names.EnvRender || // functions have no prefix here
		strings.HasPrefix(v, "http")
}

var place = local.Place{Endpoint: "http://e", APIURL: "http://a", PoseURL: "http://p", Root: "/r", Fonts: "/f"}

func localFunctions(t *testing.T, _ *world) Shape {
	t.Helper()
	here := Shape{}
	for _, f := range names.Functions() {
		env, err := local.Environment(f.Name, f.Env, place, nil)
		if err != nil {
			t.Fatal(err)
		}
		declared := map[string]string{}
		for _, k := range f.Env {
			declared[k] = env[k]
		}
		here[f.Name] = functionLine(fmt.Sprint(int(f.Timeout.Seconds())), fmt.Sprint(f.MemoryMB), declared, address)
	}
	return here
}

func localSources(t *testing.T, w *world) Shape {
	t.Helper()
	here := Shape{}
	for _, f := range names.Functions() { // the embedded cloud's scheduler, pump and events go by these
		if f.Every > 0 {
			here[f.Name+" by schedule"] = rate(f.Every)
		}
		if f.Ended {
			here[f.Name+" by event"] = "[FAILED TIMED_OUT ABORTED]"
		}
		if f.Stream != nil {
			here[f.Name+" by stream"] = f.Stream.Name
		}
		if f.Topic != "" {
			here[f.Name+" by topic"] = f.Topic
		}
	}
	return here
}

// rate is EventBridge's expression of a period, in the largest unit that fits.
func rate(every time.Duration) string {
	for _, u := range []struct {
		unit string
		of   time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := every / u.of; n > 0 && every%u.of == 0 {
			if n > 1 {
				u.unit += "s"
			}
			return fmt.Sprintf("rate(%d %s)", n, u.unit)
		}
	}
	return every.String()
}

func TestRate(t *testing.T) {
	for every, want := range map[time.Duration]string{time.Minute: "rate(1 minute)", 5 * time.Minute: "rate(5 minutes)",
		time.Hour: "rate(1 hour)", 6 * time.Hour: "rate(6 hours)", 24 * time.Hour: "rate(1 day)", 90 * time.Minute: "rate(90 minutes)"} {
		if got := rate(every); got != want {
			t.Errorf("rate(%s) = %s, want %s", every, got, want)
		}
	}
}

// TestRoutes asks the embedded cloud for each synthesised route without a token.
func localRoutes(t *testing.T, w *world) Shape {
	t.Helper()
	here := Shape{}
	for key := range w.templates.Routes() {
		if got := ask(t, w, key); got != "" {
			here[key] = got
		}
	}
	return here
}

func TestRoutes(t *testing.T) {
	w := start(t)
	if got := len(w.templates.Routes()); got != len(names.Routes()) {
		t.Errorf("%d routes are synthesised, the local router reads %d", got, len(names.Routes()))
	}
	if got := ask(t, w, "GET /v1/no-such-route"); got != "" {
		t.Errorf("a route that nobody declared is %s", got)
	}
}

// ask tells how the local router guards a route, "" when it has none.
func ask(t *testing.T, w *world, key string) string {
	t.Helper()
	method, path, _ := strings.Cut(key, " ")
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, w.cloud.API+strings.NewReplacer("{", "", "}", "").Replace(path), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusNotFound:
		return ""
	case http.StatusUnauthorized:
		if b, err := io.ReadAll(resp.Body); err == nil && strings.TrimSpace(string(b)) == `{"message":"Unauthorized"}` { // the gateway's own words
			return "JWT"
		}
	}
	return "NONE"
}

// TestDifferencesAreSeen: a name that is changed on one side only is found.
func TestDifferencesAreSeen(t *testing.T) {
	w := start(t)
	renamed := rename(t, w.templates, `"fbl-pose-jobs"`, `"fbl-pose-job"`)
	if d := Differences(renamed.Queues(names.EventsDead), localQueues(t, w)); len(d) != 2 {
		t.Errorf("a queue renamed: %q, want two differences", d)
	}
	renamed = rename(t, w.templates, "/v1/credits", "/v1/credit")
	if got := ask(t, w, "GET /v1/credit"); got != "" || renamed.Routes()["GET /v1/credit"] == "" {
		t.Errorf("a route renamed is %q here", got)
	}
	renamed = rename(t, w.templates, "TABLE_NOTICES", "TABLE_NOTICE")
	if d := Differences(renamed.Functions(func(string) bool { return true }), w.templates.Functions(func(string) bool { return true })); len(d) == 0 {
		t.Error("an environment variable renamed is not seen")
	}
}

func rename(t *testing.T, all Templates, from, to string) Templates {
	t.Helper()
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(b), from, to)
	if changed == string(b) {
		t.Fatalf("the templates have no %s", from)
	}
	var out Templates
	if err := json.Unmarshal([]byte(changed), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
