package virtual

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// ErrDead is what a process that was killed gets from everything it still tries.
// Its code cannot be stopped in virtual time as kill -9 does; what it can do is
// taken from it instead.
var ErrDead = errors.New("virtual: this process was killed")

// Proc is one process of the virtual world: an invocation of a function, a
// worker, a client. Its requests carry its name, and stop with it.
type Proc struct {
	Name string

	once sync.Once
	dead chan struct{}

	mu    sync.Mutex
	stops []span // one after the other
}

// span is a time in which a process was stopped.
type span struct{ from, until time.Time }

// NewProc makes a living process.
func NewProc(name string) *Proc { return &Proc{Name: name, dead: make(chan struct{})} }

// Kill ends the process: from now on the cloud refuses it.
func (p *Proc) Kill() { p.once.Do(func() { close(p.dead) }) }

// Killed is closed when the process is killed.
func (p *Proc) Killed() <-chan struct{} { return p.dead }

// Dead reports whether the process was killed.
func (p *Proc) Dead() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// pause stops the process until t; requests that it makes wait.
func (p *Proc) pause(t time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from := time.Now()
	if n := len(p.stops); n > 0 && p.stops[n-1].until.After(from) {
		from = p.stops[n-1].until
	}
	if t.After(from) {
		p.stops = append(p.stops, span{from, t})
	}
}

func (p *Proc) isPaused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.stops)
	return n > 0 && p.stops[n-1].until.After(time.Now())
}

// Ran is how long the process was not stopped between two times.
func (p *Proc) Ran(from, to time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	ran := to.Sub(from)
	for _, s := range p.stops {
		if s.from.Before(from) {
			s.from = from
		}
		if s.until.After(to) {
			s.until = to
		}
		ran -= max(0, s.until.Sub(s.from))
	}
	return ran
}

type procKey struct{}

// As makes a process of this name the one on whose behalf ctx's requests are made.
func As(ctx context.Context, name string) context.Context { return Within(ctx, NewProc(name)) }

// Within makes p the process on whose behalf ctx's requests are made.
func Within(ctx context.Context, p *Proc) context.Context {
	return context.WithValue(ctx, procKey{}, p)
}

// ProcOf is the process of ctx, nil for none.
func ProcOf(ctx context.Context) *Proc {
	p, _ := ctx.Value(procKey{}).(*Proc)
	return p
}

// port is the HTTP client of one process, for code whose contexts do not come
// from its caller.
type port struct {
	gate *Gate
	proc *Proc
}

func (p port) Do(req *http.Request) (*http.Response, error) { return p.gate.do(req, p.proc) }
