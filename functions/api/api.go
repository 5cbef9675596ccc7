// Package api serves the HTTP API: reserve an analysis, upload its clips,
// confirm, watch, fetch the report, cancel; the athlete's ledger; the operators'
// grants and costs. Every answer is JSON; every error is a problem document
// (RFC 9457) with a stable code.
//
// The gateway has checked the token before this code runs. Whose analysis it is
// and who is an operator is checked here. No paid work is done inside a request:
// confirm starts an execution and returns.
package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/athlete"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/erasure"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/outbox"
	"fastbowlinglab/shared/outcome"
	"fastbowlinglab/shared/usage"
)

// Progress tells how far a pose pass is; ok is false when there is none at this
// attempt.
type Progress interface {
	Progress(ctx context.Context, analysisID string, attempt int) (p Pass, ok bool, err error)
}

// Deps is what the function works with.
type Deps struct {
	Life        analysis.Store
	Ledger      credit.Store
	Ends        outcome.Store
	Usage       usage.Store
	People      athlete.Store
	Erasures    erasure.Store
	PaymentKeys KeySource
	Rows        outbox.Lister // of notices and tags, for the export
	Notices     string        // tables
	Tags        string
	Folder      Lister // the bucket's, for the export
	Jobs        JobReader
	Progress    Progress
	Objects     analysis.Objects
	Signer      Signer
	Bucket      string
	Steps       analysis.Stopper
	MachineARN  string
	Closed      bool // the intake: new analyses are refused
	Now         func() time.Time
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

// request is one call, after the checks that all routes share.
type request struct {
	events.APIGatewayV2HTTPRequest
	Athlete string // sub of the token
	Body    []byte
}

// header gives a header's value; API Gateway sends names in lower case, others
// may not.
func (r request) header(name string) string {
	for k, v := range r.Headers {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// answer is a successful response.
type answer struct {
	Status int
	Body   any
	ETag   bool // tag the body and answer 304 to whoever has it
}

type route func(Deps, context.Context, request) (answer, error)

// routes maps every declared route of this function to its code.
var routes = map[string]route{
	"POST /v1/analyses":                       Deps.create,
	"GET /v1/analyses":                        Deps.list,
	"GET /v1/analyses/{analysis_id}":          Deps.show,
	"POST /v1/analyses/{analysis_id}/uploads": Deps.uploads,
	"POST /v1/analyses/{analysis_id}/confirm": Deps.confirm,
	"POST /v1/analyses/{analysis_id}/cancel":  Deps.cancel,
	"GET /v1/analyses/{analysis_id}/report":   Deps.report,
	"GET /v1/credits":                         Deps.credits,
	"POST /v1/analyses/{analysis_id}/rerun":   Deps.rerun,
	"GET /v1/me":                              Deps.me,
	"PUT /v1/me":                              Deps.setMe,
	"DELETE /v1/me":                           Deps.eraseMe,
	"GET /v1/me/export":                       Deps.export,
	"POST /v1/payments/events":                Deps.paymentEvent,
	"GET /v1/openapi.json":                    Deps.openAPI,
	"POST /v1/operator/grants":                Deps.grant,
	"GET /v1/usage":                           Deps.usage,
}

// New makes the function.
func New(d Deps) lambda.Handler { return lambda.NewHandler(d.serve) }

// serve answers every request itself: an error from a Lambda function would be
// the gateway's bare 500.
func (d Deps) serve(ctx context.Context, ev events.APIGatewayV2HTTPRequest) (resp events.APIGatewayV2HTTPResponse, _ error) {
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			slog.ErrorContext(ctx, "panic", "route", ev.RouteKey, "detail", p)
			resp = problemResponse(errInternal)
		}
		slog.InfoContext(ctx, "served", "function", names.FnAPI, "route", ev.RouteKey, "status", resp.StatusCode,
			"analysis_id", loggable(ev.PathParameters["analysis_id"]), "request_id", ev.RequestContext.RequestID,
			"ms", time.Since(start).Milliseconds())
	}()
	ans, err := d.handle(ctx, ev)
	if err != nil {
		return problemResponse(d.asProblem(ctx, ev.RouteKey, err)), nil
	}
	return respond(ans, ev.Headers), nil
}

// loggable is an analysis id, or nothing: logs are no place for what strangers write.
func loggable(id string) string {
	if analysis.WellFormed(id) {
		return id
	}
	return ""
}

func (d Deps) handle(ctx context.Context, ev events.APIGatewayV2HTTPRequest) (answer, error) {
	fn, ok := routes[ev.RouteKey]
	if !ok {
		return answer{}, problem{Status: http.StatusNotFound, Code: "no_such_route", Title: "There is no such resource."}
	}
	r := request{APIGatewayV2HTTPRequest: ev}
	var err error
	if r.Athlete, err = caller(ev); err != nil {
		return answer{}, err
	}
	if err := d.stillHere(ctx, ev.RouteKey, r.Athlete); err != nil {
		return answer{}, err
	}
	if r.header("Idempotency-Key") != "" { // one that a call can do without is a good one all the same
		if _, err := r.idempotencyKey(); err != nil {
			return answer{}, err
		}
	}
	if r.Body, err = body(ev); err != nil {
		return answer{}, err
	}
	return fn(d, ctx, r)
}

// caller is who calls a route and may. The gateway has verified the token, but
// not what kind it is: an ID token of the same pool passes its check, since the
// pool puts the app's client id into that one's aud.
func caller(ev events.APIGatewayV2HTTPRequest) (string, error) {
	access := accessOf(ev.RouteKey)
	if access == names.AccessPublic {
		return "", nil
	}
	claims := claimsOf(ev)
	if claims["token_use"] != "access" {
		return "", problem{Status: http.StatusUnauthorized, Code: "unauthorised", Title: "An access token is needed."}
	}
	sub := claims["sub"]
	if sub == "" {
		return "", problem{Status: http.StatusUnauthorized, Code: "unauthorised", Title: "The token names nobody."}
	}
	if access == names.AccessOperator && !slices.Contains(groups(claims["cognito:groups"]), names.OperatorGroup) {
		return "", problem{Status: http.StatusForbidden, Code: "operators_only", Title: "Operators only."}
	}
	return sub, nil
}

func body(ev events.APIGatewayV2HTTPRequest) ([]byte, error) {
	b := []byte(ev.Body)
	if ev.IsBase64Encoded {
		var err error
		if b, err = base64.StdEncoding.DecodeString(ev.Body); err != nil {
			return nil, invalid("the body is not base64, as the request says it is")
		}
	}
	if len(b) > names.MaxBodyBytes {
		return nil, problem{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large", Title: "The request is too large.",
			More: map[string]any{"limit": names.MaxBodyBytes}}
	}
	return b, nil
}

func claimsOf(ev events.APIGatewayV2HTTPRequest) map[string]string {
	if a := ev.RequestContext.Authorizer; a != nil && a.JWT != nil {
		return a.JWT.Claims
	}
	return nil
}

// groups reads a list claim as the gateway writes it: "[a b]".
func groups(claim string) []string {
	return strings.FieldsFunc(claim, func(r rune) bool { return strings.ContainsRune("[], \"", r) })
}

// accessOf is who may call a route; an undeclared one is the operators'.
func accessOf(key string) names.Access {
	for _, r := range names.Routes() {
		if r.Key() == key {
			return r.Access
		}
	}
	return names.AccessOperator
}

// respond writes a JSON answer.
func respond(a answer, headers map[string]string) events.APIGatewayV2HTTPResponse {
	b, raw := a.Body.(json.RawMessage)
	var err error
	if !raw {
		b, err = json.Marshal(a.Body)
	}
	if err != nil {
		slog.Error("encode the answer", "detail", err.Error())
		return problemResponse(errInternal)
	}
	resp := events.APIGatewayV2HTTPResponse{StatusCode: a.Status, Body: string(b),
		Headers: map[string]string{"Content-Type": "application/json", "Cache-Control": "no-store"}}
	if a.ETag {
		tag := etag(b)
		resp.Headers["ETag"], resp.Headers["Cache-Control"] = tag, "private, no-cache"
		if (request{APIGatewayV2HTTPRequest: events.APIGatewayV2HTTPRequest{Headers: headers}}).hasTag(tag) {
			resp.StatusCode, resp.Body = http.StatusNotModified, ""
		}
	}
	return resp
}
