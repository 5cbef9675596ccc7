package apiclient_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/functions/api"
	"fastbowlinglab/integration/apiclient"
	"fastbowlinglab/integration/local/httpapi"
	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/dynamotest"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/posejob"
	"fastbowlinglab/shared/usage"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// invoker calls the function as the gateway does.
type invoker struct{ fn lambda.Handler }

func (i invoker) Invoke(ctx context.Context, _ string, payload []byte) ([]byte, string, error) {
	out, err := i.fn.Invoke(context.WithoutCancel(ctx), payload)
	return out, "", err
}

// storage is a bucket without objects.
type storage struct{}

func (storage) GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	return nil, &s3types.NoSuchKey{}
}

func (storage) ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
	return &s3.ListObjectsV2Output{}, nil
}

type keys struct{}

func (keys) Keys(context.Context) ([][]byte, error) {
	return [][]byte{[]byte("a-key-that-nobody-knows")}, nil
}

// executions starts and stops nothing.
type executions struct{}

func (executions) StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error) {
	return &sfn.StartExecutionOutput{}, nil
}

func (executions) StopExecution(context.Context, *sfn.StopExecutionInput, ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error) {
	return &sfn.StopExecutionOutput{}, nil
}

// world is the HTTP API over a real database: gateway, token checks, function.
type world struct {
	*httptest.Server
	t      *testing.T
	issuer *httpapi.Issuer
	db     *dynamodb.Client
	fn     invoker
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := dynamotest.New(t)
	issuer, err := httpapi.OpenIssuer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	creds := credentials.NewStaticCredentialsProvider("id", "secret", "")
	jobs := &posejob.Store{DB: db, Table: names.PoseJobs.Name, Analyses: names.Analyses.Name}
	fn := api.New(api.Deps{
		Life:     analysis.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name},
		Ledger:   credit.Store{DB: db, Credits: names.Credits.Name, Effects: names.Effects.Name},
		Ends:     outcome.Store{DB: db, Analyses: names.Analyses.Name, Credits: names.Credits.Name, Notices: names.Notices.Name},
		Usage:    usage.Store{DB: db, Usage: names.Usage.Name, Prices: names.Prices.Name},
		Progress: api.PoseJobs{Store: jobs}, Jobs: jobs, Tags: names.Tags.Name,
		People:   athlete.Store{DB: db, Athletes: names.Athletes.Name, Suppressions: names.Suppressions.Name},
		Erasures: erasure.Store{DB: db, Table: names.Erasures.Name}, PaymentKeys: keys{}, Rows: db, Notices: names.Notices.Name,
		Folder: storage{}, Objects: storage{}, Bucket: names.Bucket, Steps: executions{}, MachineARN: "arn:aws:states:eu-west-1:1:stateMachine:m",
		Signer: api.Signer{S3: s3.NewPresignClient(s3.New(s3.Options{Region: "eu-west-1", Credentials: creds})), Credentials: creds, Bucket: names.Bucket},
	})
	gw, err := httpapi.New(httpapi.Config{Lambda: invoker{fn}, Auth: issuer.Authorizer(), CORS: &httpapi.CORS{Origins: []string{"https://app.example"}}})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{httptest.NewServer(gw), t, issuer, db, invoker{fn}}
	t.Cleanup(w.Close)
	return w
}

func (w *world) token(sub string, groups ...string) string {
	w.t.Helper()
	s, err := w.issuer.Token(sub, groups, time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) client(sub string, groups ...string) *apiclient.Client {
	return &apiclient.Client{Base: w.URL, Token: w.token(sub, groups...)}
}

func (w *world) grant(sub string, n int64) {
	w.t.Helper()
	if _, err := w.client("op", names.OperatorGroup).Grant(w.t.Context(), "g-"+sub, apiclient.GrantRequest{AthleteID: sub, Credits: n, Reason: "test"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) signed(change map[string]any, drop ...string) string {
	w.t.Helper()
	now := time.Now()
	c := map[string]any{"sub": "owner", "iss": httpapi.IssuerURL, "client_id": httpapi.ClientID, "token_use": "access",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	for k, v := range change {
		c[k] = v
	}
	for _, k := range drop {
		delete(c, k)
	}
	s, err := w.issuer.Sign(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// Every route with every token that is not its caller's: 401, 403 for operators'
// routes, or 404 as for an analysis that does not exist.
func TestAuthorisation(t *testing.T) {
	w := newWorld(t)
	w.grant("owner", 1)
	mine, err := w.client("owner").Create(t.Context(), "k", good)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := httpapi.OpenIssuer(t.TempDir()) // another key, the same names
	if err != nil {
		t.Fatal(err)
	}
	forged, err := foreign.Token("owner", []string{names.OperatorGroup}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(w.token("owner"), ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))
	bad := map[string]string{
		"no token": "", "nonsense": "abc", "alg none": none + "." + parts[1] + ".", "alg none, signed": none + "." + parts[1] + "." + parts[2],
		"another key": forged, "cut signature": parts[0] + "." + parts[1] + "." + parts[2][:20],
		"expired":        w.signed(map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}),
		"no expiry":      w.signed(nil, "exp"),
		"wrong issuer":   w.signed(map[string]any{"iss": "https://evil.example"}),
		"wrong audience": w.signed(map[string]any{"client_id": "another-app"}),
		"aud of another": w.signed(map[string]any{"aud": "another-app"}),
		"ID token":       w.signed(map[string]any{"token_use": "id", "aud": httpapi.ClientID}, "client_id"),
		"no use":         w.signed(nil, "token_use"),
		"nobody":         w.signed(nil, "sub"),
	}
	before := w.rows()
	send := func(r names.Route, id, token string) (int, string) {
		path := strings.ReplaceAll(r.Path, "{analysis_id}", id)
		req, err := http.NewRequest(r.Method, w.URL+path, bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", "k")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	for _, r := range names.Routes() {
		if r.Function != names.FnAPI || r.Access == names.AccessPublic {
			continue
		}
		for name, token := range bad {
			if status, body := send(r, mine.AnalysisID, token); status != 401 || strings.Contains(body, mine.AnalysisID) {
				t.Errorf("%s, %s: %d %s", r.Key(), name, status, body)
			}
		}
		other := w.token("somebody-else")
		if r.Method == "GET" && r.Access == names.AccessAthlete && !strings.Contains(r.Path, "{") {
			if status, body := send(r, "", other); status != 200 || strings.Contains(body, mine.AnalysisID) || strings.Contains(body, "owner") {
				t.Errorf("%s by somebody else: %d %s", r.Key(), status, body)
			}
		}
		switch {
		case r.Access == names.AccessOperator:
			if status, body := send(r, "", other); status != 403 {
				t.Errorf("%s by an athlete: %d %s", r.Key(), status, body)
			}
		case strings.Contains(r.Path, "{analysis_id}"):
			status, theirs := send(r, mine.AnalysisID, other)
			missing, absent := send(r, "an-aaaaaaaaaaaaaaaaaaaaaaaaaa", other)
			if status != 404 || missing != 404 || theirs != absent {
				t.Errorf("%s: another's answers %d %s, none's %d %s: they must not differ", r.Key(), status, theirs, missing, absent)
			}
		}
	}
	if after := w.rows(); after != before {
		t.Errorf("something was written:\n%s\n%s", before, after)
	}
}

func (w *world) rows() string {
	w.t.Helper()
	var all []string
	for _, tb := range names.Tables() {
		out, err := w.db.Scan(w.t.Context(), &dynamodb.ScanInput{TableName: &tb.Name})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, it := range out.Items {
			b, _ := json.Marshal(it)
			all = append(all, string(b))
		}
	}
	return strings.Join(all, "\n")
}

// Field case 51: a browser can read what the gateway itself refuses, and may ask
// before it sends.
func TestBrowsersCanReadRefusals(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct{ method, path string }{{"OPTIONS", "/v1/analyses"}, {"DELETE", "/v1/me"}, {"POST", "/v1/analyses"}, {"GET", "/v1/nothing"}} {
		req, err := http.NewRequest(tc.method, w.URL+tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", "https://app.example")
		req.Header.Set("Access-Control-Request-Method", "POST")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "https://app.example" {
			t.Errorf("%s %s: %d, allowed origin %q", tc.method, tc.path, resp.StatusCode, got)
		}
		if tc.method == "OPTIONS" && !strings.Contains(strings.ToLower(resp.Header.Get("Access-Control-Allow-Headers")), "idempotency-key") {
			t.Errorf("preflight %v", resp.Header)
		}
	}
}
