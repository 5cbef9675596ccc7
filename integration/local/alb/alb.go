// Package alb is the part of an Application Load Balancer that the pose fleet
// uses: HTTP targets with health checks, round robin, an idle timeout, and the
// balancer's own answers, which are HTML and not the targets' JSON.
//
//   - 503 Service Temporarily Unavailable: there is no target.
//   - 502 Bad Gateway: the target closed or refused the connection.
//   - 504 Gateway Time-out: the connection, or the target's answer, was idle for
//     longer than the idle timeout. The target is not told: it goes on.
//
// Where no target is healthy, requests go to all of them (fail open), as the real
// one does.
package alb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"fastbowlinglab/shared/names"
)

// Config says what is balanced. The zero value of a time is shared/names'.
type Config struct {
	Targets     func() []string // addresses, host:port
	IdleTimeout time.Duration
	Health      time.Duration // between two health checks of a target; default 500 ms, since here starts are quick
	Log         *slog.Logger  // default: none
}

// Balancer is an http.Handler.
type Balancer struct {
	cfg     Config
	client  *http.Client
	next    atomic.Uint64
	made504 atomic.Int64

	mu      sync.Mutex
	healthy map[string]bool
}

// New makes a balancer; Watch keeps it informed of its targets' health.
func New(cfg Config) *Balancer {
	if cfg.IdleTimeout <= 0 {
		cfg.IdleTimeout = names.ALBIdleTimeout
	}
	if cfg.Health <= 0 {
		cfg.Health = 500 * time.Millisecond
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Balancer{cfg: cfg, healthy: map[string]bool{}, client: &http.Client{
		Transport:     &http.Transport{DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext, IdleConnTimeout: 30 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Made504 counts the 504s that the balancer itself has made:
// HTTPCode_ELB_504_Count.
func (b *Balancer) Made504() int64 { return b.made504.Load() }

// Watch checks the targets until ctx ends.
func (b *Balancer) Watch(ctx context.Context) {
	tick := time.NewTicker(b.cfg.Health)
	defer tick.Stop()
	for {
		b.check(ctx)
		select {
		case <-ctx.Done():
			b.client.CloseIdleConnections()
			return
		case <-tick.C:
		}
	}
}

func (b *Balancer) check(ctx context.Context) {
	now := map[string]bool{}
	for _, t := range b.cfg.Targets() {
		now[t] = b.healthyNow(ctx, t)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.healthy = now
}

func (b *Balancer) healthyNow(ctx context.Context, target string) bool {
	ctx, cancel := context.WithTimeout(ctx, names.HealthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+target+names.HealthPath, nil)
	if err != nil {
		return false
	}
	res, err := b.client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// pick gives the target whose turn it is, "" when there is none.
func (b *Balancer) pick() string {
	all := b.cfg.Targets()
	b.mu.Lock()
	defer b.mu.Unlock()
	var good []string
	for _, t := range all {
		if b.healthy[t] {
			good = append(good, t)
		}
	}
	if len(good) == 0 {
		good = all
	}
	if len(good) == 0 {
		return ""
	}
	return good[b.next.Add(1)%uint64(len(good))]
}

// ServeHTTP hands a request to a target.
func (b *Balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := b.pick()
	if target == "" {
		own(w, http.StatusServiceUnavailable, "Service Temporarily Unavailable")
		return
	}
	// The request to the target outlives the caller's patience and ours: that is
	// how the real one leaves work running behind a 504.
	ctx := context.WithoutCancel(r.Context())
	req, err := http.NewRequestWithContext(ctx, r.Method, "http://"+target+r.URL.RequestURI(), r.Body)
	if err != nil {
		own(w, http.StatusBadRequest, "Bad Request")
		return
	}
	req.Header = r.Header.Clone()
	req.Header.Set("X-Forwarded-Proto", "http")
	req.ContentLength = r.ContentLength
	type answer struct {
		res *http.Response
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := b.client.Do(req)
		done <- answer{res, err}
	}()
	idle := time.NewTimer(b.cfg.IdleTimeout)
	defer idle.Stop()
	select {
	case a := <-done:
		if a.err != nil {
			b.cfg.Log.Warn("target did not answer", "target", target, "error", a.err)
			own(w, http.StatusBadGateway, "Bad Gateway")
			return
		}
		copyAnswer(w, a.res)
		return
	case <-idle.C:
		b.made504.Add(1)
		b.cfg.Log.Warn("target was idle for too long", "target", target, "path", r.URL.Path)
		own(w, http.StatusGatewayTimeout, "Gateway Time-out")
	case <-r.Context().Done(): // the caller has gone: nobody to answer
	}
	go func() { // what comes too late is read and dropped
		if a := <-done; a.err == nil {
			a.res.Body.Close()
		}
	}()
}

func copyAnswer(w http.ResponseWriter, res *http.Response) {
	defer res.Body.Close()
	for k, vs := range res.Header {
		w.Header()[k] = vs
	}
	w.WriteHeader(res.StatusCode)
	if _, err := io.Copy(w, res.Body); err != nil && !errors.Is(err, context.Canceled) {
		panic(http.ErrAbortHandler) // the caller must see that the answer is cut
	}
}

// own is an answer of the balancer itself.
func own(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Server", "awselb/2.0")
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(code)
	fmt.Fprintf(w, "<html>\r\n<head><title>%d %s</title></head>\r\n<body>\r\n<center><h1>%d %s</h1></center>\r\n</body>\r\n</html>\r\n", code, text, code, text)
}
