package endpoint_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/awserr"
)

func request(method, target string, header map[string]string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader("{}"))
	for k, v := range header {
		r.Header.Set(k, v)
	}
	return r
}

func scope(service string) map[string]string {
	return map[string]string{"Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/" + service +
		"/aws4_request, SignedHeaders=host, Signature=0"}
}

func TestParse(t *testing.T) {
	target := func(s string) map[string]string { return map[string]string{"X-Amz-Target": s} }
	for _, tc := range []struct {
		name    string
		req     *http.Request
		service string
		op      string
	}{
		{"DynamoDB", request("POST", "/", target("DynamoDB_20120810.PutItem")), endpoint.DynamoDB, "PutItem"},
		{"Streams", request("POST", "/", target("DynamoDBStreams_20120810.GetRecords")), endpoint.Streams, "GetRecords"},
		{"Queue", request("POST", "/", target("AmazonSQS.SendMessage")), endpoint.SQS, "SendMessage"},
		{"StepFunctions", request("POST", "/", target("AWSStepFunctions.StartExecution")), endpoint.States, "StartExecution"},
		{"ECS", request("POST", "/", target("AmazonEC2ContainerServiceV20141113.RunTask")), endpoint.ECS, "RunTask"},
		{"LambdaByScope", request("POST", "/2015-03-31/functions/begin/invocations", scope("lambda")), endpoint.Lambda,
			"POST /2015-03-31/functions/begin/invocations"},
		{"SESVersion2SignsAsSES", request("POST", "/v2/email/outbound-emails", scope("ses")), endpoint.SES, "POST /v2/email/outbound-emails"},
		{"PresignedURL", request("GET", "/b/k?X-Amz-Credential=a%2F20260101%2Fus-east-1%2Fs3%2Faws4_request", nil), endpoint.S3, "GET object"},
		{"PresignedPostHasNoScope", request("POST", "/fbl-media", nil), endpoint.S3, "POST bucket"},
		{"BucketListing", request("GET", "/", scope("s3")), endpoint.S3, "GET service"},
		{"ECSAgent", request("PUT", "/_ecs/abc/task-protection/v1/state", nil), endpoint.ECSAgent, "PUT"},
		{"UnknownTarget", request("POST", "/", target("Kinesis_20131202.PutRecord")), "Kinesis_20131202", "PutRecord"},
		{"BrokenScope", request("GET", "/b/k", map[string]string{"Authorization": "AWS4-HMAC-SHA256 Credential=x"}), endpoint.S3, "GET object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := endpoint.Parse(tc.req)
			if q.Service != tc.service || q.Operation != tc.op {
				t.Errorf("%s %q, want %s %q", q.Service, q.Operation, tc.service, tc.op)
			}
		})
	}
}

func TestCallerIsTheApplicationID(t *testing.T) {
	r := request("POST", "/", map[string]string{"User-Agent": "aws-sdk-go-v2/1.48.0 ua/2.1 os/linux api/dynamodb#1.74.0 m/E,n app/begin"})
	if got := endpoint.Parse(r).Caller; got != "begin" {
		t.Errorf("caller %q", got)
	}
}

// cloud makes SDK clients whose one service answers ok and counts.
func cloud(t *testing.T, intercept endpoint.Intercept, services ...string) (aws.Config, *atomic.Int64) {
	t.Helper()
	var done atomic.Int64
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		done.Add(1)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, "{}")
	})
	rt := &endpoint.Router{Services: map[string]http.Handler{}, Intercept: intercept}
	for _, s := range services {
		rt.Services[s] = h
	}
	return aws.Config{Region: "us-east-1", BaseEndpoint: aws.String("http://127.0.0.1:1"),
		Credentials:      credentials.NewStaticCredentialsProvider("local", "local", ""),
		RetryMaxAttempts: 1,
		HTTPClient:       &http.Client{Transport: endpoint.Transport{Handler: rt}}}, &done
}

func always(f endpoint.Fault) endpoint.Intercept {
	return func(*endpoint.Request) endpoint.Fault { return f }
}

var putItem = &dynamodb.PutItemInput{TableName: aws.String("t"), Item: map[string]ddb.AttributeValue{"k": &ddb.AttributeValueMemberS{Value: "v"}}}

func TestFaults(t *testing.T) {
	for _, tc := range []struct {
		kind endpoint.Kind
		done int64
		err  bool
	}{
		{endpoint.None, 1, false}, {endpoint.NotDone, 0, true}, {endpoint.Lost, 1, true},
		{endpoint.Twice, 2, false}, {endpoint.Throttled, 0, true}, {endpoint.Conflict, 0, true},
	} {
		t.Run(strings.ReplaceAll(tc.kind.String(), " ", "_"), func(t *testing.T) {
			cfg, done := cloud(t, always(endpoint.Fault{Kind: tc.kind}), endpoint.DynamoDB)
			_, err := dynamodb.NewFromConfig(cfg).PutItem(t.Context(), putItem)
			if (err != nil) != tc.err {
				t.Errorf("error %v", err)
			}
			if done.Load() != tc.done {
				t.Errorf("done %d times, want %d", done.Load(), tc.done)
			}
		})
	}
}

func TestLateIsDoneThoughTheCallerHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, done := cloud(t, always(endpoint.Fault{Kind: endpoint.Late, Delay: time.Minute}), endpoint.DynamoDB)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := dynamodb.NewFromConfig(cfg).PutItem(ctx, putItem); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller saw %v", err)
		}
		if done.Load() != 0 {
			t.Error("done before its time")
		}
		time.Sleep(2 * time.Minute) // of the bubble's clock
		if done.Load() != 1 {
			t.Errorf("done %d times", done.Load())
		}
	})
}

// Refusals must mean to shared/awserr what AWS's own would.
func TestRefusalsInTheWordsOfTheService(t *testing.T) {
	services := []string{endpoint.DynamoDB, endpoint.S3, endpoint.SQS, endpoint.States, endpoint.SES, endpoint.Lambda}
	throttled, _ := cloud(t, always(endpoint.Fault{Kind: endpoint.Throttled}), services...)
	conflict, _ := cloud(t, always(endpoint.Fault{Kind: endpoint.Conflict}), services...)
	tx := &dynamodb.TransactWriteItemsInput{TransactItems: []ddb.TransactWriteItem{
		{Put: &ddb.Put{TableName: aws.String("t"), Item: putItem.Item}}, {Put: &ddb.Put{TableName: aws.String("u"), Item: putItem.Item}}}}
	object := func() *s3.PutObjectInput {
		return &s3.PutObjectInput{Bucket: aws.String("b"), Key: aws.String("k"), Body: bytes.NewReader([]byte("x"))}
	}
	ctx := t.Context()
	for _, tc := range []struct {
		name string
		call func() error
		want awserr.Kind
	}{
		{"DynamoDBThrottled", func() error { _, err := dynamodb.NewFromConfig(throttled).PutItem(ctx, putItem); return err }, awserr.Throttle},
		{"S3Throttled", func() error { _, err := s3.NewFromConfig(throttled).PutObject(ctx, object()); return err }, awserr.Throttle},
		{"SQSThrottled", func() error {
			_, err := sqs.NewFromConfig(throttled).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: aws.String("q"), MessageBody: aws.String("m")})
			return err
		}, awserr.Throttle},
		{"StepFunctionsThrottled", func() error {
			_, err := sfn.NewFromConfig(throttled).StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: aws.String("a")})
			return err
		}, awserr.Throttle},
		{"SESThrottled", func() error { _, err := sesv2.NewFromConfig(throttled).GetAccount(ctx, nil); return err }, awserr.Throttle},
		{"LambdaThrottled", func() error {
			_, err := lambda.NewFromConfig(throttled).Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("f")})
			return err
		}, awserr.Throttle},
		{"WriteConflict", func() error { _, err := dynamodb.NewFromConfig(conflict).PutItem(ctx, putItem); return err }, awserr.Conflict},
		{"TransactionConflict", func() error { _, err := dynamodb.NewFromConfig(conflict).TransactWriteItems(ctx, tx); return err }, awserr.Conflict},
		{"ObjectConflict", func() error { _, err := s3.NewFromConfig(conflict).PutObject(ctx, object()); return err }, awserr.Conflict},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.call(); awserr.KindOf(err) != tc.want {
				t.Errorf("%v means %s, want %s", err, awserr.KindOf(err), tc.want)
			}
		})
	}
	_, err := dynamodb.NewFromConfig(conflict).TransactWriteItems(ctx, tx)
	if rs := awserr.Reasons(err); len(rs) != 2 || rs[0].Kind != awserr.Conflict || rs[1].Kind != awserr.None {
		t.Errorf("reasons %+v: one for each operation is needed", rs)
	}
}

func TestAServiceThatIsNotServedIsNamed(t *testing.T) {
	cfg, _ := cloud(t, nil)
	_, err := sqs.NewFromConfig(cfg).ListQueues(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), `does not serve "sqs"`) {
		t.Errorf("%v", err)
	}
}

func TestInterceptSeesCallerAndBody(t *testing.T) {
	var got string
	cfg, done := cloud(t, func(q *endpoint.Request) endpoint.Fault {
		b, err := q.Body()
		if err != nil {
			t.Error(err)
		}
		got = q.Caller + " " + q.Operation + " " + string(b)
		return endpoint.Fault{}
	}, endpoint.DynamoDB)
	cfg.AppID = "begin"
	_, err := dynamodb.NewFromConfig(cfg).PutItem(t.Context(), putItem)
	if err != nil || done.Load() != 1 {
		t.Fatal(err, done.Load())
	}
	if !strings.HasPrefix(got, "begin PutItem {") || !strings.Contains(got, `"TableName":"t"`) {
		t.Errorf("intercept saw %q", got)
	}
}

// Over a socket a broken connection is what the client sees.
func TestLostOverASocket(t *testing.T) {
	var done atomic.Int64
	rt := &endpoint.Router{Intercept: always(endpoint.Fault{Kind: endpoint.Lost}), Services: map[string]http.Handler{
		endpoint.S3: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { done.Add(1) })}}
	srv := httptest.NewServer(rt)
	defer srv.Close()
	resp, err := http.Post(srv.URL+"/b/k", "text/plain", strings.NewReader("x"))
	if err == nil {
		_ = resp.Body.Close()
		t.Error("the answer was not lost")
	}
	if done.Load() != 1 {
		t.Errorf("done %d times", done.Load())
	}
}
