package local

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awsecs "github.com/aws/aws-sdk-go-v2/service/ecs"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	sestypes "github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"fastbowlinglab/integration/web"
	"fastbowlinglab/shared/names"
)

func TestWhatNamesDeclaresIsThere(t *testing.T) {
	began := time.Now()
	c := start(t)
	t.Logf("started in %v", time.Since(began).Round(time.Millisecond))
	ctx := t.Context()
	db := dynamodb.NewFromConfig(c.AWS())
	for _, table := range names.Tables() {
		out, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table.Name)})
		check(t, err)
		if got := len(out.Table.GlobalSecondaryIndexes); got != len(table.Indexes) {
			t.Errorf("%s has %d indexes, want %d", table.Name, got, len(table.Indexes))
		}
		if got := out.Table.LatestStreamArn != nil; got != table.Stream {
			t.Errorf("%s has a stream: %v, want %v", table.Name, got, table.Stream)
		}
		ttl, err := db.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table.Name)})
		check(t, err)
		if got := aws.ToString(ttl.TimeToLiveDescription.AttributeName); got != table.TTL {
			t.Errorf("%s expires by %q, want %q", table.Name, got, table.TTL)
		}
	}
	ver, err := s3.NewFromConfig(c.AWS()).GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: aws.String(names.Bucket)})
	check(t, err)
	if ver.Status != "Enabled" {
		t.Errorf("the bucket's versioning is %q", ver.Status)
	}
	queues := sqs.NewFromConfig(c.AWS())
	u, err := queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(names.PoseQueue.Name)})
	check(t, err)
	if want := (Place{Endpoint: c.Endpoint}).Values()[names.PoseQueue.Env]; *u.QueueUrl != want {
		t.Errorf("the queue's URL is %s, programs are given %s", *u.QueueUrl, want)
	}
	attrs, err := queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: u.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	check(t, err)
	if got := attrs.Attributes["VisibilityTimeout"]; got != "90" {
		t.Errorf("visibility is %s s", got)
	}
	contains(t, attrs.Attributes["RedrivePolicy"], names.PoseQueue.DeadLetter)
	p, err := ssm.NewFromConfig(c.AWS()).GetParametersByPath(ctx, &ssm.GetParametersByPathInput{
		Path: aws.String(names.Parameters), Recursive: aws.Bool(true)})
	check(t, err)
	if len(p.Parameters) != len(ParametersSet) {
		t.Errorf("%d parameters, want %d", len(p.Parameters), len(ParametersSet))
	}
}

func TestAFunctionReachesTheCloud(t *testing.T) {
	c := start(t)
	l := awslambda.NewFromConfig(c.AWS())
	out, err := l.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: aws.String("echo"), Payload: []byte(`{"a":1}`)})
	check(t, err)
	contains(t, string(out.Payload), `"bucket":"`+names.Bucket+`"`)
	out, err = l.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: aws.String("echo"), Payload: []byte(`{"fail":true}`)})
	check(t, err)
	if aws.ToString(out.FunctionError) != "Unhandled" {
		t.Errorf("a failed function answers %q", aws.ToString(out.FunctionError))
	}
}

func TestStreamReachesItsFunction(t *testing.T) {
	twice := make(chan struct{}, 1)
	twice <- struct{}{}
	c := start(t, func(cfg *Config) {
		cfg.Duplicate = func(source string) bool {
			select {
			case <-twice:
				return source == "stream"
			default:
				return false
			}
		}
	})
	check(t, put(t.Context(), c, "an-1"))
	waitFor(t, "the record, twice", func() bool { n, _ := noted(t, c, "notify#an-1"); return n == 2 })
	check(t, put(t.Context(), c, "an-2"))
	waitFor(t, "the next record", func() bool { n, _ := noted(t, c, "notify#an-2"); return n == 1 })
	if _, arn := noted(t, c, "notify#an-2"); !strings.HasPrefix(arn, "arn:aws:dynamodb:") {
		t.Errorf("the record's source is %q", arn)
	}
}

func TestExecutionsAndTheEventOfTheirEnd(t *testing.T) {
	c := start(t)
	client := sfn.NewFromConfig(c.AWS())
	run := func(name, input string) *sfn.DescribeExecutionOutput {
		out, err := client.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: aws.String(StateMachineARN), Name: &name, Input: &input})
		check(t, err)
		check(t, c.States().Wait(t.Context(), *out.ExecutionArn))
		d, err := client.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: out.ExecutionArn})
		check(t, err)
		return d
	}
	if d := run("an-1-1", `{"a":1}`); d.Status != "SUCCEEDED" || !strings.Contains(*d.Output, names.Bucket) {
		t.Errorf("%s %s", d.Status, aws.ToString(d.Output))
	}
	failed := run("an-2-1", `{"fail":true}`)
	if failed.Status != "FAILED" || *failed.Error != "errorString" {
		t.Errorf("%s %s", failed.Status, aws.ToString(failed.Error))
	}
	waitFor(t, "the event", func() bool { n, _ := noted(t, c, "settle"); return n > 0 })
	n, raw := noted(t, c, "settle")
	if n != 1 {
		t.Errorf("%d events: a success must not be one", n)
	}
	var e events.EventBridgeEvent
	check(t, json.Unmarshal([]byte(raw), &e))
	if e.DetailType != "Step Functions Execution Status Change" || e.Source != "aws.states" || e.Resources[0] != *failed.ExecutionArn {
		t.Errorf("event %s", raw)
	}
	var d map[string]any
	check(t, json.Unmarshal(e.Detail, &d))
	if d["status"] != "FAILED" || d["name"] != "an-2-1" || d["error"] != "errorString" || d["stopDate"] != float64(failed.StopDate.UnixMilli()) ||
		d["output"] != nil || d["input"] != `{"fail":true}` {
		t.Errorf("detail %v", d)
	}
}

func TestSchedule(t *testing.T) {
	c := start(t, func(cfg *Config) { cfg.Schedules = map[string]time.Duration{"reconcile": 20 * time.Millisecond} })
	waitFor(t, "two ticks", func() bool { n, _ := noted(t, c, "reconcile"); return n >= 2 })
	if _, err := c.Tick(t.Context(), "settle"); err != nil {
		t.Error(err)
	}
	if _, text := noted(t, c, "settle"); !strings.Contains(text, `"detail-type":"Scheduled Event"`) {
		t.Errorf("a tick sends %s", text)
	}
}

func TestFleet(t *testing.T) {
	c := start(t)
	client := awsecs.NewFromConfig(c.AWS())
	scale := func(n int32) {
		_, err := client.UpdateService(t.Context(), &awsecs.UpdateServiceInput{Cluster: aws.String(names.Cluster),
			Service: aws.String(names.PoseService), DesiredCount: aws.Int32(n)})
		check(t, err)
	}
	scale(1)
	waitFor(t, "the worker", func() bool { n, _ := noted(t, c, "worker"); return n == 1 })
	if _, model := noted(t, c, "worker"); model != "full" {
		t.Errorf("the worker's model is %q", model)
	}
	scale(0)
	waitFor(t, "the worker's goodbye", func() bool { n, _ := noted(t, c, "worker left"); return n == 1 })
}

// A worker that is told to go still reaches the cloud to give its job back.
func TestWorkersLeaveBeforeTheEndpointCloses(t *testing.T) {
	var log bytes.Buffer
	c := start(t, func(cfg *Config) { cfg.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	check(t, c.Tasks().SetDesired(1))
	waitFor(t, "the worker", func() bool { n, _ := noted(t, c, "worker"); return n == 1 })
	check(t, c.Close())
	contains(t, log.String(), `"exit":"exit status 0"`)
}

func TestMails(t *testing.T) {
	c := start(t)
	_, err := sesv2.NewFromConfig(c.AWS()).SendEmail(t.Context(), &sesv2.SendEmailInput{FromEmailAddress: aws.String(MailFrom),
		Destination: &sestypes.Destination{ToAddresses: []string{"a@example.com"}},
		Content: &sestypes.EmailContent{Simple: &sestypes.Message{Subject: &sestypes.Content{Data: aws.String("Ready")},
			Body: &sestypes.Body{Text: &sestypes.Content{Data: aws.String("Your report")}}}}})
	check(t, err)
	ms, err := c.Mails(t.Context())
	check(t, err)
	if len(ms) != 1 || ms[0].Subject != "Ready" || ms[0].To[0] != "a@example.com" || ms[0].Text != "Your report" {
		t.Errorf("mails %+v", ms)
	}
}

func TestTheHTTPAPI(t *testing.T) {
	c := start(t)
	if code, _ := get(t, c.API+"/v1/credits", ""); code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", code)
	}
	token, err := c.AthleteToken("athlete-1", time.Minute)
	check(t, err)
	if code, body := get(t, c.API+"/v1/credits", token); code != http.StatusOK || body != "GET /v1/credits athlete-1" {
		t.Errorf("with a token: %d %s", code, body)
	}
	session, err := c.OpenSession(t.Context(), "athlete-2") // as the web page signs in
	check(t, err)
	token, err = session.Token(t.Context())
	check(t, err)
	if code, body := get(t, c.API+"/v1/credits", token); code != http.StatusOK || body != "GET /v1/credits athlete-2" {
		t.Errorf("with the page's token: %d %s", code, body)
	}
	var page names.Page
	if _, body := get(t, c.Page().App+web.ConfigFile, ""); json.Unmarshal([]byte(body), &page) != nil || page != c.Page() || page.App != (Place{APIURL: c.API}).Values()[names.EnvAppURL] {
		t.Errorf("the page is told %s, and mails lead to %s", body, c.Page().App)
	}
	if code, _ := get(t, c.Page().App+"token", ""); code != http.StatusNotFound {
		t.Errorf("there is another way in: %d", code)
	}
}
