package kumo

import (
	"bytes"
	"net/http"
)

// record keeps an answer until it may be sent.
type record struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func newRecord() *record { return &record{header: http.Header{}, code: http.StatusOK} }

func (r *record) Header() http.Header         { return r.header }
func (r *record) WriteHeader(code int)        { r.code = code }
func (r *record) Write(b []byte) (int, error) { return r.body.Write(b) }

// send passes the answer on; a caller that has gone does not read it.
func (r *record) send(w http.ResponseWriter) {
	for k, v := range r.header {
		w.Header()[k] = v
	}
	w.WriteHeader(r.code)
	_, _ = w.Write(r.body.Bytes())
}
