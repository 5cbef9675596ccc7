package alb_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fastbowlinglab/integration/local/alb"
	"fastbowlinglab/shared/names"
)

func target(t *testing.T, h http.HandlerFunc) string {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

func serve(t *testing.T, cfg alb.Config) (*alb.Balancer, string) {
	b := alb.New(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); b.Watch(ctx) }()
	srv := httptest.NewServer(b)
	t.Cleanup(func() { srv.Close(); cancel(); <-done })
	return b, srv.URL
}

func call(t *testing.T, url, body string) (int, string, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header.Get("Server")
}

func TestBalancer(t *testing.T) {
	t.Run("NoTarget", func(t *testing.T) {
		_, url := serve(t, alb.Config{Targets: func() []string { return nil }})
		if code, body, server := call(t, url, ""); code != 503 || !strings.Contains(body, "<h1>503") || server != "awselb/2.0" {
			t.Errorf("%d %q by %q", code, body, server)
		}
	})
	t.Run("RefusedConnection", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		_, url := serve(t, alb.Config{Targets: func() []string { return []string{l.Addr().String()} }})
		if code, _, server := call(t, url, ""); code != 502 || server != "awselb/2.0" {
			t.Errorf("%d by %q", code, server)
		}
	})
	t.Run("IdleTimeoutLeavesTheTargetAtWork", func(t *testing.T) {
		goOn, ended := make(chan struct{}), make(chan error, 1)
		a := target(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == names.HealthPath {
				return
			}
			<-goOn
			ended <- r.Context().Err()
		})
		b, url := serve(t, alb.Config{Targets: func() []string { return []string{a} }, IdleTimeout: 50 * time.Millisecond})
		code, body, _ := call(t, url+"/slow", "")
		if code != 504 || !strings.Contains(body, "Gateway Time-out") || b.Made504() != 1 {
			t.Errorf("%d %q, %d counted", code, body, b.Made504())
		}
		close(goOn)
		if err := <-ended; err != nil {
			t.Errorf("the target's work was cancelled: %v", err)
		}
	})
	t.Run("OnlyHealthyTargetsInTurn", func(t *testing.T) {
		var hits [3]atomic.Int32
		var all []string
		for i := range hits {
			all = append(all, target(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == names.HealthPath {
					if i == 2 {
						w.WriteHeader(503)
					}
					return
				}
				hits[i].Add(1)
				_, _ = io.Copy(w, r.Body)
				w.WriteHeader(200)
			}))
		}
		_, url := serve(t, alb.Config{Targets: func() []string { return all }, Health: 10 * time.Millisecond})
		for deadline := time.Now().Add(10 * time.Second); hits[0].Load() < 5 || hits[1].Load() < 5; {
			if code, body, _ := call(t, url+"/v1/jobs?x=1", `{"a":1}`); code != 200 || body != `{"a":1}` {
				t.Fatalf("%d %q", code, body)
			}
			if time.Now().After(deadline) {
				t.Fatal("not both healthy targets are used")
			}
		}
		was := hits[2].Load()
		for range 6 {
			call(t, url, "")
		}
		if hits[2].Load() != was {
			t.Error("the target that is not healthy was used")
		}
	})
}

func TestIdleTimeoutIsTheDeployed(t *testing.T) {
	if names.ALBIdleTimeout != 900*time.Second {
		t.Errorf("idle timeout %s", names.ALBIdleTimeout)
	}
}
