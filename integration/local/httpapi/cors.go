package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"fastbowlinglab/shared/names"
)

// CORS is an API's cross-origin setting. The rest of it is in package names.
type CORS struct {
	Origins []string // "*" or full origins such as https://app.example
}

// headers sets what every answer to an allowed origin carries.
func (c *CORS) headers(h http.Header, r *http.Request) {
	origin := r.Header.Get("Origin")
	if c == nil || origin == "" {
		return
	}
	switch {
	case slices.Contains(c.Origins, "*"):
		h.Set("Access-Control-Allow-Origin", "*")
	case slices.Contains(c.Origins, origin):
		h.Set("Access-Control-Allow-Origin", origin)
		h.Add("Vary", "Origin")
	default:
		return
	}
	h.Set("Access-Control-Expose-Headers", strings.Join(names.CORSExpose, ","))
}

// preflight answers an OPTIONS request: 204, with the permissions only when the
// origin is allowed.
func (c *CORS) preflight(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", strings.Join(names.CORSMethods, ","))
		h.Set("Access-Control-Allow-Headers", strings.Join(names.CORSHeaders, ","))
		h.Set("Access-Control-Max-Age", strconv.Itoa(int(names.CORSMaxAge.Seconds())))
		h.Del("Access-Control-Expose-Headers")
	}
	w.WriteHeader(http.StatusNoContent)
}

func isCORS(header string) bool {
	return strings.HasPrefix(strings.ToLower(header), "access-control-")
}
