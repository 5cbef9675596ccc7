package poseworker

import (
	"context"
	"sync"
)

// slots is the one semaphore of all roads that bring work in.
type slots struct {
	mu   sync.Mutex
	free int
	all  int
	wait chan struct{} // closed and renewed when a slot is freed
}

func newSlots(n int) *slots { return &slots{free: n, all: n, wait: make(chan struct{})} }

// TryAcquire takes a slot if one is free.
func (s *slots) TryAcquire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 {
		return false
	}
	s.free--
	return true
}

// Release gives a slot back.
func (s *slots) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == s.all {
		panic("poseworker: a slot was released twice")
	}
	s.free++
	close(s.wait)
	s.wait = make(chan struct{})
}

// Busy is the number of slots taken.
func (s *slots) Busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all - s.free
}

// WaitFree waits until a slot looks free, without taking it, so that a road
// that merely listens keeps nobody out. It is false when ctx ended first.
func (s *slots) WaitFree(ctx context.Context) bool {
	for {
		s.mu.Lock()
		free, wait := s.free > 0, s.wait
		s.mu.Unlock()
		if free {
			return ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-wait:
		}
	}
}
