package poseworker

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"fastbowlinglab/shared/names"
)

// Health is what a load balancer and an operator are told.
type Health struct {
	Status string `json:"status"` // ok, or stopping
	Busy   int    `json:"busy"`   // passes that run
	Passes int    `json:"passes"` // passes that may run at once
}

// Handler serves the worker's health and takes posted jobs. A worker that takes no
// more work says 503, so that nothing new is sent to it while it leaves.
func (w *Worker) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+names.HealthPath, func(rw http.ResponseWriter, _ *http.Request) {
		h := Health{Status: "ok", Busy: w.slots.Busy(), Passes: w.d.Passes}
		code := http.StatusOK
		if w.leaving() {
			h.Status, code = "stopping", http.StatusServiceUnavailable
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(code)
		_ = json.NewEncoder(rw).Encode(h) // the reader has gone: nobody to tell
	})
	mux.HandleFunc("POST "+names.JobsPath, w.postJob)
	return mux
}

// Serve answers on ln until the listener is closed.
func (w *Worker) Serve(ln net.Listener) error {
	srv := &http.Server{Handler: w.Handler(), ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: names.WorkerIdleTimeout, MaxHeaderBytes: 16 << 10}
	return srv.Serve(ln)
}

// ListenAddress is where the worker answers: POSE_LISTEN, or the fleet's port.
// Workers on the embedded cloud share one host: there each takes a free port of
// the loopback interface.
func ListenAddress() string {
	if a := os.Getenv(names.EnvListen); a != "" {
		return a
	}
	if u, err := url.Parse(os.Getenv("AWS_ENDPOINT_URL")); err == nil {
		if ip := net.ParseIP(u.Hostname()); ip.IsLoopback() || u.Hostname() == "localhost" {
			return "127.0.0.1:0"
		}
	}
	return ":" + strconv.Itoa(names.WorkerPort)
}
