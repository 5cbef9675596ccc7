package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"fastbowlinglab/shared/names"
)

// MaxBody is API Gateway's limit on a request's body, in bytes.
const MaxBody = 10 << 20

// IntegrationTimeout is the longest that an HTTP API waits for a function.
const IntegrationTimeout = 30 * time.Second

// Invoker calls a function; lambdaapi.Service is one.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) (out []byte, functionError string, err error)
}

// Config says what the API serves.
type Config struct {
	Routes  []names.Route // default: names.Routes()
	Lambda  Invoker
	Auth    *Authorizer   // checks the tokens of every route that is not public
	CORS    *CORS         // nil: no CORS
	Timeout time.Duration // default: IntegrationTimeout
	Log     *slog.Logger  // what went wrong behind a 5xx; default: none
}

// API is the HTTP API. It is an http.Handler.
type API struct {
	cfg    Config
	router router
}

// New makes an API; it refuses routes that it cannot serve.
func New(cfg Config) (*API, error) {
	if cfg.Routes == nil {
		cfg.Routes = names.Routes()
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = IntegrationTimeout
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r, err := newRouter(cfg.Routes)
	if err != nil {
		return nil, err
	}
	for _, route := range cfg.Routes {
		if route.Access != names.AccessPublic && cfg.Auth == nil {
			return nil, fmt.Errorf("route %s needs tokens, but there is no authorizer", route.Key())
		}
	}
	return &API{cfg: cfg, router: r}, nil
}

// The gateway's own messages.
const (
	msgNotFound     = "Not Found"
	msgUnauthorized = "Unauthorized"
	msgTooLarge     = "Request Entity Too Large"
	msgInternal     = "Internal Server Error"
	msgUnavailable  = "Service Unavailable"
	msgBadRequest   = "Bad Request"
)

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := requestID()
	w.Header().Set("Apigw-Requestid", id)
	a.cfg.CORS.headers(w.Header(), r)
	route, params, ok := a.router.find(r.Method, r.URL.EscapedPath())
	if !ok {
		if a.cfg.CORS != nil && r.Method == http.MethodOptions {
			a.cfg.CORS.preflight(w, r)
			return
		}
		refuse(w, http.StatusNotFound, msgNotFound)
		return
	}
	var caller *identity
	if route.Access != names.AccessPublic {
		var err error
		if caller, err = a.cfg.Auth.check(r); err != nil {
			w.Header().Set("Www-Authenticate", challenge(err))
			refuse(w, http.StatusUnauthorized, msgUnauthorized)
			return
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		var over *http.MaxBytesError
		if errors.As(err, &over) {
			refuse(w, http.StatusRequestEntityTooLarge, msgTooLarge)
		} else {
			refuse(w, http.StatusBadRequest, msgBadRequest)
		}
		return
	}
	a.integrate(w, r, route, event(r, route, params, caller, body, id))
}

// integrate calls the route's function and passes on its answer.
func (a *API) integrate(w http.ResponseWriter, r *http.Request, route names.Route, ev events.APIGatewayV2HTTPRequest) {
	log := a.cfg.Log.With("route", route.Key(), "function", route.Function, "request_id", ev.RequestContext.RequestID)
	payload, err := json.Marshal(ev)
	if err != nil {
		log.Error("the event cannot be encoded", "error", err)
		refuse(w, http.StatusInternalServerError, msgInternal)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.cfg.Timeout)
	defer cancel()
	out, functionError, err := a.cfg.Lambda.Invoke(ctx, route.Function, payload)
	switch {
	case r.Context().Err() != nil: // nobody is there to answer
		log.Warn("the client went away")
	case errors.Is(err, context.DeadlineExceeded):
		log.Error("the function did not answer in time; it runs on", "limit", a.cfg.Timeout)
		refuse(w, http.StatusServiceUnavailable, msgUnavailable)
	case err != nil:
		log.Error("the function cannot be invoked", "error", err)
		status, message := refusal(err)
		refuse(w, status, message)
	case functionError != "":
		log.Error("the function failed", "error", string(out))
		refuse(w, http.StatusInternalServerError, msgInternal)
	default:
		a.answer(w, log, out)
	}
}

// answer writes what the function answered, or 500 when that is no answer.
func (a *API) answer(w http.ResponseWriter, log *slog.Logger, out []byte) {
	res, err := parseResponse(out)
	if err != nil {
		log.Error("the function's answer is malformed", "error", err)
		refuse(w, http.StatusInternalServerError, msgInternal)
		return
	}
	h := w.Header()
	for k, vs := range res.header {
		if a.cfg.CORS != nil && isCORS(k) {
			continue // the API's own setting counts
		}
		for _, v := range vs {
			h.Add(k, v)
		}
	}
	w.WriteHeader(res.status)
	_, _ = w.Write(res.body) // a client that went away needs no answer
}

// refusal is the gateway's answer when the Lambda service refused the call.
func refusal(err error) (int, string) {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		switch coded.ErrorCode() {
		case "TooManyRequestsException":
			return http.StatusServiceUnavailable, msgUnavailable
		case "RequestTooLargeException": // over Lambda's 6 MB, though under 10
			return http.StatusRequestEntityTooLarge, msgTooLarge
		}
	}
	return http.StatusInternalServerError, msgInternal
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Message string `json:"message"`
	}{message})
}
