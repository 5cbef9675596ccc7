package lambdaapi

import (
	"sync"
	"time"
)

// Invocation is the record of one invocation, as in a REPORT line.
type Invocation struct {
	Function     string        `json:"function"`
	Version      string        `json:"version"`
	RequestID    string        `json:"request_id"`
	Start        time.Time     `json:"start"`      // when it was asked for
	Dispatched   time.Time     `json:"dispatched"` // when the function's code got it; zero if never
	End          time.Time     `json:"end"`
	Cold         bool          `json:"cold"` // a process had to be started
	Init         time.Duration `json:"init"` // from the process's start to its first poll, when cold
	Error        string        `json:"error,omitempty"`
	PeakMemoryMB int           `json:"peak_memory_mb"` // of the process so far; its children not counted
}

// Duration is the time in the function's own code.
func (i Invocation) Duration() time.Duration {
	if i.Dispatched.IsZero() {
		return 0
	}
	return i.End.Sub(i.Dispatched)
}

// maxRecords is how many invocations are remembered.
const maxRecords = 10_000

// record remembers the latest invocations, in the order in which they ended.
type record struct {
	mu   sync.Mutex
	ring []Invocation
	next int // where the oldest is, once the ring is full
}

func (r *record) add(i Invocation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ring) < maxRecords {
		r.ring = append(r.ring, i)
		return
	}
	r.ring[r.next] = i
	r.next = (r.next + 1) % maxRecords
}

func (r *record) all() []Invocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(append([]Invocation{}, r.ring[r.next:]...), r.ring[:r.next]...)
}

// Invocations gives the record of the latest 10,000 invocations, oldest first.
func (s *Service) Invocations() []Invocation { return s.record.all() }
