package statemachine

import (
	"fmt"
	"strings"

	"fastbowlinglab/shared/names"
)

// Limits of Step Functions on one execution.
const (
	MaxEvents = 25000
	MaxBytes  = 256 << 10
)

// How often a loop of a definition may be taken. The definition counts in its own
// data, so that the bound holds whatever functions answer.
const (
	Loops = 100 // rounds without a worker, calls of the nightly job

	// Returns bounds the loops of an analysis that a worker has claimed: returns to
	// dispatch, and waits for another run's text. It has two hours from its first
	// claim (names.AnalysingDeadline), so one in 144 s.
	Returns = 50
)

// Worst is the worst case of one execution.
type Worst struct {
	Events     int // of the history
	StateBytes int // of a state's input or output
}

// WorstCase computes bounds from the definition: the longest way through it
// without loops, every task using all its attempts, and each counted loop taken
// Loops times. It fails when there is a loop that is not counted.
func WorstCase(name string) (Worst, error) {
	d, err := load(name)
	if err != nil {
		return Worst{}, err
	}
	w, err := worstCase(d)
	if err != nil {
		return Worst{}, fmt.Errorf("state machine %s: %w", name, err)
	}
	return w, nil
}

func worstCase(d definition) (Worst, error) {
	g := graph{d: d, open: map[string]bool{}, longest: map[string]int{}}
	events, err := g.walk(d.StartAt)
	if err != nil {
		return Worst{}, err
	}
	for counter, ways := range g.counters() {
		most := 0
		for _, way := range ways {
			n, err := g.loop(way)
			if err != nil {
				return Worst{}, err
			}
			most = max(most, n)
		}
		limit := g.bound(counter)
		if limit == 0 {
			return Worst{}, fmt.Errorf("nothing compares $.%s.count with at most %d", counter, Loops)
		}
		events += limit * most
	}
	const startAndEnd = 2
	return Worst{Events: events + startAndEnd, StateBytes: stateBytes(d)}, nil
}

type graph struct {
	d       definition
	open    map[string]bool // on the way being walked
	longest map[string]int  // events from a state to an end
}

// cost is how many events one stay in a state makes at most.
func (g graph) cost(name string) int {
	s := g.d.States[name]
	const enteredAndExited = 2
	if s.Type == "Map" {
		inner := graph{d: definition{StartAt: s.ItemProcessor.StartAt, States: s.ItemProcessor.States}, open: map[string]bool{}, longest: map[string]int{}}
		each, err := inner.walk(inner.d.StartAt)
		if err != nil {
			return MaxEvents // a loop inside of a Map: far too many
		}
		const startedAndEnded = 2 // the Map, and each iteration
		return enteredAndExited + startedAndEnded + names.MaxBatches*(startedAndEnded+each)
	}
	if s.Type != "Task" {
		return enteredAndExited
	}
	const refusedAttempt = 3 // scheduled, started, failed
	perAttempt := 3          // scheduled, started, ended
	if s.waits() {
		perAttempt = 4 // and submitted
	}
	n := enteredAndExited + perAttempt
	for _, r := range s.Retry {
		switch {
		case r.MaxAttempts == nil:
		case r.ofRefusals():
			n += *r.MaxAttempts * refusedAttempt
		default:
			n += *r.MaxAttempts * perAttempt
		}
	}
	return n
}

// counter gives the place of the counter that a Pass state raises, or "".
func (s state) counter() string {
	where, ok := strings.CutPrefix(s.ResultPath, "$.")
	want := fmt.Sprintf(`"States.MathAdd($.%s.count, 1)"`, where)
	if s.Type == "Pass" && ok && strings.Contains(string(s.Parameters), want) {
		return where
	}
	return ""
}

// walk gives the longest way from a state to an end, counting states left out.
func (g graph) walk(name string) (int, error) {
	if n, ok := g.longest[name]; ok {
		return n, nil
	}
	if g.open[name] {
		return 0, fmt.Errorf("a loop through %s is not counted", name)
	}
	if g.d.States[name].counter() != "" {
		return 0, nil // the loop is accounted for by its counter
	}
	g.open[name] = true
	defer delete(g.open, name)
	most := 0
	for _, next := range g.d.States[name].nexts() {
		n, err := g.walk(next)
		if err != nil {
			return 0, err
		}
		most = max(most, n)
	}
	g.longest[name] = most + g.cost(name)
	return g.longest[name], nil
}

// counters lists the counting states by what they count.
func (g graph) counters() map[string][]string {
	out := map[string][]string{}
	for _, name := range sortedKeys(g.d.States) {
		if c := g.d.States[name].counter(); c != "" {
			out[c] = append(out[c], name)
		}
	}
	return out
}

// loop gives the longest way from a counting state back to itself.
func (g graph) loop(counting string) (int, error) {
	seen := map[string]int{}
	var back func(name string) int
	back = func(name string) int {
		if name == counting {
			return 0
		}
		if n, ok := seen[name]; ok {
			return n
		}
		seen[name] = -1 // no way back
		if g.d.States[name].counter() != "" {
			return -1
		}
		for _, next := range g.d.States[name].nexts() {
			if n := back(next); n >= 0 {
				seen[name] = max(seen[name], n+g.cost(name))
			}
		}
		return seen[name]
	}
	n := back(g.d.States[counting].Next)
	if n < 0 {
		return 0, fmt.Errorf("%s counts a loop that it is not in", counting)
	}
	return n + g.cost(counting), nil
}

// bound gives the number below which a choice rule lets a counter's loop go on; 0
// if there is none of at most Loops.
func (g graph) bound(counter string) int {
	for _, s := range g.d.States {
		for _, r := range s.Choices {
			for _, c := range append(r.And, r) {
				if c.Variable == "$."+counter+".count" && c.NumericLessThan != nil && *c.NumericLessThan >= 1 && *c.NumericLessThan <= Loops {
					return int(*c.NumericLessThan)
				}
			}
		}
	}
	return 0
}

// stateBytes bounds the data of a state: the input and everything that results
// and caught errors add to it; or what all iterations of a Map give, if that is
// more. The input of a batch machine's execution is bounded by what starts it.
func stateBytes(d definition) int {
	most := bytesOf(d)
	for _, s := range d.States {
		if s.ItemProcessor != nil {
			most = max(most, names.MaxBatches*bytesOf(definition{States: s.ItemProcessor.States}))
		}
	}
	return most
}

func bytesOf(d definition) int {
	const perField = 8 // quotes, colon, comma, brackets
	size := func(field string) int { return len(field) + perField + travelling[field] }
	total := size("analysis_id") + size("attempt")
	kept := map[string]int{} // by ResultPath: later results replace earlier ones
	for _, s := range d.States {
		n := len(s.ResultPath) + perField + len(s.Result)
		for key, v := range s.ResultSelector {
			if _, constant := v.(map[string]any); constant {
				n += 64
				continue
			}
			n += size(strings.TrimSuffix(key, ".$"))
		}
		kept[s.ResultPath] = max(kept[s.ResultPath], n)
		for _, c := range s.Catch {
			if c.ResultPath == "" { // null: the error is dropped
				continue
			}
			kept[c.ResultPath] = max(kept[c.ResultPath], len(c.ResultPath)+size("error")+size("cause"))
		}
	}
	for _, n := range kept {
		total += n
	}
	return total
}
