package virtual

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// A request to a process that comes twice is served twice, the second time when the
// first has got as far as it gets: which of them finds the process free is no
// matter of the scheduler's.
func TestARequestThatComesTwiceIsServedInTurn(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(1, nil)
			g.faults = func(Call) Decision { return Decision{Fault: Twice} }
			var mu sync.Mutex
			var order []int
			begun := 0
			serve := func(_ []byte, out chan<- answer) {
				begun++
				mine := begun
				go func() {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, mine)
					out <- answer{}
				}()
			}
			stop := make(chan struct{})
			go func() {
				defer close(stop)
				r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://workers/v1/jobs", strings.NewReader("{}"))
				if err == nil {
					_, err = g.post(r, NewProc("p"), ServiceWorker, serve)
				}
				if err != nil {
					t.Error(err)
				}
			}()
			g.run(stop)
			synctest.Wait()
			if !slices.Equal(order, []int{1, 2}) {
				t.Errorf("served %v", order)
			}
		})
	}
}
