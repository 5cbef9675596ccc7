package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/shared/analysis"
	athletes "fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/usage"
)

const machine = "arn:aws:states:eu-west-1:1:stateMachine:m"

// steps is Step Functions: an execution's name is taken once.
type steps struct {
	mu      sync.Mutex
	started map[string]int // requests by name
	closed  map[string]bool
	err     error
}

func (s *steps) StartExecution(_ context.Context, in *sfn.StartExecutionInput, _ ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	s.started[*in.Name]++
	if s.closed[*in.Name] {
		return nil, &sfntypes.ExecutionAlreadyExists{}
	}
	return &sfn.StartExecutionOutput{}, nil
}

func (s *steps) StopExecution(_ context.Context, in *sfn.StopExecutionInput, _ ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed[(*in.ExecutionArn)[strings.LastIndexByte(*in.ExecutionArn, ':')+1:]] = true
	return &sfn.StopExecutionOutput{}, nil
}

// bucket holds what was uploaded, each object under a version of its own.
type bucket struct {
	mu       sync.Mutex
	objects  map[string]string
	versions map[string]bool // "key@version" of those that are there
	uploaded *time.Time
	reads    int
}

func (b *bucket) put(key, content string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[key] = content
}

func (b *bucket) GetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	c, ok := b.objects[*in.Key]
	if !ok {
		return nil, &s3types.NoSuchKey{}
	}
	if v := aws.ToString(in.VersionId); v != "" && !b.versions[*in.Key+"@"+v] {
		return nil, &s3types.NoSuchKey{}
	}
	n := int64(len(c))
	return &s3.GetObjectOutput{Body: io.NopCloser(bytes.NewReader([]byte(c))), ContentLength: &n,
		VersionId: aws.String(b.version(*in.Key, in.VersionId)), ETag: aws.String(`"e"`), LastModified: b.uploaded}, nil
}

// version names the version that a read sees: the one asked for, or a new one.
func (b *bucket) version(key string, asked *string) string {
	if asked != nil {
		return *asked
	}
	v := fmt.Sprint("v", b.reads)
	b.versions[key+"@"+v] = true
	return v
}

// ListObjectsV2 lists what begins with a prefix.
func (b *bucket) ListObjectsV2(_ context.Context, in *s3.ListObjectsV2Input, _ ...func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := &s3.ListObjectsV2Output{}
	for k, c := range b.objects {
		if strings.HasPrefix(k, *in.Prefix) {
			out.Contents = append(out.Contents, s3types.Object{Key: aws.String(k), Size: aws.Int64(int64(len(c)))})
		}
	}
	return out, nil
}

// progress is a pose pass.
type progress struct {
	part  float64
	moved time.Time
	err   error
}

func (p *progress) Progress(context.Context, string, int) (api.Pass, bool, error) {
	return api.Pass{Stage: "clip 1 of 1: pose", Part: p.part, MovedAt: p.moved}, p.part > 0, p.err
}

type world struct {
	t        *testing.T
	server   *dynamotest.Server
	db       *dynamodb.Client
	steps    *steps
	bucket   *bucket
	progress *progress
	deps     api.Deps
	fn       lambda.Handler
}

func newWorld(t *testing.T) *world {
	s := dynamotest.Start(t)
	w := &world{t: t, server: s, db: s.Client(), steps: &steps{started: map[string]int{}, closed: map[string]bool{}},
		bucket: &bucket{objects: map[string]string{}, versions: map[string]bool{}}, progress: &progress{}}
	w.deps = w.with(w.db)
	w.fn = api.New(w.deps)
	return w
}

// paymentKeys are the keys of payment events.
type paymentKeys struct{}

var paymentKey = []byte("a-key-of-the-shop-in-tests")

func (paymentKeys) Keys(context.Context) ([][]byte, error) { return [][]byte{paymentKey}, nil }

// with makes the dependencies on one client of the database.
func (w *world) with(db *dynamodb.Client) api.Deps {
	creds := credentials.NewStaticCredentialsProvider("id", "secret", "session")
	client := s3.New(s3.Options{Region: "eu-west-1", Credentials: creds})
	return api.Deps{
		Life:     analysis.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name},
		Ledger:   credit.Store{DB: db, Credits: names.Credits.Name, Effects: names.Effects.Name},
		Ends:     outcome.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Notices: names.Notices.Name},
		Usage:    usage.Store{DB: db, Usage: names.Usage.Name, Prices: names.Prices.Name},
		People:   athletes.Store{DB: db, Athletes: names.Athletes.Name, Suppressions: names.Suppressions.Name},
		Erasures: erasure.Store{DB: db, Table: names.Erasures.Name}, PaymentKeys: paymentKeys{},
		Rows: db, Notices: names.Notices.Name, Tags: names.Tags.Name, Folder: w.bucket,
		Jobs:     &posejob.Store{DB: db, Table: names.PoseJobs.Name, Analyses: names.Analyses.Name},
		Progress: w.progress, Objects: w.bucket, Bucket: names.Bucket, Steps: w.steps, MachineARN: machine,
		Signer: api.Signer{S3: s3.NewPresignClient(client), Credentials: creds, Bucket: names.Bucket},
	}
}

// call is one request; the zero value of a field means none.
type call struct {
	route   string // "POST /v1/analyses/{analysis_id}/confirm"
	id      string
	sub     string // default: athlete
	groups  string
	key     string
	body    string
	query   map[string]string
	headers map[string]string
	base64  bool
}

const athlete = "ath-1"

func (c call) event() events.APIGatewayV2HTTPRequest {
	ev := events.APIGatewayV2HTTPRequest{RouteKey: c.route, Body: c.body, IsBase64Encoded: c.base64, QueryStringParameters: c.query,
		Headers: map[string]string{"content-type": "application/json"}}
	for k, v := range c.headers {
		ev.Headers[k] = v
	}
	if c.key != "" {
		ev.Headers["idempotency-key"] = c.key
	}
	if c.id != "" {
		ev.PathParameters = map[string]string{"analysis_id": c.id}
	}
	sub := c.sub
	if sub == "" {
		sub = athlete
	}
	claims := map[string]string{"sub": sub, "token_use": "access"}
	if c.groups != "" {
		claims["cognito:groups"] = c.groups
	}
	ev.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
		JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: claims}}
	return ev
}

// reply is an answer with its body decoded.
type reply struct {
	events.APIGatewayV2HTTPResponse
	body map[string]any
}

func (r reply) str(key string) string { s, _ := r.body[key].(string); return s }

func (w *world) do(c call) reply {
	w.t.Helper()
	return w.send(w.fn, c.event())
}

func (w *world) send(fn lambda.Handler, ev events.APIGatewayV2HTTPRequest) reply {
	w.t.Helper()
	in, err := json.Marshal(ev)
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := fn.Invoke(w.t.Context(), in)
	if err != nil {
		w.t.Fatalf("%s: the function failed: %v", ev.RouteKey, err)
	}
	var r reply
	if err := json.Unmarshal(out, &r.APIGatewayV2HTTPResponse); err != nil {
		w.t.Fatal(err)
	}
	if r.Body != "" {
		if err := json.Unmarshal([]byte(r.Body), &r.body); err != nil {
			w.t.Fatalf("%s: body %q: %v", ev.RouteKey, r.Body, err)
		}
	}
	if r.StatusCode >= 400 { // every error is a problem document
		if r.Headers["Content-Type"] != "application/problem+json" || r.str("code") == "" || r.str("title") == "" ||
			r.str("type") != "urn:fastbowlinglab:problem:"+r.str("code") || r.body["status"] != float64(r.StatusCode) {
			w.t.Errorf("%s: %d is no problem document: %v %s", ev.RouteKey, r.StatusCode, r.Headers, r.Body)
		}
	}
	return r
}

// want asserts status and, for an error, code.
func (r reply) want(t *testing.T, status int, code string) reply {
	t.Helper()
	if r.StatusCode != status || status >= 400 && r.str("code") != code {
		t.Fatalf("answer %d %s, want %d %s", r.StatusCode, r.Body, status, code)
	}
	return r
}

const goodBody = `{"athlete":{"name":"Zoë"},"email":"z@example.com","time_zone":"Europe/London","notes":"n","consent":true,
	"clips":[{"name":"a.mp4","type":"video/mp4","size_bytes":10}]}`

func (w *world) grant(n int) {
	w.t.Helper()
	w.do(call{route: "POST /v1/operator/grants", sub: "op-1", groups: "[coaches operators]", key: fmt.Sprint("grant", time.Now().UnixNano()),
		body: fmt.Sprintf(`{"athlete_id":%q,"credits":%d,"reason":"test"}`, athlete, n)}).want(w.t, 201, "")
}

// reserve creates an analysis and returns its id.
func (w *world) reserve(key string) string {
	w.t.Helper()
	return w.do(call{route: "POST /v1/analyses", key: key, body: goodBody}).want(w.t, 201, "").str("analysis_id")
}

func (w *world) confirmed(key string) string {
	w.t.Helper()
	id := w.reserve(key)
	w.bucket.put(names.ClipKey(id, 0), "video")
	w.do(call{route: confirm, id: id}).want(w.t, 202, "")
	return id
}

const (
	confirm = "POST /v1/analyses/{analysis_id}/confirm"
	cancel  = "POST /v1/analyses/{analysis_id}/cancel"
	uploads = "POST /v1/analyses/{analysis_id}/uploads"
	show    = "GET /v1/analyses/{analysis_id}"
	report  = "GET /v1/analyses/{analysis_id}/report"
)

// transact writes one item of a transaction.
func (w *world) transact(item ddb.TransactWriteItem) {
	w.t.Helper()
	if _, err := w.db.TransactWriteItems(w.t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []ddb.TransactWriteItem{item}}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) begin(id string) {
	w.t.Helper()
	if b, err := w.deps.Life.Begin(w.t.Context(), id, 1, analysis.ExecutionName(id, 1), nil); err != nil || !b.Proceed {
		w.t.Fatalf("begin: %+v, %v", b, err)
	}
}
