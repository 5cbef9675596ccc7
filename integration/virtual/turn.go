package virtual

import (
	"context"
	"io"
	"net/http"
	"testing/synctest"
	"time"
)

// synctest says when everything is still, but not in which order goroutines run
// that wake in one instant. Whatever two of them share must therefore be touched
// in a turn: alone, when all else is still, in an order drawn from the seed.

// turn waits for a turn of its own and does f in it; false when ctx ended, or the
// process was killed, before. key tells this turn from others of the instant.
func (g *Gate) turn(ctx context.Context, p *Proc, key string, f func()) bool {
	c := newTurn(ctx, p, key, f)
	_, err := g.await(c)
	return err == nil
}

func newTurn(ctx context.Context, p *Proc, key string, f func()) *call {
	c := &call{key: "turn " + key, ctx: ctx, proc: p, turn: f, done: make(chan answer, 1)}
	if f == nil {
		c.turn = func() {}
	}
	if p != nil {
		c.Actor, c.key = p.Name, p.Name+" turn "+key
	}
	return c
}

// sleep lets d pass and waits for a turn then, so that who wakes in the same
// instant does so before or after, but not at once.
func (g *Gate) sleep(ctx context.Context, p *Proc, key string, d time.Duration) bool {
	return sleep(ctx, d) && g.turn(ctx, p, key, nil)
}

// Calm ends the faults.
func (g *Gate) Calm() {
	g.turn(context.Background(), nil, "calm", func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.calm = true
	})
}

func (g *Gate) isCalm() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calm
}

// end closes the log, when nothing else is left to do in this instant: what a
// world does while it is taken down is not part of its story.
func (g *Gate) end() {
	c := newTurn(context.Background(), nil, "end", func() { g.over = true })
	c.last = true
	_, _ = g.await(c) // neither a context nor a process that could end
}

// post sends a request to a process of this world, through the gate and its
// faults. serve is called in a turn and answers on out later.
func (g *Gate) post(r *http.Request, p *Proc, service string, serve func(body []byte, out chan<- answer)) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = b
	}
	c := &call{Call: Call{Service: service, Op: r.Method + " " + r.URL.Path, Body: body}, req: r, ctx: r.Context(), proc: p, done: make(chan answer, 1)}
	if p != nil {
		c.Actor = p.Name
	}
	c.key = c.Actor + " " + service + " " + c.Op + " " + canonical(body)
	c.serve = func(out chan<- answer) { serve(body, out) }
	return g.await(c)
}

// forward carries out a request to a process of this world.
func (g *Gate) forward(c *call, d Decision) {
	g.note(c, d.Fault, 0)
	nobody := func() chan<- answer { return make(chan answer, 1) }
	switch d.Fault {
	case Lost:
		c.serve(nobody())
		c.done <- answer{err: ErrConnection}
	case Twice:
		c.serve(nobody())
		synctest.Wait() // else the scheduler says which of them finds the process free
		c.serve(c.done)
	case CrashAfter:
		c.serve(nobody())
		c.proc.Kill()
	default:
		c.serve(c.done)
	}
}
