package virtual

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/functions/callback"
	"fastbowlinglab/functions/poseworker"
	"fastbowlinglab/functions/postjob"
	"fastbowlinglab/functions/probe"
	"fastbowlinglab/shared/names"
)

// balancer hands posted jobs and probes to the workers that run, in turn.
type balancer struct {
	mu      sync.Mutex
	workers []target
	next    int
}

type target struct {
	proc *Proc
	http http.Handler
}

func (b *balancer) register(t target) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.workers = append(b.workers, t)
}

func (b *balancer) remove(p *Proc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.workers = slices.DeleteFunc(b.workers, func(t target) bool { return t.proc == p })
}

// living gives the workers that answer.
func (b *balancer) living() []target {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.workers), func(t target) bool { return t.proc.Dead() })
}

func (b *balancer) pick() (target, bool) {
	all := b.living()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(all) == 0 {
		return target{}, false
	}
	b.next++
	return all[b.next%len(all)], true
}

// Living gives the workers that take work, oldest first.
func (c *Cloud) Living() []*Proc {
	var out []*Proc
	for _, t := range c.balancer.living() {
		out = append(out, t.proc)
	}
	return out
}

// through is the way of a function's HTTP call: the balancer, then a worker.
type through struct{ c *Cloud }

// RoundTrip implements http.RoundTripper. A worker that dies while it answers is
// a connection that breaks.
func (t through) RoundTrip(r *http.Request) (*http.Response, error) {
	to, ok := t.c.balancer.pick()
	if !ok {
		rec := &recorder{header: http.Header{}}
		rec.WriteHeader(http.StatusServiceUnavailable)
		return rec.response(r), nil
	}
	done := make(chan *http.Response, 1)
	t.c.wg.Go(func() {
		rec := &recorder{header: http.Header{}}
		to.http.ServeHTTP(rec, r.WithContext(Within(context.WithoutCancel(r.Context()), to.proc)))
		done <- rec.response(r)
	})
	select {
	case res := <-done:
		if to.proc.Dead() {
			return nil, ErrConnection
		}
		return res, nil
	case <-to.proc.Killed():
		return nil, ErrConnection
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// publicAPI is the way of a worker's callback: the gateway, then the function.
type publicAPI struct {
	c    *Cloud
	proc *Proc
}

// RoundTrip implements http.RoundTripper.
func (a publicAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.proc.Dead() {
		return nil, ErrDead
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{}
	for k, vs := range r.Header {
		headers[strings.ToLower(k)] = strings.Join(vs, ",")
	}
	ev := map[string]any{"version": "2.0", "routeKey": r.Method + " " + r.URL.Path, "headers": headers, "body": string(body)}
	out := a.c.call(As(context.WithoutCancel(r.Context()), names.FnCallback+"/"+headers["x-event-id"]), names.FnCallback, mustJSON(ev))
	if a.proc.Dead() {
		return nil, ErrDead
	}
	var resp struct {
		StatusCode int
		Body       string
	}
	if out.fail != "" || json.Unmarshal(out.out, &resp) != nil {
		resp.StatusCode = http.StatusInternalServerError
	}
	rec := &recorder{header: http.Header{}}
	rec.WriteHeader(resp.StatusCode)
	rec.body.WriteString(resp.Body)
	return rec.response(r), nil
}

// oneKey is the key of callbacks in every virtual world.
type oneKey struct{}

// Keys implements the key source of both ends.
func (oneKey) Keys(context.Context) ([][]byte, error) {
	return [][]byte{[]byte("a key of virtual worlds")}, nil
}

// signed is a worker's callback.
func (c *Cloud) signed(proc *Proc) poseworker.Callback {
	return poseworker.SignedCallback{URL: "https://api.example.com", Keys: oneKey{},
		Client: &http.Client{Transport: publicAPI{c, proc}}}
}

// httpRoad are the functions of the HTTP road.
func (c *Cloud) httpRoad() map[string]lambda.Handler {
	client, url := &http.Client{Transport: through{c}}, "http://workers.internal"
	return map[string]lambda.Handler{
		names.FnProbe: probe.New(probe.Deps{Client: client, URL: url, Now: c.clock(names.FnProbe)}),
		names.FnPostJob: postjob.New(postjob.Deps{Client: client, URL: url, Now: c.clock(names.FnPostJob),
			Jobs: c.jobs(c.DB, c.clock(names.FnPostJob))}),
		names.FnCallback: callback.New(callback.Deps{Jobs: c.jobs(c.DB, c.clock(names.FnCallback)), Tokens: c.tokens(),
			Keys: oneKey{}, Seen: callback.Seen{DB: c.DB, Table: names.Effects.Name, Retry: c.Retry}}),
	}
}
