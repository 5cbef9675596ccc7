package kumo

import (
	"net/http"
	"strings"

	"fastbowlinglab/integration/local/endpoint"
)

// heads answers HeadObject from GetObject. kumo's own leaves out the version id
// and answers for the newest version whichever is asked for.
func heads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := endpoint.Parse(r); q.Service != endpoint.S3 || q.Operation != "HEAD object" {
			next.ServeHTTP(w, r)
			return
		}
		get := r.Clone(r.Context())
		get.Method = http.MethodGet
		whole := r.Header.Get("Range") == ""
		if whole {
			get.Header.Set("Range", "bytes=0-0")
		}
		rec := newRecord()
		next.ServeHTTP(rec, get)
		if whole && rec.code == http.StatusRequestedRangeNotSatisfiable { // it is empty
			get.Header.Del("Range")
			rec = newRecord()
			next.ServeHTTP(rec, get)
		} else if _, size, ok := strings.Cut(rec.header.Get("Content-Range"), "/"); whole && ok {
			rec.code = http.StatusOK
			rec.header.Set("Content-Length", size)
			rec.header.Del("Content-Range")
		}
		rec.body.Reset()
		rec.send(w)
	})
}
