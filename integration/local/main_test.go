package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/names"
)

// TestMain is also every program that the cloud runs in these tests: the
// functions and the worker are links to the test's own binary.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("AWS_LAMBDA_RUNTIME_API") != "":
		lambda.Start(program(os.Getenv("AWS_LAMBDA_FUNCTION_NAME")))
	case os.Getenv("ECS_AGENT_URI") != "":
		worker()
	case os.Getenv("LOCAL_TEST_HOST") != "":
		host(os.Getenv("LOCAL_TEST_HOST"))
	default:
		slog.SetDefault(slog.New(slog.DiscardHandler))
		os.Exit(m.Run())
	}
}

// The functions of the tests. Each notes what reached it in the effects table.
var testFunctions = []names.Function{
	{Name: "echo", Timeout: 10 * time.Second, MemoryMB: 128, State: true, Env: []string{names.Effects.Env, names.EnvBucket}},
	{Name: names.FnAPI, Timeout: 10 * time.Second, MemoryMB: 128},
	{Name: "notify", Timeout: 10 * time.Second, MemoryMB: 128, Stream: &names.Notices, Env: []string{names.Effects.Env}},
	{Name: "settle", Timeout: 10 * time.Second, MemoryMB: 128, Ended: true, Env: []string{names.Effects.Env}},
	{Name: names.FnFeedback, Timeout: 10 * time.Second, MemoryMB: 128, Topic: names.MailEventsTopic, Env: []string{names.Effects.Env}},
	{Name: "reconcile", Timeout: 10 * time.Second, MemoryMB: 128, Every: time.Hour, Env: []string{names.Effects.Env}},
}

// testDefinition calls echo and, when that fails, fails by its error.
func testDefinition(arns map[string]string) ([]byte, error) {
	return []byte(`{"StartAt":"Echo","States":{"Echo":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
		"Parameters":{"FunctionName":"` + arns["EchoArn"] + `","Payload.$":"$"},"OutputPath":"$.Payload","End":true}}}`), nil
}

func program(name string) any {
	db := dynamodb.NewFromConfig(must(config.LoadDefaultConfig(context.Background())))
	switch name {
	case "echo":
		return func(_ context.Context, in map[string]any) (map[string]any, error) {
			if in["fail"] == true {
				return nil, errors.New("asked to fail")
			}
			return map[string]any{"in": in, "bucket": os.Getenv(names.EnvBucket)}, nil
		}
	case names.FnAPI:
		return func(_ context.Context, in events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
			return events.APIGatewayV2HTTPResponse{StatusCode: 200,
				Body: in.RouteKey + " " + in.RequestContext.Authorizer.JWT.Claims["sub"]}, nil
		}
	case "notify":
		return func(ctx context.Context, in events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
			for _, r := range in.Records {
				if img := r.Change.NewImage; img != nil {
					if err := note(ctx, db, "notify#"+img["analysis_id"].String(), r.EventSourceArn); err != nil {
						return events.DynamoDBEventResponse{}, err
					}
				}
			}
			return events.DynamoDBEventResponse{}, nil
		}
	default:
		return func(ctx context.Context, in json.RawMessage) error { return note(ctx, db, name, string(in)) }
	}
}

// note counts an event under a key and keeps the last one's text.
func note(ctx context.Context, db *dynamodb.Client, key, text string) error {
	_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(names.Effects.Name),
		Key:                      map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: key}},
		UpdateExpression:         aws.String("ADD #n :one SET #t = :t"),
		ExpressionAttributeNames: map[string]string{"#n": "n", "#t": "text"},
		ExpressionAttributeValues: map[string]ddb.AttributeValue{
			":one": &ddb.AttributeValueMemberN{Value: "1"}, ":t": &ddb.AttributeValueMemberS{Value: text}}})
	return err
}

// worker notes its start and waits for SIGTERM.
func worker() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db := dynamodb.NewFromConfig(must(config.LoadDefaultConfig(ctx)))
	if os.Getenv(names.PoseQueue.Env) == "" || note(ctx, db, "worker", os.Getenv(names.EnvPoseModel)) != nil {
		os.Exit(1)
	}
	<-ctx.Done()
	if note(context.Background(), db, "worker left", "") != nil {
		os.Exit(1)
	}
}

// binaries makes a folder in which every program is the test's binary.
func binaries(t *testing.T) string {
	t.Helper()
	self := must(os.Executable())
	dir := t.TempDir()
	for _, f := range testFunctions {
		check(t, os.MkdirAll(filepath.Join(dir, f.Name), 0o755))
		check(t, os.Symlink(self, filepath.Join(dir, f.Name, "bootstrap")))
	}
	check(t, os.Symlink(self, filepath.Join(dir, names.PoseWorker)))
	return dir
}

// start starts a cloud in memory with the test's programs.
func start(t *testing.T, change ...func(*Config)) *Cloud {
	t.Helper()
	root, err := FindRoot()
	check(t, err)
	if _, err := os.Stat(filepath.Join(root, "node_modules/@dynoxide/linux-x64/dynoxide")); err != nil {
		t.Skip("dynoxide is not installed (npm install)")
	}
	cfg := Config{Functions: testFunctions, Definition: testDefinition, Binaries: binaries(t), StreamPoll: 10 * time.Millisecond,
		EventRetries: []time.Duration{10 * time.Millisecond}, StopGrace: 5 * time.Second}
	for _, f := range change {
		f(&cfg)
	}
	c, err := Start(t.Context(), cfg)
	check(t, err)
	t.Cleanup(func() { check(t, c.Close()) })
	return c
}

// noted reads how often a key was noted, and its text.
func noted(t *testing.T, c *Cloud, key string) (n int, text string) {
	t.Helper()
	out, err := dynamodb.NewFromConfig(c.AWS()).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(names.Effects.Name),
		ConsistentRead: aws.Bool(true), Key: map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: key}}})
	check(t, err)
	if out.Item == nil {
		return 0, ""
	}
	_, err = fmt.Sscan(out.Item["n"].(*ddb.AttributeValueMemberN).Value, &n)
	check(t, err)
	return n, out.Item["text"].(*ddb.AttributeValueMemberS).Value
}

// waitFor polls a condition; it fails the test after ten seconds.
func waitFor(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !f() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func contains(t *testing.T, s, sub string) {
	t.Helper()
	if !strings.Contains(s, sub) {
		t.Errorf("%q does not contain %q", s, sub)
	}
}

// get fetches a page of the HTTP API with a token.
func get(t *testing.T, url, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	check(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	check(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	check(t, err)
	return resp.StatusCode, string(b)
}
