package engine

import (
	"errors"
	"fmt"
	"sync"
)

// team is several benches of one session, so that readings that do not need each
// other run side by side, each in one thread. What they give does not depend on
// how many there are.
type team struct {
	benches []*bench
	free    chan *bench
}

// team makes n benches.
func (s *session) team(n int) (*team, error) {
	t := &team{free: make(chan *bench, max(1, n))}
	for range max(1, n) {
		b, err := s.bench()
		if err != nil {
			t.close()
			return nil, err
		}
		t.benches = append(t.benches, b)
		t.free <- b
	}
	return t, nil
}

func (t *team) close() {
	if t == nil {
		return
	}
	for _, b := range t.benches {
		b.close()
	}
}

// alone reports whether there is one bench, on which everything runs in turn.
func (t *team) alone() bool { return len(t.benches) == 1 }

// each calls fn for 0 to n-1, on as many benches at once as there are, and joins
// the errors.
func (t *team) each(n int, fn func(b *bench, i int) error) error {
	errs := make([]error, n)
	if n == 1 || t.alone() {
		b := <-t.free
		defer func() { t.free <- b }()
		for i := range n {
			if errs[i] = fn(b, i); errs[i] != nil {
				break
			}
		}
		return errors.Join(errs...)
	}
	var wg sync.WaitGroup
	for i := range n {
		b := <-t.free
		wg.Go(func() {
			defer func() { t.free <- b }()
			defer func() { // a panic here would end the process, and every other pass with it
				if r := recover(); r != nil {
					errs[i] = fmt.Errorf("panic: %v", r)
				}
			}()
			errs[i] = fn(b, i)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
