package httpapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"fastbowlinglab/integration/local/httpapi"
	"fastbowlinglab/shared/names"
)

// lambda is a function that remembers its events and answers what it is told.
type lambda struct {
	out           string
	functionError string
	err           error
	block         bool // until the caller stops waiting

	mu     sync.Mutex
	events []events.APIGatewayV2HTTPRequest
	raw    [][]byte
}

func (l *lambda) Invoke(ctx context.Context, function string, payload []byte) ([]byte, string, error) {
	var ev events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(payload, &ev); err != nil {
		return nil, "", err
	}
	l.mu.Lock()
	l.events, l.raw = append(l.events, ev), append(l.raw, payload)
	l.mu.Unlock()
	if l.block {
		<-ctx.Done()
		return nil, "", ctx.Err()
	}
	return []byte(l.out), l.functionError, l.err
}

func (l *lambda) last(t *testing.T) events.APIGatewayV2HTTPRequest {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) == 0 {
		t.Fatal("the function was not called")
	}
	return l.events[len(l.events)-1]
}

func (l *lambda) calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

const ok = `{"statusCode":200,"headers":{"content-type":"application/json"},"body":"{}"}`

// fixture is an API over a fake function, with a real issuer.
type fixture struct {
	*httptest.Server
	fn     *lambda
	issuer *httpapi.Issuer
	token  string
}

func serve(t *testing.T, fn *lambda, opts ...func(*httpapi.Config)) *fixture {
	t.Helper()
	issuer, err := httpapi.OpenIssuer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	token, err := issuer.Token("athlete-1", []string{"operators", "staff"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	cfg := httpapi.Config{Lambda: fn, Auth: issuer.Authorizer()}
	for _, o := range opts {
		o(&cfg)
	}
	api, err := httpapi.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(api)
	t.Cleanup(srv.Close)
	return &fixture{srv, fn, issuer, token}
}

func cors(origins ...string) func(*httpapi.Config) {
	return func(c *httpapi.Config) { c.CORS = &httpapi.CORS{Origins: origins} }
}

// do sends a request with the fixture's token; header lines are "name: value"
// and "authorization:" takes the token away.
func (f *fixture) do(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	for _, h := range header {
		k, v, _ := strings.Cut(h, ":")
		if v = strings.TrimSpace(v); v == "" {
			req.Header.Del(k)
		} else if strings.EqualFold(k, "authorization") {
			req.Header.Set(k, v)
		} else {
			req.Header.Add(k, v)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, strings.TrimSpace(string(b))
}

func routes(rs ...names.Route) func(*httpapi.Config) {
	return func(c *httpapi.Config) { c.Routes = rs }
}
