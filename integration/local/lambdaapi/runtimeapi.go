package lambdaapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// serveRuntime is the Lambda Runtime API. The first part of the path is the
// process's own id, so that one port serves all of them:
// AWS_LAMBDA_RUNTIME_API=127.0.0.1:4321/begin-6f0c...
func (s *Service) serveRuntime(w http.ResponseWriter, r *http.Request) {
	id, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	in := s.instances[id]
	s.mu.Unlock()
	if in == nil {
		runtimeError(w, http.StatusForbidden, "UnknownInstance", "no process of this service has the id "+strconv.Quote(id))
		return
	}
	path = strings.TrimPrefix(path, "2018-06-01/runtime/")
	switch {
	case r.Method == http.MethodGet && path == "invocation/next":
		in.serveNext(w, r)
	case r.Method == http.MethodPost && path == "init/error":
		in.serveInitError(w, r)
	case r.Method == http.MethodPost && strings.HasPrefix(path, "invocation/"):
		request, what, _ := strings.Cut(strings.TrimPrefix(path, "invocation/"), "/")
		if what != "response" && what != "error" {
			runtimeError(w, http.StatusNotFound, "NotFound", path)
			return
		}
		in.serveResult(w, r, request, what == "error")
	default:
		runtimeError(w, http.StatusNotFound, "NotFound", r.Method+" "+path)
	}
}

// serveNext holds the process's poll until there is work for it.
func (in *instance) serveNext(w http.ResponseWriter, r *http.Request) {
	in.mu.Lock()
	if in.current != nil {
		in.mu.Unlock()
		runtimeError(w, http.StatusForbidden, "InvalidStateTransition", "the invocation before has no result yet")
		return
	}
	if !in.polled {
		in.polled, in.initTime = true, time.Since(in.started)
		close(in.ready)
	}
	in.mu.Unlock()
	select {
	case iv := <-in.work:
		in.mu.Lock()
		in.current = iv
		in.mu.Unlock()
		in.output.begin(iv.id, in.pool.version)
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", iv.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(iv.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", iv.arn)
		h.Set("Lambda-Runtime-Trace-Id", iv.trace)
		_, _ = w.Write(iv.payload) // a process that is gone is noticed by its end
	case <-r.Context().Done():
	}
}

// serveResult takes the answer of the invocation under way.
func (in *instance) serveResult(w http.ResponseWriter, r *http.Request, request string, failed bool) {
	in.mu.Lock()
	iv := in.current
	in.mu.Unlock()
	if iv == nil || iv.id != request {
		runtimeError(w, http.StatusBadRequest, "InvalidRequestID", "no invocation "+request+" is under way")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxResponse))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		in.finish(iv, outcome{payload: responseTooLarge(), failed: true})
		runtimeError(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "the response is too large")
		return
	case err != nil: // the process broke off; its end decides
		return
	}
	// A reader that failed half way reports so after the body.
	if t := r.Trailer.Get("Lambda-Runtime-Function-Error-Type"); t != "" {
		failed = true
		if b, err := base64.StdEncoding.DecodeString(r.Trailer.Get("Lambda-Runtime-Function-Error-Body")); err == nil {
			body = b
		}
	}
	in.finish(iv, outcome{payload: body, failed: failed})
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"OK"}`)
}

// finish hands over an invocation's result; the first one counts.
func (in *instance) finish(iv *invocation, o outcome) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.current == iv {
		in.current = nil
		iv.done <- o
	}
}

func (in *instance) serveInitError(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 256<<10))
	if err != nil {
		runtimeError(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	in.mu.Lock()
	if !in.polled {
		in.initErr = body
	}
	in.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"OK"}`)
}

func runtimeError(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"errorType": kind, "errorMessage": message})
}
