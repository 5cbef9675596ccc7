package virtual

import (
	"bytes"
	"cmp"
	"context"
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

// Requests of processes of this world to each other, as services of the gate.
const (
	ServiceWorker  = "worker"  // through the balancer
	ServiceGateway = "gateway" // the public API
)

// balancer hands posted jobs and probes to the workers that run, in turn. Workers
// that come up in one instant stand in the order of their names.
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
	slices.SortFunc(b.workers, func(x, y target) int {
		return cmp.Or(cmp.Compare(len(x.proc.Name), len(y.proc.Name)), strings.Compare(x.proc.Name, y.proc.Name))
	})
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

// pick chooses a worker; it is called in a turn.
func (b *balancer) pick() (target, bool) {
	all := b.living()
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
	return t.c.Gate.post(r, ProcOf(r.Context()), ServiceWorker, func(body []byte, out chan<- answer) {
		to, ok := t.c.balancer.pick()
		if !ok {
			rec := &recorder{header: http.Header{}}
			rec.WriteHeader(http.StatusServiceUnavailable)
			out <- answer{resp: rec.response(r)}
			return
		}
		served := r.Clone(Within(context.WithoutCancel(r.Context()), to.proc))
		served.Body = io.NopCloser(bytes.NewReader(body))
		done := make(chan *http.Response, 1)
		t.c.wg.Go(func() {
			rec := &recorder{header: http.Header{}}
			to.http.ServeHTTP(rec, served)
			done <- rec.response(r)
		})
		t.c.wg.Go(func() {
			select {
			case res := <-done:
				if !to.proc.Dead() {
					out <- answer{resp: res}
					return
				}
			case <-to.proc.Killed():
			}
			out <- answer{err: ErrConnection}
		})
	})
}

// callbackWay is the way of a worker's callback: the gateway, then the function.
type callbackWay struct {
	c    *Cloud
	proc *Proc
}

// RoundTrip implements http.RoundTripper.
func (a callbackWay) RoundTrip(r *http.Request) (*http.Response, error) {
	headers := map[string]string{}
	for k, vs := range r.Header {
		headers[strings.ToLower(k)] = strings.Join(vs, ",")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return a.c.gateway(r, a.proc, names.FnCallback, headers["x-event-id"], map[string]any{
		"version": "2.0", "routeKey": r.Method + " " + r.URL.Path, "headers": headers, "body": string(body)})
}

// oneKey is the key of callbacks and payment events in every virtual world.
type oneKey struct{}

// Keys implements the key source of both ends.
func (oneKey) Keys(context.Context) ([][]byte, error) {
	return [][]byte{keyOfWorlds}, nil
}

var keyOfWorlds = []byte("a key of virtual worlds")

// signed is a worker's callback.
func (c *Cloud) signed(proc *Proc) poseworker.Callback {
	return poseworker.SignedCallback{URL: "https://api.example.com", Keys: oneKey{},
		Client: &http.Client{Transport: callbackWay{c, proc}}}
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
