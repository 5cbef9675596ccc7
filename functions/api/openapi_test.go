package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/reason"
	"fastbowlinglab/shared/usage"
)

var update = flag.Bool("update", false, "write openapi.json anew")

// operation is what the document says of a route beyond its types.
type operation struct {
	summary  string
	in, out  any // bodies; nil for none
	status   int
	key      keyUse
	query    []string
	tag304   bool
	problems string // codes beside those of every route
}

type keyUse int

const (
	noKey keyUse = iota
	keyNeeded
	keyAllowed // the call repeats itself harmlessly without one
)

// outcomes describe what a status of success means.
var outcomes = map[int]string{
	200: "Done: what was asked for, or what stands now.",
	201: "Created. The same request with the same key is answered the same, and creates nothing more.",
	202: "Accepted: the work goes on after this answer. The same request again is answered the same.",
}

var operations = map[string]operation{
	"POST /v1/analyses": {summary: "Reserve a credit for an analysis and get an upload form for each clip. Repeated with the same key and body it returns the same analysis, however late, with its status of now.",
		in: createIn{}, out: created{}, status: 201, key: keyNeeded, problems: "no_credit validation_failed idempotency_key_reused intake_closed too_many_given_back athlete_erased"},
	"GET /v1/analyses": {summary: "List the caller's analyses, newest first.", out: listOut{}, status: 200, query: []string{"limit", "cursor"}, tag304: true},
	"GET /v1/analyses/{analysis_id}": {summary: "Status with stage, progress and estimate; made for polling with If-None-Match.",
		out: view{}, status: 200, tag304: true, problems: "analysis_not_found"},
	"POST /v1/analyses/{analysis_id}/uploads": {summary: "Sign fresh upload forms for the same keys.", out: created{}, status: 200, key: keyAllowed,
		problems: "analysis_not_found analysis_running analysis_ended athlete_erased validation_failed"},
	"POST /v1/analyses/{analysis_id}/confirm": {summary: "Pin the uploaded clips and start the analysis. Repeated, it finds what it did and answers the same: queued, whatever came of it since.",
		out: standing{}, status: 202, key: keyAllowed, problems: "analysis_not_found clips_missing analysis_ended athlete_erased validation_failed"},
	"POST /v1/analyses/{analysis_id}/cancel": {summary: "End an analysis that no worker has claimed, with a refund.", out: standing{}, status: 200, key: keyAllowed,
		problems: "analysis_not_found analysis_running analysis_ended athlete_erased validation_failed"},
	"POST /v1/analyses/{analysis_id}/rerun": {summary: "Analyse the same clips once more, as a new analysis with its own credit.", out: created{}, status: 201, key: keyNeeded,
		problems: "analysis_not_found analysis_running clips_gone no_credit intake_closed too_many_given_back athlete_erased validation_failed"},
	"GET /v1/analyses/{analysis_id}/report": {summary: "Links to the report and its pictures, signed now, good for minutes: the newest one, with its number, and each that there is. Revision 0 was delivered; a later one stands beside it and is free.", out: reportOut{}, status: 200,
		problems: "analysis_not_found report_not_ready no_report"},
	"GET /v1/credits":   {summary: "Balance and history, newest first.", out: creditsOut{}, status: 200, query: []string{"limit", "cursor"}, tag304: true},
	"GET /v1/me":        {summary: "What the caller chose, and how far a deletion is.", out: meOut{}, status: 200, tag304: true},
	"PUT /v1/me":        {summary: "Choose the channels on which to be told, from what GET /v1/me showed at that version. A choice without a version, as apps of before there were versions send it, only declines: it turns off what it declines and nothing on, and is answered 409 channels_changed unless it is what stands afterwards.", in: meIn{}, out: meOut{}, status: 200, problems: "athlete_erased channels_changed"},
	"DELETE /v1/me":     {summary: "Ask for the deletion of everything held about the caller. It goes within minutes; the proof is there when no upload form can be good any more, after hours. GET /v1/me tells how far it is.", out: erasureOut{}, status: 202},
	"GET /v1/me/export": {summary: "Everything held about the caller, a few analyses at a time, with links to every file.", out: exportOut{}, status: 200, query: []string{"cursor"}},
	"POST /v1/payments/events": {summary: "A payment event of the shop's, signed: X-Signature = hex(HMAC-SHA256(key, X-Event-Id + \".\" + X-Timestamp + \".\" + body)). Credits of a refund are the total refunded of the payment.",
		in: paymentIn{}, out: paymentOut{}, status: 200, problems: "signature_refused payment_contradicted idempotency_key_reused athlete_erased"},
	"GET /v1/openapi.json": {summary: "This document.", out: map[string]any{}, status: 200, tag304: true},
	"POST /v1/operator/grants": {summary: "Give an athlete credits, with a reason that stays in the ledger.", in: grantIn{}, out: grantOut{}, status: 201, key: keyNeeded,
		problems: "operators_only idempotency_key_reused athlete_erased"},
	"GET /v1/usage": {summary: "Model calls with tokens and cost, of an analysis or of a day.", out: usage.Bill{}, status: 200, query: []string{"analysis_id", "day", "task", "model"}, problems: "operators_only"},
}

// everywhere are the problems of any route that needs a token; the gateway's own
// refusals are {"message"} and have no code.
const everywhere = "unauthorised invalid_request body_too_large unavailable internal"

// limits are the bounds that the code checks, by schema and member.
var limits = map[string]map[string]any{
	"createIn.clips":        {"minItems": 1, "maxItems": names.MaxClips},
	"createIn.notes":        {"maxLength": names.MaxNotesRunes},
	"createIn.email":        {"maxLength": 254, "format": "email"},
	"createIn.time_zone":    {"maxLength": 64, "examples": []string{"Asia/Colombo"}},
	"createIn.consent":      {"const": true},
	"athleteIn.name":        {"maxLength": names.MaxNameRunes},
	"consentIn.name":        {"maxLength": names.MaxNameRunes},
	"consentIn.role":        {"enum": []string{analysis.ConsentSelf, analysis.ConsentParent}},
	"clipIn.name":           {"maxLength": names.MaxNameRunes},
	"clipIn.type":           {"maxLength": 127},
	"clipIn.size_bytes":     {"minimum": 0, "maximum": names.MaxClipBytes},
	"grantIn.credits":       {"minimum": 1, "maximum": maxGrant},
	"grantIn.athlete_id":    {"minLength": 1, "maxLength": names.MaxIDBytes},
	"grantIn.reason":        {"minLength": 1, "maxLength": maxReasonRunes},
	"paymentIn.type":        {"enum": []credit.EventKind{credit.PaymentCompleted, credit.PaymentSucceeded, credit.PaymentRefunded}},
	"paymentIn.credits":     {"minimum": 1, "maximum": credit.MaxPayment},
	"paymentIn.payment_id":  {"minLength": 1, "maxLength": names.MaxIDBytes},
	"paymentIn.athlete_id":  {"minLength": 1, "maxLength": names.MaxIDBytes},
	"view.progress":         {"minimum": 0, "maximum": 1},
	"view.status":           {"enum": statuses},
	"created.status":        {"enum": statuses},
	"standing.status":       {"enum": statuses},
	"view.reason":           {"enum": reasons()},
	"exportAnalysis.status": {"enum": statuses},
}

// required are the members without which a request is refused, or, of a choice without
// its version, heard in part.
var required = map[string][]string{
	"createIn": {"clips", "consent"}, "grantIn": {"athlete_id", "credits", "reason"}, "meIn": {"channels", "version"}, "meInChannels": {"email", "push"},
	"paymentIn": {"athlete_id", "credits", "payment_id", "type"},
}

var statuses = []analysis.Status{analysis.Reserved, analysis.Queued, analysis.Analysing, analysis.Ready, analysis.Rejected, analysis.Failed, analysis.Expired}

func reasons() []string {
	var out []string
	for _, c := range reason.Codes() {
		out = append(out, string(c))
	}
	slices.Sort(out)
	return out
}

// writer derives the document's schemas from Go types.
type writer struct{ schemas map[string]any }

func (w *writer) schema(t reflect.Type, name string) any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		return w.schema(t.Elem(), name)
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": w.schema(t.Elem(), name)}
	case t.Kind() == reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return map[string]any{"type": "object"}
		}
		return map[string]any{"type": "object", "additionalProperties": w.schema(t.Elem(), name)}
	case t.Kind() == reflect.String:
		return map[string]any{"type": "string"}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return map[string]any{"type": "integer"}
	case t.Kind() == reflect.Float64:
		return map[string]any{"type": "number"}
	case t.Kind() == reflect.Struct:
		return w.object(t, name)
	}
	panic("no schema for " + t.String())
}

func (w *writer) object(t reflect.Type, name string) any {
	if t.Name() != "" {
		name = t.Name()
	}
	ref := map[string]any{"$ref": "#/components/schemas/" + name}
	if _, done := w.schemas[name]; done {
		return ref
	}
	props := map[string]any{}
	w.schemas[name] = nil // a type may hold itself
	var always []string
	for _, f := range reflect.VisibleFields(t) {
		member, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && member == "" || member == "-" {
			continue
		}
		if member == "" {
			member = f.Name
		}
		p := w.schema(f.Type, name+strings.ToUpper(member[:1])+member[1:])
		if m, ok := p.(map[string]any); ok && m["$ref"] == nil {
			maps.Copy(m, limits[name+"."+member])
			if f.Type.Kind() == reflect.Pointer && opts == "" && !strings.HasSuffix(name, "In") && !strings.HasPrefix(name, "meIn") {
				m["type"] = []any{m["type"], "null"}
			}
		}
		props[member] = p
		if opts != "omitempty" {
			always = append(always, member)
		}
	}
	s := map[string]any{"type": "object", "properties": props}
	if strings.HasSuffix(name, "In") || strings.HasPrefix(name, "meIn") {
		s["additionalProperties"], always = false, required[name]
	}
	if len(always) > 0 {
		slices.Sort(always)
		s["required"] = slices.Compact(always)
	}
	w.schemas[name] = s
	return ref
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

var queryParams = map[string]any{
	"limit":       map[string]any{"type": "integer", "minimum": 1, "maximum": maxPage},
	"cursor":      map[string]any{"type": "string"},
	"analysis_id": map[string]any{"type": "string", "maxLength": names.MaxIdempotency},
	"task":        map[string]any{"type": "string"},
	"model":       map[string]any{"type": "string"},
	"day":         map[string]any{"type": "string", "format": "date"},
}

func (w *writer) operation(r names.Route, op operation) map[string]any {
	var params []any
	param := func(name, in string, needed bool, schema any) {
		params = append(params, map[string]any{"name": name, "in": in, "required": needed, "schema": schema})
	}
	for _, m := range pathParam.FindAllStringSubmatch(r.Path, -1) {
		param(m[1], "path", true, map[string]any{"type": "string"})
	}
	for _, q := range op.query {
		param(q, "query", false, queryParams[q])
	}
	if op.key != noKey {
		param("Idempotency-Key", "header", op.key == keyNeeded, map[string]any{"type": "string", "minLength": 1, "maxLength": names.MaxIdempotency, "pattern": "^[ -~]+$"})
	}
	if r.Path == "/v1/payments/events" {
		for _, h := range []string{"X-Event-Id", "X-Timestamp", "X-Signature"} {
			param(h, "header", true, map[string]any{"type": "string"})
		}
	}
	if op.tag304 {
		param("If-None-Match", "header", false, map[string]any{"type": "string"})
	}
	ok := map[string]any{"description": outcomes[op.status], "content": map[string]any{"application/json": map[string]any{"schema": w.schema(reflect.TypeOf(op.out), "")}}}
	answers := map[string]any{strconv.Itoa(op.status): ok}
	if op.tag304 {
		ok["headers"] = map[string]any{"ETag": map[string]any{"schema": map[string]any{"type": "string"}}}
		answers["304"] = map[string]any{"description": "Not modified."}
	}
	codes := strings.Fields(everywhere + " " + op.problems)
	if op.key != noKey {
		codes = append(codes, "idempotency_key_invalid")
	}
	if op.key == keyNeeded {
		codes = append(codes, "idempotency_key_missing")
	}
	if r.Access == names.AccessPublic {
		codes = slices.DeleteFunc(codes, func(c string) bool { return c == "unauthorised" })
	}
	slices.Sort(codes)
	answers["default"] = map[string]any{"description": "A problem (RFC 9457); code is one of " + strings.Join(codes, ", ") + ".",
		"content": map[string]any{"application/problem+json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/problem"}}}}
	out := map[string]any{"summary": op.summary, "operationId": operationID(r), "responses": answers, "x-problem-codes": codes, "x-access": r.Access}
	if params != nil {
		out["parameters"] = params
	}
	if r.Access == names.AccessPublic {
		out["security"] = []any{}
	}
	if op.in != nil {
		out["requestBody"] = map[string]any{"required": true, "content": map[string]any{"application/json": map[string]any{"schema": w.schema(reflect.TypeOf(op.in), "")}}}
	}
	return out
}

func operationID(r names.Route) string {
	words := strings.FieldsFunc(strings.NewReplacer("/v1/", " ", "{analysis_id}", "one", ".json", "").Replace(strings.ToLower(r.Method)+" "+r.Path),
		func(c rune) bool { return c == '/' || c == ' ' })
	return strings.Join(words, "_")
}

func openAPIDocument(t *testing.T) []byte {
	t.Helper()
	w := &writer{schemas: map[string]any{}}
	paths := map[string]any{}
	for _, r := range names.Routes() {
		if r.Function != names.FnAPI {
			continue
		}
		op, ok := operations[r.Key()]
		if !ok {
			t.Errorf("%s is a route and not described", r.Key())
			continue
		}
		if outcomes[op.status] == "" {
			t.Errorf("%s answers %d, which has no description", r.Key(), op.status)
		}
		p, _ := paths[r.Path].(map[string]any)
		if p == nil {
			p = map[string]any{}
			paths[r.Path] = p
		}
		p[strings.ToLower(r.Method)] = w.operation(r, op)
	}
	w.schemas["problem"] = map[string]any{"type": "object", "required": []string{"type", "title", "status", "code"}, "properties": map[string]any{
		"type": map[string]any{"type": "string", "format": "uri"}, "title": map[string]any{"type": "string"}, "detail": map[string]any{"type": "string"},
		"status": map[string]any{"type": "integer"}, "code": map[string]any{"type": "string", "enum": problemCodes(t)}}}
	doc := map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{"title": "FastBowlingLab", "version": "1", "description": "Analyses of a fast bowler's action from phone video. " +
			"Credits are whole numbers. Every POST may be sent again: it has one effect and the same answer, which tells the status of now. " +
			"A call that got no answer, or 503, or 429 without a code (the gateway's: nothing was done), is repeated a little later with the same Idempotency-Key."},
		"servers":  []any{map[string]any{"url": "/", "description": "The API that serves this document, whatever its address."}},
		"paths":    paths,
		"security": []any{map[string]any{"accessToken": []any{}}},
		"components": map[string]any{"schemas": w.schemas, "securitySchemes": map[string]any{
			"accessToken": map[string]any{"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "An access token of the user pool; ID tokens are refused."}}},
	}
	b, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

var codeInSource = regexp.MustCompile(`(?:Code: |p\.Code(?:, p\.Title)? = )"([a-z_]+)"`)

// problemCodes are the codes in this package's code.
func problemCodes(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			b, err := os.ReadFile(e.Name())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range codeInSource.FindAllStringSubmatch(string(b), -1) {
				seen[m[1]] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// The document is derived from the routes and the handlers' types.
func TestOpenAPIDocument(t *testing.T) {
	want := openAPIDocument(t)
	if *update {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(document, want) {
		t.Error("openapi.json differs from the code: go test ./functions/api -run OpenAPI -update")
	}
	for key := range operations {
		if _, ok := routes[key]; !ok {
			t.Errorf("%s is described and not served", key)
		}
	}
	listed := map[string]bool{"no_such_route": true} // of no route
	for _, op := range operations {
		for _, c := range strings.Fields(everywhere + " idempotency_key_missing idempotency_key_invalid " + op.problems) {
			listed[c] = true
		}
	}
	if got, all := slices.Sorted(maps.Keys(listed)), problemCodes(t); !slices.Equal(got, all) {
		t.Errorf("codes in the code and those described differ:\n%s\n%s", fmt.Sprint(all), fmt.Sprint(got))
	}
}
