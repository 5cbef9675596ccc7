package httpapi

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"fastbowlinglab/shared/names"
)

// Account and APIID appear in every event.
const (
	Account = "000000000000"
	APIID   = "local"
)

// event makes the payload, format 2.0.
func event(r *http.Request, route names.Route, params map[string]string, caller *identity, body []byte, id string) events.APIGatewayV2HTTPRequest {
	now := time.Now().UTC()
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr
	}
	ev := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: route.Key(), RawPath: r.URL.Path, RawQueryString: r.URL.RawQuery,
		Cookies: cookies(r.Header), Headers: headers(r, ip), QueryStringParameters: query(r.URL.RawQuery), PathParameters: params,
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey: route.Key(), AccountID: Account, Stage: "$default", RequestID: id, APIID: APIID,
			DomainName: host, DomainPrefix: APIID, Time: now.Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: now.UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: ip, UserAgent: r.UserAgent()},
		},
	}
	if caller != nil {
		ev.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: caller.claims, Scopes: caller.scopes}}
	}
	ev.Body, ev.IsBase64Encoded = encodeBody(body, r.Header)
	return ev
}

// headers gives lower-case names with their values joined by commas, and what a
// gateway adds. Cookies are apart; hop-by-hop headers stay here.
func headers(r *http.Request, ip string) map[string]string {
	out := map[string]string{"host": r.Host}
	for k, vs := range r.Header {
		switch k {
		case "Cookie", "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
			continue
		}
		out[strings.ToLower(k)] = strings.Join(vs, ",")
	}
	if r.ContentLength >= 0 {
		out["content-length"] = strconv.FormatInt(r.ContentLength, 10)
	}
	if before := out["x-forwarded-for"]; before != "" {
		ip = before + ", " + ip
	}
	out["x-forwarded-for"] = ip
	out["x-forwarded-proto"] = "http"
	if r.TLS != nil {
		out["x-forwarded-proto"] = "https"
	}
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		out["x-forwarded-port"] = port
	}
	return out
}

func cookies(h http.Header) []string {
	var out []string
	for _, line := range h.Values("Cookie") {
		for c := range strings.SplitSeq(line, ";") {
			if c = strings.TrimSpace(c); c != "" {
				out = append(out, c)
			}
		}
	}
	return out
}

// query decodes the parameters; repeated ones are joined by commas in the order
// in which they came. What cannot be decoded is left out, as by url.ParseQuery.
func query(raw string) map[string]string {
	values, _ := url.ParseQuery(raw)
	if len(values) == 0 {
		return nil
	}
	out := make(map[string]string, len(values))
	for k, vs := range values {
		out[k] = strings.Join(vs, ",")
	}
	return out
}

// encodeBody leaves text as it is and encodes everything else, which includes
// bodies without a content type and form posts.
func encodeBody(body []byte, h http.Header) (string, bool) {
	if len(body) == 0 {
		return "", false
	}
	if isText(h) && utf8.Valid(body) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

func isText(h http.Header) bool {
	if h.Get("Content-Encoding") != "" {
		return false
	}
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return false
	}
	switch t {
	case "application/json", "application/javascript", "application/xml":
		return true
	}
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml")
}

// requestID has the form of API Gateway's extended request ids.
func requestID() string {
	var b [11]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s=", base64.RawURLEncoding.EncodeToString(b[:]))
}
