// Package histories checks what several processes did at once to outcome, credit,
// lease, budget and effect, over a real database with lost answers, requests that
// never arrived and requests that arrive late: each history of calls and returns
// must be explained by some order of a small sequential model (porcupine). A call
// whose outcome its caller never learned is left open: it may have happened at
// any time since, or never.
package histories

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"fastbowlinglab/integration/faults"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/dynamotest"
)

// unknown is the output of a call whose caller never learned what came of it.
type unknown struct{}

// recorder notes calls and returns. Virtual time stands still over a request, so
// the order of the notes is the clock.
type recorder struct {
	mu  sync.Mutex
	now int64
	ops []porcupine.Operation
}

func (r *recorder) tick() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	return r.now
}

// call notes one call; fn gives its output, or an error for an unknown outcome.
func (r *recorder) call(client int, input any, fn func() (any, error)) (any, error) {
	begun := r.tick()
	out, err := fn()
	op := porcupine.Operation{ClientId: client, Input: input, Call: begun, Output: out, Return: r.tick()}
	if err != nil {
		op.Output, op.Return = unknown{}, math.MaxInt64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, op)
	return out, err
}

// world plays a history: body on a database with faults of the seed.
func world(t *testing.T, seed uint64, off func(*virtual.Options), body func(c *virtual.Cloud, d faults.Dice, r *recorder)) []porcupine.Operation {
	t.Helper()
	d, r := faults.Dice(seed), &recorder{}
	opt := virtual.Options{Seed: seed, NoFleet: true, Faults: func(c virtual.Call) virtual.Decision {
		if c.Actor == "setup" || !d.Chance(0.2, c.ID) {
			return virtual.Decision{}
		}
		kinds := []virtual.Fault{virtual.NotDone, virtual.Lost, virtual.Lost, virtual.Straggler, virtual.Throttled, virtual.Late, virtual.Twice}
		return virtual.Decision{Fault: kinds[d.IntN(len(kinds), "kind "+c.ID)], For: d.Between(time.Second, time.Minute, "for "+c.ID)}
	}}
	if off != nil {
		off(&opt)
	}
	db, stop := dynamotest.StartStop(t)
	defer stop()
	virtual.RunOn(t, db, opt, func(c *virtual.Cloud) { body(c, d, r) })
	return r.ops
}

// clients runs n clients side by side.
func clients(n int, body func(client int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { body(i) })
	}
	wg.Wait()
}

// checkTime bounds one check; a history this small takes milliseconds.
const checkTime = 20 * time.Second

// explained reports whether the model explains the history.
func explained(m porcupine.NondeterministicModel, ops []porcupine.Operation) error {
	switch porcupine.CheckOperationsTimeout(m.ToModel(), ops, checkTime) {
	case porcupine.Ok:
		return nil
	case porcupine.Illegal:
		return fmt.Errorf("no order of the model explains %d operations: %s", len(ops), tell(ops))
	}
	return fmt.Errorf("not decided in %s", checkTime)
}

func tell(ops []porcupine.Operation) string {
	s := ""
	for _, o := range ops {
		s += fmt.Sprintf("\n  client %d [%d, %d] %+v -> %+v", o.ClientId, o.Call, o.Return, o.Input, o.Output)
	}
	return s
}
