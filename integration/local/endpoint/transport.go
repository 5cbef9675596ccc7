package endpoint

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
)

// Transport calls a handler directly as an http.RoundTripper: an SDK client
// with it reaches the cloud without a socket, as virtual time needs. The panic
// by which a handler breaks its connection becomes io.ErrUnexpectedEOF.
type Transport struct{ Handler http.Handler }

// RoundTrip implements http.RoundTripper. It answers when the handler is done,
// or with the context's error when that is over first; the handler then goes on.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:0"
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	type answer struct {
		resp *http.Response
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				err := fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, io.ErrUnexpectedEOF)
				if p != http.ErrAbortHandler {
					err = fmt.Errorf("%s %s: handler panicked: %v", r.Method, r.URL.Path, p)
				}
				done <- answer{err: err}
			}
		}()
		rec := httptest.NewRecorder()
		t.Handler.ServeHTTP(rec, in)
		resp := rec.Result()
		resp.Request = r
		done <- answer{resp: resp}
	}()
	select {
	case a := <-done:
		return a.resp, a.err
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// CloseIdleConnections does nothing: there are none.
func (t Transport) CloseIdleConnections() {}
