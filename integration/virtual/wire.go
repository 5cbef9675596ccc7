package virtual

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// recorder is an http.ResponseWriter into memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(code int) {
	if r.status == 0 {
		r.status = code
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

func (r *recorder) response(req *http.Request) *http.Response {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return &http.Response{
		StatusCode: r.status, Status: http.StatusText(r.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header, Body: io.NopCloser(&r.body), ContentLength: int64(r.body.Len()), Request: req,
	}
}

func plain(req *http.Request, status int, body string) *http.Response {
	r := &recorder{header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, status: status}
	r.body.WriteString(body)
	return r.response(req)
}

// refusal is the answer of a service that did not carry the request out.
func refusal(req *http.Request, f Fault) *http.Response {
	switch serviceOf(req) {
	case "sns":
		return plain(req, http.StatusTooManyRequests, queryError("Throttled", "Rate exceeded"))
	case "s3":
		return plain(req, http.StatusServiceUnavailable, `<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
	}
	if f == Conflict && strings.HasSuffix(req.Header.Get("X-Amz-Target"), "TransactWriteItems") {
		return plain(req, http.StatusBadRequest, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",`+
			`"Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]",`+
			`"CancellationReasons":[{"Code":"TransactionConflict","Message":"Transaction is ongoing for the item"}]}`)
	}
	return plain(req, http.StatusBadRequest, `{"__type":"ThrottlingException","message":"Rate exceeded"}`)
}

// bare forwards requests over one plain connection, one after the other.
type bare struct {
	mu   sync.Mutex // its holder waits for the database alone, which is no part of the bubble
	conn net.Conn
	br   *bufio.Reader
}

func dialBare(addr string) (*bare, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("reach the database at %s: %w", addr, err)
	}
	return &bare{conn: conn, br: bufio.NewReader(conn)}, nil
}

// ServeHTTP implements http.Handler. A broken connection is a fault of the test
// machine, not one of the seed's, and is answered as a 599 that nothing retries.
func (b *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fail := func(err error) { http.Error(w, "virtual: database connection: "+err.Error(), 599) }
	if err := r.Write(b.conn); err != nil {
		fail(err)
		return
	}
	resp, err := http.ReadResponse(b.br, r)
	if err != nil {
		fail(err)
		return
	}
	defer resp.Body.Close()
	for k, v := range resp.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		fail(err)
	}
}

// direct is an HTTP client straight to the database.
type direct struct{ conn *bare }

func (d direct) Do(req *http.Request) (*http.Response, error) {
	rec := &recorder{header: http.Header{}}
	d.conn.ServeHTTP(rec, req)
	return rec.response(req), nil
}
