package lambdaapi

import (
	"sync"
	"time"

	"fastbowlinglab/shared/names"
)

// pool is the processes of one version of a function.
type pool struct {
	service  *Service
	function names.Function
	version  string
	program  string

	mu      sync.Mutex
	busy    int
	idle    []*instance // the one used last is at the end
	retired bool        // its program was replaced
}

// reserve takes one of the function's places; release gives it back.
func (p *pool) reserve() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy >= p.service.cfg.Concurrency {
		return throttled()
	}
	p.busy++
	return nil
}

func (p *pool) release() {
	p.mu.Lock()
	p.busy--
	p.mu.Unlock()
}

// takeIdle takes the process that was used last, or nil.
func (p *pool) takeIdle() *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	in := p.idle[n-1]
	p.idle = p.idle[:n-1]
	in.reaper.Stop()
	return in
}

// putIdle keeps a process for the next invocation, for a while.
func (p *pool) putIdle(in *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-in.dead:
		return
	default:
	}
	if p.retired {
		go in.kill()
		return
	}
	in.reaper = time.AfterFunc(p.service.cfg.Idle, func() {
		if p.remove(in) {
			in.kill()
		}
	})
	p.idle = append(p.idle, in)
}

// remove takes a process out of the idle ones; false means it was not there.
func (p *pool) remove(in *instance) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, x := range p.idle {
		if x == in {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			in.reaper.Stop()
			return true
		}
	}
	return false
}
