package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/names"
)

func TestEventOfARoute(t *testing.T) {
	f := serve(t, &lambda{out: ok})
	before := time.Now().UnixMilli()
	f.do(t, "POST", "/v1/analyses/an-1%2F2%20x/confirm?b=2&a=1&a=3&c=%20", `{"x":"é"}`,
		"content-type: application/json; charset=utf-8", "X-Twice: one", "X-Twice: two", "cookie: s=1; t=2", "user-agent: test/1", "x-forwarded-for: 9.9.9.9")
	ev := f.fn.last(t)
	for _, c := range []struct{ what, got, want string }{
		{"version", ev.Version, "2.0"},
		{"routeKey", ev.RouteKey, "POST /v1/analyses/{analysis_id}/confirm"},
		{"requestContext.routeKey", ev.RequestContext.RouteKey, "POST /v1/analyses/{analysis_id}/confirm"},
		{"rawPath", ev.RawPath, "/v1/analyses/an-1/2 x/confirm"},
		{"path parameter, unescaped", ev.PathParameters["analysis_id"], "an-1/2 x"},
		{"rawQueryString", ev.RawQueryString, "b=2&a=1&a=3&c=%20"},
		{"repeated query parameter", ev.QueryStringParameters["a"], "1,3"},
		{"decoded query parameter", ev.QueryStringParameters["c"], " "},
		{"repeated header", ev.Headers["x-twice"], "one,two"},
		{"no cookie header", ev.Headers["cookie"], ""},
		{"cookies", strings.Join(ev.Cookies, "|"), "s=1|t=2"},
		{"body", ev.Body, `{"x":"é"}`},
		{"x-forwarded-for", ev.Headers["x-forwarded-for"], "9.9.9.9, 127.0.0.1"},
		{"x-forwarded-proto", ev.Headers["x-forwarded-proto"], "http"},
		{"content-length", ev.Headers["content-length"], "10"},
		{"host", ev.Headers["host"], strings.TrimPrefix(f.URL, "http://")},
		{"method", ev.RequestContext.HTTP.Method, "POST"},
		{"source IP", ev.RequestContext.HTTP.SourceIP, "127.0.0.1"},
		{"user agent", ev.RequestContext.HTTP.UserAgent, "test/1"},
		{"stage", ev.RequestContext.Stage, "$default"},
		{"sub", ev.RequestContext.Authorizer.JWT.Claims["sub"], "athlete-1"},
		{"groups", ev.RequestContext.Authorizer.JWT.Claims["cognito:groups"], "[operators staff]"},
		{"number claim", ev.RequestContext.Authorizer.JWT.Claims["version"], "2"},
		{"scopes", strings.Join(ev.RequestContext.Authorizer.JWT.Scopes, " "), "aws.cognito.signin.user.admin"},
	} {
		if c.got != c.want {
			t.Errorf("%s is %q, want %q", c.what, c.got, c.want)
		}
	}
	if ev.IsBase64Encoded {
		t.Error("a JSON body came as base64")
	}
	if ev.RequestContext.RequestID == "" || ev.RequestContext.TimeEpoch < before {
		t.Errorf("request id %q, time %d", ev.RequestContext.RequestID, ev.RequestContext.TimeEpoch)
	}
	if at, err := time.Parse("02/Jan/2006:15:04:05 -0700", ev.RequestContext.Time); err != nil || at.Unix() != ev.RequestContext.TimeEpoch/1000 {
		t.Errorf("time %q does not agree with %d (%v)", ev.RequestContext.Time, ev.RequestContext.TimeEpoch, err)
	}
	for k := range ev.Headers {
		if k != strings.ToLower(k) {
			t.Errorf("header %s is not lower-case", k)
		}
	}
}

func TestEmptyFieldsAreAbsent(t *testing.T) {
	f := serve(t, &lambda{out: ok})
	f.do(t, "GET", "/v1/credits", "")
	var ev map[string]any
	if err := json.Unmarshal(f.fn.raw[0], &ev); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"cookies", "queryStringParameters", "pathParameters", "body", "stageVariables"} {
		if _, there := ev[k]; there {
			t.Errorf("%s is there, with nothing in it: keys %v", k, slices.Sorted(maps.Keys(ev)))
		}
	}
}

func TestBodies(t *testing.T) {
	f := serve(t, &lambda{out: ok})
	for _, c := range []struct {
		name, contentType, body string
		more                    string
		base64                  bool
	}{
		{name: "JSON", contentType: "application/json", body: `{"a":1}`},
		{name: "problem JSON", contentType: "application/problem+json", body: `{}`},
		{name: "text", contentType: "text/plain", body: "வணக்கம்"},
		{name: "text that is not UTF-8", contentType: "text/plain", body: "\xff\xfe", base64: true},
		{name: "a form", contentType: "application/x-www-form-urlencoded", body: "a=1", base64: true},
		{name: "no content type", contentType: "", body: "{}", base64: true},
		{name: "bytes", contentType: "application/octet-stream", body: "abc", base64: true},
		{name: "compressed JSON", contentType: "application/json", body: "{}", more: "content-encoding: br", base64: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.do(t, "POST", "/v1/analyses", c.body, "content-type:"+c.contentType, c.more)
			ev := f.fn.last(t)
			if ev.IsBase64Encoded != c.base64 {
				t.Fatalf("base64 %v, want %v", ev.IsBase64Encoded, c.base64)
			}
			got := ev.Body
			if c.base64 {
				b, err := base64.StdEncoding.DecodeString(ev.Body)
				if err != nil {
					t.Fatal(err)
				}
				got = string(b)
			}
			if got != c.body {
				t.Errorf("body %q, want %q", got, c.body)
			}
		})
	}
}

func TestEveryRouteReachesItsFunction(t *testing.T) {
	f := serve(t, &lambda{out: ok})
	for _, r := range names.Routes() {
		res, _ := f.do(t, r.Method, strings.ReplaceAll(r.Path, "{analysis_id}", "an-7"), "")
		if res.StatusCode != 200 || f.fn.last(t).RouteKey != r.Key() {
			t.Errorf("%s: status %d, came as %s", r.Key(), res.StatusCode, f.fn.last(t).RouteKey)
		}
	}
}
