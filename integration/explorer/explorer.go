// Package explorer looks at every interleaving of a few actors over a small
// model of what the system promises: money and ends, paid calls, the pose job's
// lease and the hand-over of its token. Random schedules (integration/faults) run
// the real code and see some orders of it; this sees all orders of a model, with
// crashes and lost answers anywhere. Each transition names the function it stands
// for, so that a change there is a change to make here.
package explorer

import (
	"fmt"
	"strings"
)

// Step is one atomic thing that may happen next: a request to the database, or
// something between two of them.
type Step[S comparable] struct {
	Name string // actor: function
	To   S
}

// Model is a state machine to be explored.
type Model[S comparable] struct {
	Init S
	Next func(S) []Step[S]
	Safe func(S) error // must hold in every state
	End  func(S) error // must hold in every state from which nothing happens any more
}

// Broken is a way to a state that breaks a promise.
type Broken struct {
	Err   error
	Trace []string
}

func (b *Broken) Error() string {
	return fmt.Sprintf("%v, by:\n  %s", b.Err, strings.Join(b.Trace, "\n  "))
}

// maxStates bounds an exploration; a model that has more is too big to be one.
const maxStates = 5_000_000

// Explore visits every state that can be reached, breadth first, so that the way
// to a broken promise is a shortest one. It returns how many there are.
func Explore[S comparable](m Model[S]) (int, error) {
	type from struct {
		prev S
		name string
	}
	seen := map[S]from{m.Init: {}}
	queue := []S{m.Init}
	trace := func(s S) []string {
		var out []string
		for s != m.Init {
			f := seen[s]
			out = append([]string{f.name}, out...)
			s = f.prev
		}
		return out
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if err := m.Safe(s); err != nil {
			return len(seen), &Broken{err, trace(s)}
		}
		steps := m.Next(s)
		if len(steps) == 0 {
			if err := m.End(s); err != nil {
				return len(seen), &Broken{err, trace(s)}
			}
		}
		for _, st := range steps {
			if _, known := seen[st.To]; known {
				continue
			}
			if len(seen) == maxStates {
				return len(seen), fmt.Errorf("explorer: more than %d states", maxStates)
			}
			seen[st.To] = from{s, st.Name}
			queue = append(queue, st.To)
		}
	}
	return len(seen), nil
}
