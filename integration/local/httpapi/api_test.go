package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"net/http/httptest"

	"fastbowlinglab/integration/local/httpapi"
	"fastbowlinglab/shared/names"
)

type coded string

func (c coded) Error() string     { return "refused: " + string(c) }
func (c coded) ErrorCode() string { return string(c) }

// TestAnswers is the table of what a client sees for what a function does.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name        string
		fn          *lambda
		status      int
		body        string
		contentType string
	}{
		{"a full answer", &lambda{out: `{"statusCode":201,"headers":{"Content-Type":"application/problem+json","X-N":3},"body":"{\"a\":1}"}`}, 201, `{"a":1}`, "application/problem+json"},
		{"status alone", &lambda{out: `{"statusCode":204}`}, 204, "", "text/plain;charset=UTF-8"},
		{"a base64 body", &lambda{out: `{"statusCode":200,"body":"aGk=","isBase64Encoded":true}`}, 200, "hi", "text/plain;charset=UTF-8"},
		{"a bare document is a 200", &lambda{out: `{"analysis_id":"an-1"}`}, 200, `{"analysis_id":"an-1"}`, "application/json"},
		{"a bare document with a field called headers", &lambda{out: `{"headers":5}`}, 200, `{"headers":5}`, "application/json"},
		{"a bare string is a 200", &lambda{out: `"hello"`}, 200, `"hello"`, "application/json"},
		{"no JSON", &lambda{out: `hello`}, 500, `{"message":"Internal Server Error"}`, "application/json"},
		{"nothing", &lambda{out: ``}, 500, `{"message":"Internal Server Error"}`, "application/json"},
		{"a status that is none", &lambda{out: `{"statusCode":"soon"}`}, 500, `{"message":"Internal Server Error"}`, "application/json"},
		{"a status out of range", &lambda{out: `{"statusCode":99}`}, 500, `{"message":"Internal Server Error"}`, "application/json"},
		{"a body that is an object", &lambda{out: `{"statusCode":200,"body":{}}`}, 500, `{"message":"Internal Server Error"}`, "application/json"},
		{"a header that is a list", &lambda{out: `{"statusCode":200,"headers":{"a":["b"]}}`}, 500, `{"message":"Internal Server Error"}`, "application/json"},
		{"a broken base64 body", &lambda{out: `{"statusCode":200,"body":"%","isBase64Encoded":true}`}, 500, `{"message":"Internal Server Error"}`, "application/json"},
		{"the function failed", &lambda{out: `{"errorType":"Permanent"}`, functionError: "Unhandled"}, 500, `{"message":"Internal Server Error"}`, "application/json"},
		{"the function does not exist", &lambda{err: coded("ResourceNotFoundException")}, 500, `{"message":"Internal Server Error"}`, "application/json"},
		{"the function is throttled", &lambda{err: coded("TooManyRequestsException")}, 503, `{"message":"Service Unavailable"}`, "application/json"},
		{"the event is too large for Lambda", &lambda{err: coded("RequestTooLargeException")}, 413, `{"message":"Request Entity Too Large"}`, "application/json"},
		{"something else", &lambda{err: errors.New("boom")}, 500, `{"message":"Internal Server Error"}`, "application/json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, body := serve(t, c.fn).do(t, "GET", "/v1/credits", "")
			if res.StatusCode != c.status || body != c.body || res.Header.Get("Content-Type") != c.contentType {
				t.Errorf("got %d %s %q, want %d %s %q", res.StatusCode, res.Header.Get("Content-Type"), body, c.status, c.contentType, c.body)
			}
			if res.Header.Get("Apigw-Requestid") == "" {
				t.Error("no apigw-requestid")
			}
		})
	}
}

func TestCookiesOfAnAnswer(t *testing.T) {
	res, _ := serve(t, &lambda{out: `{"statusCode":200,"cookies":["a=1; Path=/","b=2"]}`}).do(t, "GET", "/v1/credits", "")
	if got := res.Header.Values("Set-Cookie"); len(got) != 2 || got[0] != "a=1; Path=/" {
		t.Errorf("set-cookie %q", got)
	}
}

func TestNotFound(t *testing.T) {
	f := serve(t, &lambda{out: ok})
	for _, c := range []struct{ method, path string }{
		{"GET", "/"}, {"GET", "/v1/nothing"}, {"DELETE", "/v1/analyses"}, {"GET", "/v1/credits/"}, {"GET", "/v1//analyses"},
		{"GET", "/v1/analyses//report"}, {"GET", "/v1/analyses/a/b/c"}, {"HEAD", "/v1/credits"}, {"OPTIONS", "/v1/credits"},
	} {
		res, body := f.do(t, c.method, c.path, "", "authorization:")
		want := `{"message":"Not Found"}`
		if c.method == "HEAD" {
			want = ""
		}
		if res.StatusCode != 404 || body != want {
			t.Errorf("%s %s: %d %q, want 404 %q", c.method, c.path, res.StatusCode, body, want)
		}
	}
	if f.fn.calls() != 0 {
		t.Error("the function was called")
	}
}

func TestALiteralWinsOverAParameter(t *testing.T) {
	f := serve(t, &lambda{out: ok}, routes(
		names.Route{Method: "GET", Path: "/a/{x}/c", Access: names.AccessAthlete, Function: "p"},
		names.Route{Method: "GET", Path: "/a/b/{y}", Access: names.AccessAthlete, Function: "l"},
		names.Route{Method: "GET", Path: "/a/b/c", Access: names.AccessPublic, Function: "all"},
	))
	for path, want := range map[string]string{"/a/b/c": "GET /a/b/c", "/a/z/c": "GET /a/{x}/c", "/a/b/z": "GET /a/b/{y}"} {
		f.do(t, "GET", path, "")
		if got := f.fn.last(t).RouteKey; got != want {
			t.Errorf("%s went to %s, want %s", path, got, want)
		}
	}
}

func TestRoutesThatCannotBeServed(t *testing.T) {
	for _, rs := range [][]names.Route{
		{{Method: "GET", Path: "a"}}, {{Method: "GET", Path: "/a/"}}, {{Method: "GET", Path: "/{proxy+}"}}, {{Method: "GET", Path: "/a{b}"}},
		{{Method: "GET", Path: "/{a}", Access: names.AccessPublic}, {Method: "GET", Path: "/{b}", Access: names.AccessPublic}},
		{{Method: "GET", Path: "/a", Access: names.AccessAthlete}}, // no authorizer
	} {
		if _, err := httpapi.New(httpapi.Config{Routes: rs, Lambda: &lambda{}}); err == nil {
			t.Errorf("%+v was taken", rs)
		}
	}
}

func TestPublicRouteNeedsNoToken(t *testing.T) {
	f := serve(t, &lambda{out: ok}, routes(names.Route{Method: "POST", Path: "/callback", Access: names.AccessPublic, Function: "cb"}))
	if res, _ := f.do(t, "POST", "/callback", "", "authorization:"); res.StatusCode != 200 {
		t.Errorf("status %d", res.StatusCode)
	}
	if f.fn.last(t).RequestContext.Authorizer != nil {
		t.Error("an authorizer context without a token")
	}
}

func TestBodyLimit(t *testing.T) {
	f := serve(t, &lambda{out: ok})
	if res, body := f.do(t, "POST", "/v1/analyses", strings.Repeat("x", httpapi.MaxBody+1)); res.StatusCode != 413 || body != `{"message":"Request Entity Too Large"}` {
		t.Errorf("one byte over: %d %s", res.StatusCode, body)
	}
	if res, _ := f.do(t, "POST", "/v1/analyses", strings.Repeat("x", httpapi.MaxBody)); res.StatusCode != 200 {
		t.Errorf("at the limit: %d", res.StatusCode)
	}
}

// TestIntegrationTimeout runs in virtual time, without a listener.
func TestIntegrationTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, err := httpapi.New(httpapi.Config{Lambda: &lambda{block: true}, CORS: &httpapi.CORS{Origins: []string{"*"}},
			Routes: []names.Route{{Method: "GET", Path: "/slow", Access: names.AccessPublic, Function: "f"}}})
		if err != nil {
			t.Fatal(err)
		}
		w, start := httptest.NewRecorder(), time.Now()
		r := httptest.NewRequest("GET", "/slow", nil)
		r.Header.Set("Origin", "https://app.example")
		api.ServeHTTP(w, r)
		if got := time.Since(start); got != 30*time.Second {
			t.Errorf("answered after %v, want 30 s", got)
		}
		if w.Code != 503 || strings.TrimSpace(w.Body.String()) != `{"message":"Service Unavailable"}` {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Error("the gateway's own error lacks the CORS header: a browser would hide it")
		}
	})
}

func TestAClientThatHangsUpIsNotAnswered(t *testing.T) {
	api, err := httpapi.New(httpapi.Config{Lambda: &lambda{block: true},
		Routes: []names.Route{{Method: "GET", Path: "/slow", Access: names.AccessPublic, Function: "f"}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest("GET", "/slow", nil).WithContext(ctx))
	if w.Body.Len() != 0 {
		t.Errorf("answered %s", w.Body)
	}
}

func TestCORS(t *testing.T) {
	const app, other = "https://app.example", "https://evil.example"
	fnAnswer := `{"statusCode":200,"headers":{"Access-Control-Allow-Origin":"https://function.example","x-own":"1"},"body":"{}"}`
	f := serve(t, &lambda{out: fnAnswer}, cors(app))
	preflight := []string{"authorization:", "access-control-request-method: POST", "access-control-request-headers: authorization,idempotency-key"}

	res, body := f.do(t, "OPTIONS", "/v1/analyses", "", append(preflight, "origin: "+app)...)
	h := res.Header
	if res.StatusCode != 204 || body != "" || h.Get("Access-Control-Allow-Origin") != app || h.Get("Access-Control-Max-Age") != "3600" ||
		!strings.Contains(h.Get("Access-Control-Allow-Headers"), "idempotency-key") || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight: %d %q %v", res.StatusCode, body, h)
	}
	res, _ = f.do(t, "OPTIONS", "/v1/analyses", "", append(preflight, "origin: "+other)...)
	if res.StatusCode != 204 || res.Header.Get("Access-Control-Allow-Origin") != "" || res.Header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("preflight of another origin: %d %v", res.StatusCode, res.Header)
	}
	for _, c := range []struct {
		name, path, auth, want string
		status                 int
	}{
		{"an answer", "/v1/credits", "authorization: Bearer " + f.token, app, 200},
		{"the gateway's 401", "/v1/credits", "authorization:", app, 401},
		{"the gateway's 404", "/v1/nothing", "authorization:", app, 404},
	} {
		res, _ := f.do(t, "GET", c.path, "", c.auth, "origin: "+app)
		if got := res.Header.Values("Access-Control-Allow-Origin"); res.StatusCode != c.status || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %d with origins %q, want %d with %q", c.name, res.StatusCode, got, c.status, c.want)
		}
		if c.status == 200 && res.Header.Get("X-Own") != "1" {
			t.Error("the function's other headers are gone")
		}
	}
	res, _ = f.do(t, "GET", "/v1/credits", "")
	if res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("CORS headers without an origin")
	}
	res, _ = serve(t, &lambda{out: ok}, cors("*")).do(t, "GET", "/v1/credits", "", "origin: "+other)
	if res.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Error("any origin was to be allowed")
	}
	res, _ = serve(t, &lambda{out: fnAnswer}).do(t, "GET", "/v1/credits", "", "origin: "+app)
	if res.Header.Get("Access-Control-Allow-Origin") != "https://function.example" {
		t.Error("without a CORS setting the function's own header is to pass")
	}
}

func TestJWKSIsServed(t *testing.T) {
	issuer, err := httpapi.OpenIssuer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	issuer.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/.well-known/jwks.json", nil))
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"kty":"RSA"`) || strings.Contains(w.Body.String(), `"d"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
