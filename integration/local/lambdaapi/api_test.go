package lambdaapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"fastbowlinglab/integration/local/lambdaapi"
)

// client is the real SDK in front of the service.
func client(t *testing.T, s *lambdaapi.Service) (*lambda.Client, string) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return lambda.New(lambda.Options{
		BaseEndpoint: aws.String(srv.URL), Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}), srv.URL
}

func TestSDKInvoke(t *testing.T) {
	s := start(t)
	c, _ := client(t, s)
	arn := lambdaapi.ARN("fn", "1")
	out, err := c.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: &arn, Payload: []byte(`{}`), LogType: types.LogTypeTail})
	if err != nil {
		t.Fatal(err)
	}
	if out.StatusCode != 200 || out.FunctionError != nil || aws.ToString(out.ExecutedVersion) != "1" {
		t.Errorf("status %d, error %v, version %s", out.StatusCode, out.FunctionError, aws.ToString(out.ExecutedVersion))
	}
	log, err := base64.StdEncoding.DecodeString(aws.ToString(out.LogResult))
	if err != nil || !strings.Contains(string(log), "working on") || !strings.Contains(string(log), "REPORT RequestId: ") {
		t.Errorf("log tail %q (%v)", log, err)
	}
	out, err = c.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("fbl-fn"), Payload: []byte(`{"do":"typed"}`)}) // as it is deployed
	if err != nil {
		t.Fatal(err)
	}
	if aws.ToString(out.FunctionError) != "Unhandled" || aws.ToString(out.ExecutedVersion) != "$LATEST" || !strings.Contains(string(out.Payload), `"errorType":"Transient"`) {
		t.Errorf("error %s, version %s, payload %s", aws.ToString(out.FunctionError), aws.ToString(out.ExecutedVersion), out.Payload)
	}
}

func TestSDKErrors(t *testing.T) {
	s := start(t, func(c *lambdaapi.Config) { c.Concurrency = 1 })
	c, url := client(t, s)
	invoke := func(fn, qualifier, payload string, kind types.InvocationType) error {
		in := &lambda.InvokeInput{FunctionName: &fn, Payload: []byte(payload), InvocationType: kind}
		if qualifier != "" {
			in.Qualifier = &qualifier
		}
		_, err := c.Invoke(t.Context(), in)
		return err
	}
	var nf *types.ResourceNotFoundException
	if err := invoke("nobody", "", "{}", ""); !errors.As(err, &nf) {
		t.Errorf("unknown function: %v", err)
	}
	if err := invoke("fn", "77", "{}", ""); !errors.As(err, &nf) {
		t.Errorf("unknown qualifier: %v", err)
	}
	var bad *types.InvalidParameterValueException
	if err := invoke("fn:1", "2", "{}", ""); !errors.As(err, &bad) {
		t.Errorf("two qualifiers: %v", err)
	}
	if err := invoke("fn", "", "{}", "Sometimes"); !errors.As(err, &bad) {
		t.Errorf("unknown invocation type: %v", err)
	}
	var content *types.InvalidRequestContentException
	if err := invoke("fn", "", "{", ""); !errors.As(err, &content) {
		t.Errorf("bad JSON: %v", err)
	}
	var large *types.RequestTooLargeException
	if err := invoke("fn", "", `"`+strings.Repeat("x", 6<<20)+`"`, ""); !errors.As(err, &large) {
		t.Errorf("over 6 MB: %v", err)
	}
	if err := invoke("fn", "", `"`+strings.Repeat("x", 1<<20)+`"`, types.InvocationTypeEvent); !errors.As(err, &large) {
		t.Errorf("event over 1 MB: %v", err)
	}
	if err := invoke("fn", "", `{}`, types.InvocationTypeDryRun); err != nil {
		t.Errorf("dry run: %v", err)
	}
	if n := len(s.Invocations()); n != 0 {
		t.Errorf("%d invocations ran, want none", n)
	}

	g := newGate(t)
	done := async(t.Context(), s, g.payload(""))
	v := g.next(t)
	var many *types.TooManyRequestsException
	if err := invoke("fn", "", `{}`, ""); !errors.As(err, &many) || many.Reason == "" {
		t.Errorf("over the cap: %v", err)
	}
	v.answer <- ""
	if err := <-done; err != nil {
		t.Error(err)
	}

	res, err := http.Post(url+"/2015-03-31/functions/fn/code", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != 404 || !strings.Contains(string(body), "has no operation POST /2015-03-31/functions/fn/code") {
		t.Errorf("unknown operation: %d %s", res.StatusCode, body)
	}
}

func TestAClientThatHangsUpStopsNothing(t *testing.T) {
	s := start(t)
	c, _ := client(t, s)
	g := newGate(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("fn"), Payload: []byte(g.payload(""))})
		done <- err
	}()
	v := g.next(t)
	cancel()
	if err := <-done; err == nil {
		t.Error("the client got an answer that nobody gave")
	}
	v.answer <- ""
	eventually(t, "the function ends by itself", func() bool { r := s.Invocations(); return len(r) == 1 && r[0].Error == "" })
}

func TestEventIsTriedTwiceMoreWithTheSameRequestID(t *testing.T) {
	s := start(t, func(c *lambdaapi.Config) { c.EventRetries = []time.Duration{time.Millisecond, time.Millisecond} })
	c, _ := client(t, s)
	g := newGate(t)
	out, err := c.Invoke(t.Context(), &lambda.InvokeInput{
		FunctionName: aws.String("fn"), Payload: []byte(g.payload("")), InvocationType: types.InvocationTypeEvent})
	if err != nil || out.StatusCode != 202 || len(out.Payload) != 0 {
		t.Fatalf("event: %v, %+v", err, out)
	}
	first := g.next(t)
	first.answer <- "fail"
	for range 2 {
		v := g.next(t)
		if v.request != first.request {
			t.Errorf("retry has request id %s, the first had %s", v.request, first.request)
		}
		v.answer <- "fail"
	}
	// It must not come a fourth time: an event sent now is the next one seen.
	eventually(t, "three tries are on record", func() bool { return len(s.Invocations()) == 3 })
	if _, err := s.InvokeEvent(lambdaapi.Request{Function: "fn", Payload: []byte(g.payload(""))}); err != nil {
		t.Fatal(err)
	}
	v := g.next(t)
	if v.request == first.request {
		t.Error("the event came a fourth time")
	}
	v.answer <- "" // succeeds: no retry
	eventually(t, "four are on record", func() bool { return len(s.Invocations()) == 4 })
	select {
	case v := <-g.calls:
		t.Errorf("request %s came again after it had succeeded", v.request)
	default:
	}
}

func TestVersionsKeepTheirProgram(t *testing.T) {
	one, two := build(t)
	program := filepath.Join(t.TempDir(), "fn")
	install := func(from string) {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program+".new", b, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(program+".new", program); err != nil {
			t.Fatal(err)
		}
	}
	versions := t.TempDir()
	open := func() *lambdaapi.Service {
		return start(t, func(c *lambdaapi.Config) {
			c.Binary = func(string) string { return program }
			c.Versions = versions
		})
	}
	publish := func(s *lambdaapi.Service, want string) {
		t.Helper()
		if arn, err := s.Publish("fn"); err != nil || arn != lambdaapi.ARN("fn", want) {
			t.Fatalf("published %s (%v), want version %s", arn, err, want)
		}
	}
	install(one)
	s := open()
	publish(s, "1")
	publish(open(), "1") // a restart with the same program
	install(two)
	s2 := open()
	publish(s2, "2")
	for ref, want := range map[string]string{"fn:1": "one", "fn:2": "two", "fn": "two"} {
		if a, fe := call(t, s2, ref, `{}`); fe != "" || a.Build != want {
			t.Errorf("%s ran build %q (%s %s), want %q", ref, a.Build, a.Type, a.Message, want)
		}
	}
	if a, _ := call(t, s, "fn:1", `{}`); a.Build != "one" {
		t.Errorf("a run in flight got build %q of version 1", a.Build)
	}
	install(one) // a rollback is a version of its own
	publish(open(), "3")

	c, _ := client(t, s2)
	list, err := c.ListVersionsByFunction(t.Context(), &lambda.ListVersionsByFunctionInput{FunctionName: aws.String("fn")})
	if err != nil || len(list.Versions) != 4 || aws.ToString(list.Versions[3].FunctionArn) != lambdaapi.ARN("fn", "3") {
		t.Errorf("versions %+v (%v), want $LATEST, 1, 2, 3", list, err)
	}
	get, err := c.GetFunction(t.Context(), &lambda.GetFunctionInput{FunctionName: aws.String(lambdaapi.ARN("fn", "2"))})
	if err != nil || aws.ToInt32(get.Configuration.Timeout) != 20 || aws.ToString(get.Configuration.Version) != "2" {
		t.Errorf("get: %+v (%v)", get, err)
	}
	all, err := c.ListFunctions(t.Context(), &lambda.ListFunctionsInput{})
	if err != nil || len(all.Functions) != 1 {
		t.Errorf("list: %+v (%v)", all, err)
	}
}

func TestOldVersionsArePruned(t *testing.T) {
	program, versions := filepath.Join(t.TempDir(), "fn"), t.TempDir()
	for i := range 7 {
		if err := os.WriteFile(program, []byte{byte(i)}, 0o755); err != nil {
			t.Fatal(err)
		}
		s := start(t, func(c *lambdaapi.Config) {
			c.Binary = func(string) string { return program }
			c.Versions = versions
		})
		if _, err := s.Publish("fn"); err != nil {
			t.Fatal(err)
		}
	}
	es, err := os.ReadDir(filepath.Join(versions, "fn"))
	if err != nil || len(es) != 5 || es[0].Name() != "3" {
		t.Errorf("kept %v (%v), want versions 3 to 7", es, err)
	}
}

func TestLogFile(t *testing.T) {
	dir := t.TempDir()
	s := start(t, func(c *lambdaapi.Config) { c.Logs = dir })
	call(t, s, "fn", `{"do":"plain"}`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "fn.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"START RequestId: ", "working on plain", "END RequestId: ", "Init Duration: ", "Error Type: errorString"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the log lacks %q:\n%s", want, b)
		}
	}
}

// TestCLI shows that the AWS CLI works unchanged.
func TestCLI(t *testing.T) {
	cli, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("the AWS CLI is not installed")
	}
	version, err := exec.Command(cli, "--version").CombinedOutput()
	if err != nil {
		t.Skipf("the AWS CLI does not run here: %s", version)
	}
	s := start(t)
	_, url := client(t, s)
	out := filepath.Join(t.TempDir(), "out.json")
	args := []string{"--endpoint-url", url, "lambda", "invoke", "--function-name", lambdaapi.ARN("fn", "1"), "--payload", `{"do":"plain"}`}
	if !strings.HasPrefix(string(version), "aws-cli/1") {
		args = append(args, "--cli-binary-format", "raw-in-base64-out")
	}
	cmd := exec.CommandContext(t.Context(), cli, append(args, out)...)
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1")
	b, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("aws lambda invoke: %v\n%s", err, b)
	}
	var meta struct {
		FunctionError, ExecutedVersion string
		StatusCode                     int
	}
	if err := json.Unmarshal(b, &meta); err != nil || meta.FunctionError != "Unhandled" || meta.ExecutedVersion != "1" || meta.StatusCode != 200 {
		t.Errorf("the CLI printed %s (%v)", b, err)
	}
	if b, err := os.ReadFile(out); err != nil || !strings.Contains(string(b), `"errorMessage":"plain"`) {
		t.Errorf("the CLI wrote %s (%v)", b, err)
	}
}
