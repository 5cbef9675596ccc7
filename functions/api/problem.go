package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// problemType starts the type URI of every problem; the code completes it.
const problemType = "urn:fastbowlinglab:problem:"

// problem is an error as a client sees it. Code is stable and meant for
// programs, Title for people; More holds further members.
type problem struct {
	Status int
	Code   string
	Title  string
	Detail string
	More   map[string]any
}

func (p problem) Error() string {
	return fmt.Sprintf("%d %s: %s %s", p.Status, p.Code, p.Title, p.Detail)
}

// MarshalJSON writes the members of RFC 9457 and the extensions beside them.
func (p problem) MarshalJSON() ([]byte, error) {
	m := maps.Clone(p.More)
	if m == nil {
		m = map[string]any{}
	}
	m["type"], m["title"], m["status"], m["code"] = problemType+p.Code, p.Title, p.Status, p.Code
	if p.Detail != "" {
		m["detail"] = p.Detail
	}
	return json.Marshal(m)
}

var (
	errInternal = problem{Status: http.StatusInternalServerError, Code: "internal", Title: "Something went wrong on our side."}
	errNotFound = problem{Status: http.StatusNotFound, Code: "analysis_not_found", Title: "There is no such analysis."}
	errKey      = problem{Status: http.StatusUnprocessableEntity, Code: "idempotency_key_reused",
		Title: "This Idempotency-Key was used for another request."}
)

func invalid(format string, a ...any) problem {
	return problem{Status: http.StatusBadRequest, Code: "invalid_request", Title: "The request cannot be understood.",
		Detail: fmt.Sprintf(format, a...)}
}

// asProblem maps an error of the domain. What a client cannot act on is logged
// and hidden.
func (d Deps) asProblem(ctx context.Context, route string, err error) problem {
	var p problem
	var bad *analysis.InvalidError
	var missing *analysis.MissingError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &bad):
		return problem{Status: http.StatusUnprocessableEntity, Code: "validation_failed",
			Title: "Some fields are not acceptable.", More: map[string]any{"errors": bad.Fields}}
	case errors.As(err, &missing):
		return problem{Status: http.StatusConflict, Code: "clips_missing", Title: "Some clips have not been uploaded.",
			Detail: "Upload them, then confirm again.", More: map[string]any{"clips": missing.Clips}}
	case errors.Is(err, analysis.ErrNotFound):
		return errNotFound
	case errors.Is(err, analysis.ErrNoCredit):
		return problem{Status: http.StatusPaymentRequired, Code: "no_credit", Title: "There is no credit left."}
	case errors.Is(err, analysis.ErrKeyReused), errors.Is(err, credit.ErrKeyReused):
		return errKey
	case fault.NameOf(awserr.Fault(err, route)) == fault.Transient:
		slog.WarnContext(ctx, "unavailable", "route", route, "detail", err.Error())
		return problem{Status: http.StatusServiceUnavailable, Code: "unavailable", Title: "Please try again in a moment."}
	}
	slog.ErrorContext(ctx, "internal error", "route", route, "detail", err.Error())
	return errInternal
}

func problemResponse(p problem) events.APIGatewayV2HTTPResponse {
	b, err := json.Marshal(p)
	if err != nil {
		b = []byte(`{"status":500,"code":"internal"}`)
	}
	h := map[string]string{"Content-Type": "application/problem+json", "Cache-Control": "no-store"}
	switch p.Status {
	case http.StatusServiceUnavailable:
		h["Retry-After"] = "1"
	case http.StatusTooManyRequests:
		h["Retry-After"] = "3600"
	}
	return events.APIGatewayV2HTTPResponse{StatusCode: p.Status, Headers: h, Body: string(b)}
}

// decodeBody reads a JSON object strictly: no unknown member, no wrong type,
// nothing after it.
func decodeBody(b []byte, into any) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return invalid("the body is empty; a JSON object is needed")
	}
	if err := strict(b, reflect.TypeOf(into)); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var wrong *json.UnmarshalTypeError
	err := dec.Decode(into)
	switch {
	case errors.As(err, &wrong):
		return invalid("%s: a JSON %s where %s is expected", cmpOr(wrong.Field, "body"), wrong.Value, jsonName(wrong.Type.Kind().String()))
	case err != nil:
		return invalid("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); err != io.EOF {
		return invalid("there is something after the JSON object")
	}
	return nil
}

// noBody accepts an empty body or an empty object. An object with anything in it
// is another request than the one that this route takes.
func noBody(b []byte) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	var members map[string]json.RawMessage
	if err := strict(b, nil); err != nil {
		return err
	}
	if json.Unmarshal(b, &members) == nil && len(members) > 0 {
		return problem{Status: http.StatusUnprocessableEntity, Code: "validation_failed", Title: "Some fields are not acceptable.",
			More: map[string]any{"errors": []analysis.FieldError{{Field: "body", Detail: "must be empty, or an empty object"}}}}
	}
	return decodeBody(b, &struct{}{})
}

func jsonName(kind string) string {
	switch {
	case kind == "struct", kind == "map":
		return "an object"
	case kind == "slice":
		return "an array"
	case strings.HasPrefix(kind, "int"):
		return "a whole number"
	}
	return "a " + kind
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// idempotencyKey reads the client's key.
func (r request) idempotencyKey() (string, error) {
	k := strings.TrimSpace(r.header("Idempotency-Key"))
	if k == "" {
		return "", problem{Status: http.StatusBadRequest, Code: "idempotency_key_missing",
			Title: "The Idempotency-Key header is needed.", Detail: "Send a fresh unique key with each new request, and the same one with each repeat."}
	}
	if len(k) > names.MaxIdempotency || strings.IndexFunc(k, func(c rune) bool { return c < ' ' || c > '~' }) >= 0 {
		return "", problem{Status: http.StatusBadRequest, Code: "idempotency_key_invalid",
			Title: fmt.Sprintf("The Idempotency-Key must be 1 to %d printable ASCII characters.", names.MaxIdempotency)}
	}
	return k, nil
}

func etag(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// hasTag reports whether If-None-Match holds the tag, by weak comparison.
func (r request) hasTag(tag string) bool {
	for t := range strings.SplitSeq(r.header("If-None-Match"), ",") {
		if t = strings.TrimSpace(t); t == "*" || strings.TrimPrefix(t, "W/") == tag {
			return true
		}
	}
	return false
}
