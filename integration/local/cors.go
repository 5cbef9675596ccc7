package local

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"fastbowlinglab/integration/local/endpoint"
	"fastbowlinglab/shared/names"
)

// webOrigins are the origins of pages that may call from a browser: those of the
// configuration and the API's own address, which also serves the web page.
func (c *Cloud) webOrigins() []string {
	own := c.API
	return append([]string{own, strings.Replace(own, "127.0.0.1", "localhost", 1)}, c.cfg.WebOrigins...)
}

// bucketCORS answers browsers as S3 does for a bucket with the CORS rule that
// package names declares: the preflight of an upload is answered here, and what
// S3 answers is made readable for the page. Other services have no CORS.
func bucketCORS(origins []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" || endpoint.Parse(r).Service != endpoint.S3 {
			next.ServeHTTP(w, r)
			return
		}
		allowed := slices.Contains(origins, origin)
		h := w.Header()
		h.Add("Vary", "Origin")
		if allowed {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", strings.Join(names.UploadCORSExpose, ","))
		}
		method := r.Header.Get("Access-Control-Request-Method")
		if r.Method != http.MethodOptions || method == "" {
			next.ServeHTTP(w, r)
			return
		}
		if !allowed || !slices.Contains(names.UploadCORSMethods, method) {
			http.Error(w, "CORSResponse: This CORS request is not allowed.", http.StatusForbidden)
			return
		}
		h.Set("Access-Control-Allow-Methods", strings.Join(names.UploadCORSMethods, ","))
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		h.Set("Access-Control-Max-Age", strconv.Itoa(int(names.CORSMaxAge.Seconds())))
		w.WriteHeader(http.StatusOK)
	})
}
