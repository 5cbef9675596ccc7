package kumo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"fastbowlinglab/integration/local/endpoint"
)

const (
	inMemory = 1 << 20 // bodies up to this size are spooled in memory
	maxPut   = 5 << 30 // S3's limit on one PUT
)

// spool reads the body of an upload before kumo sees it. kumo reads bodies
// while it holds its one lock, so that a slow uploader would stop all of S3.
func spool(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := endpoint.Parse(r)
		if q.Service != endpoint.S3 || (r.Method != http.MethodPut && r.Method != http.MethodPost) {
			next.ServeHTTP(w, r)
			return
		}
		if chunked(r) { // kumo would store the framing as content
			endpoint.WriteError(w, q, http.StatusNotImplemented, "NotImplemented", "the embedded cloud takes no aws-chunked bodies")
			return
		}
		body, err := hold(r.Body)
		if err != nil {
			endpoint.WriteError(w, q, http.StatusBadRequest, "IncompleteBody", err.Error())
			return
		}
		defer body.Close()
		r.Body = body
		next.ServeHTTP(w, r)
	})
}

// chunked reports whether the body is framed in signed or trailed chunks, which
// SDKs do over TLS.
func chunked(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") ||
		strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked")
}

type held struct {
	io.Reader
	file *os.File
}

// Close removes the file.
func (h held) Close() error {
	if h.file == nil {
		return nil
	}
	return errors.Join(h.file.Close(), os.Remove(h.file.Name()))
}

// hold reads all of body into memory or, when it is long, into a file.
func hold(body io.Reader) (io.ReadCloser, error) {
	var head bytes.Buffer
	n, err := io.CopyN(&head, body, inMemory)
	if n < inMemory {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read the body: %w", err)
		}
		return held{Reader: &head}, nil
	}
	f, err := os.CreateTemp("", "fbl-upload-")
	if err != nil {
		return nil, fmt.Errorf("spool the body: %w", err)
	}
	h := held{Reader: f, file: f}
	if err := fill(f, io.MultiReader(&head, body)); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func fill(f *os.File, body io.Reader) error {
	n, err := io.Copy(f, io.LimitReader(body, maxPut+1))
	if err != nil {
		return fmt.Errorf("spool the body: %w", err)
	}
	if n > maxPut {
		return fmt.Errorf("the body is over %d bytes", int64(maxPut))
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("spool the body: %w", err)
	}
	return nil
}
