package endpoint

import (
	"fmt"
	"net/http"
)

// Intercept decides on a fault for one request. It is called once a request, by
// many goroutines, before anything is done. It may read Body.
type Intercept func(*Request) Fault

// Router hands each request to its service.
type Router struct {
	Services  map[string]http.Handler // by the service constants
	Intercept Intercept               // nil: no faults
}

// ServeHTTP implements http.Handler. A service that is not served is an error
// that names it: an emulator must not answer for what it does not do.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := Parse(r)
	h := rt.Services[q.Service]
	if h == nil {
		WriteError(w, q, http.StatusNotImplemented, "UnknownService",
			fmt.Sprintf("the embedded cloud does not serve %q (%s)", q.Service, q.Operation))
		return
	}
	if rt.Intercept == nil {
		h.ServeHTTP(w, r)
		return
	}
	rt.Intercept(q).serve(w, q, h)
}
