package histories

import (
	"sync"

	"fastbowlinglab/shared/lease"
)

// held keeps the leases that clients got, by owner.
type held struct {
	mu sync.Mutex
	m  map[string]lease.Lease
}

var leases = held{m: map[string]lease.Lease{}}

func (h *held) store(owner string, l lease.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.m[owner] = l
}

func (h *held) load(owner string) lease.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.m[owner]
}
