package faults

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fastbowlinglab/shared/dynamotest"
)

// Summary is a campaign's last line.
type Summary struct {
	Runs       int            `json:"runs"`
	Faults     map[string]int `json:"faults"`     // by kind
	Violations map[string]int `json:"violations"` // by invariant
	Seed       uint64         `json:"seed"`       // of the first run; they are consecutive
	LogHash    string         `json:"log_hash"`   // of all runs' logs, in the order of their seeds
	Seconds    float64        `json:"seconds"`
	CPU        float64        `json:"cpu_seconds"` // of this process and its databases
	Off        string         `json:"off,omitempty"`
	Ends       map[string]int `json:"ends"`
	Requests   int            `json:"requests"`
	Executions map[int]int    `json:"executions"` // runs by how many executions their analyses had
	OfOne      map[int]int    `json:"of_one"`     // runs by how many the analysis had that had most
	HTTPRoad   int            `json:"http_road"`  // runs whose jobs went the HTTP road; the others', the queue's
	Redriven   int            `json:"redriven"`   // executions, after the end of their analysis
	ModelCalls int            `json:"model_calls"`
	ExtraCalls int            `json:"extra_calls"` // beyond the first of a task: the takeovers, less the claims that reached nobody
	Takeovers  int            `json:"takeovers"`
	Unsent     int            `json:"unsent_claims"`
	Virtual    string         `json:"virtual"` // how long the worlds lived

	first *Result // the first run with a violation
}

// Campaign plays runs schedules from seed on, several at a time, and sums them up.
// After last, if that is not 0, it begins no further one. With a guard switched off
// it stops at the first broken promise of that guard.
func Campaign(t *testing.T, seed uint64, runs, parallel int, off Guard, last time.Duration) Summary {
	start, before := time.Now(), spent()
	results := make([]*Result, runs)
	until := time.Time{}
	if last > 0 {
		until = start.Add(last)
	}
	var mu sync.Mutex
	next, stop := 0, false
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		if stop || next == runs || !until.IsZero() && time.Now().After(until) {
			return -1
		}
		next++
		return next - 1
	}
	t.Run("worlds", func(t *testing.T) {
		for w := range parallel {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				for i := take(); i >= 0; i = take() {
					r := one(t, seed+uint64(i), off)
					mu.Lock()
					results[i] = &r
					stop = stop || off.Name != "" && r.broke(off.Breaks)
					mu.Unlock()
				}
			})
		}
	})
	s := Summary{Seed: seed, Off: off.Name, Faults: map[string]int{}, Violations: map[string]int{}, Ends: map[string]int{}, Executions: map[int]int{}, OfOne: map[int]int{}}
	s.sum(results)
	s.Seconds = time.Since(start).Round(10 * time.Millisecond).Seconds()
	s.CPU = (spent() - before).Round(10 * time.Millisecond).Seconds()
	return s
}

// spent is the processor time of this process and of those that it waited for.
func spent() time.Duration {
	sum := time.Duration(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// one plays one schedule on a database of its own. A world that cannot come to
// rest is a panic of synctest's: the seed is printed first.
func one(t *testing.T, seed uint64, off Guard) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("seed %d: %v", seed, p)
			panic(p)
		}
	}()
	db, stop := dynamotest.StartStop(t)
	defer stop()
	return Run(t, db, seed, Options{Off: off})
}

func (s *Summary) sum(results []*Result) {
	h := sha256.New()
	var lived time.Duration
	for _, r := range results {
		if r == nil {
			continue
		}
		s.Runs++
		fmt.Fprintln(h, r.Seed, r.Hash)
		for _, f := range r.Fired {
			s.Faults[f.Kind]++
		}
		for _, v := range r.Violations {
			s.Violations[v.Invariant]++
		}
		for end, n := range r.Ends {
			s.Ends[string(end)] += n
		}
		s.Requests += r.Requests
		s.Executions[r.Executions]++
		s.OfOne[r.OfOne]++
		s.Redriven += r.Redriven
		if r.HTTP {
			s.HTTPRoad++
		}
		s.ModelCalls += r.Calls
		s.ExtraCalls += r.Extra
		s.Takeovers += r.Takeovers
		s.Unsent += r.Unsent
		lived += r.Virtual
		if len(r.Violations) > 0 && s.first == nil {
			s.first = r
		}
	}
	s.LogHash = hex.EncodeToString(h.Sum(nil))[:16]
	s.Virtual = lived.Round(time.Hour).String()
}

func (r Result) broke(invariant string) bool {
	return slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Invariant == invariant })
}

// Shortest looks for few faults that still break the same promise as r: it plays
// the seed again and again with ever fewer of them, at most tries times.
func Shortest(t *testing.T, r Result, off Guard, tries int) []Fired {
	want := r.Violations[0].Invariant
	fails := func(fs []Fired) bool {
		only := map[Fired]bool{}
		for _, f := range fs {
			only[f] = true
		}
		db, stop := dynamotest.StartStop(t)
		defer stop()
		tries--
		return Run(t, db, r.Seed, Options{Off: off, Only: only}).broke(want)
	}
	left := r.Fired
	if !fails(left) {
		return left // it needs a fault that nobody noted; the seed still replays
	}
	for step := (len(left) + 1) / 2; tries > 0; step = (step + 1) / 2 {
		for i := 0; i < len(left) && tries > 0; {
			fewer := slices.Concat(left[:i], left[min(i+step, len(left)):])
			if fails(fewer) {
				left = fewer
			} else {
				i += step
			}
		}
		if step == 1 {
			break
		}
	}
	return left
}

// report says what was violated and how to see it again.
func (s Summary) report(t *testing.T, off Guard) string {
	r := s.first
	var b strings.Builder
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "seed %d: %s violated: %s\n", r.Seed, v.Invariant, v.Detail)
	}
	short := Shortest(t, *r, off, 60)
	fmt.Fprintf(&b, "replay: make chaos RUNS=1 SEED=%d", r.Seed)
	if off.Name != "" {
		fmt.Fprintf(&b, " OFF=%s", off.Name)
	}
	fmt.Fprintf(&b, "\nof its %d faults these suffice (%d):\n", len(r.Fired), len(short))
	for _, f := range short {
		fmt.Fprintf(&b, "  %-22s %s\n", f.Kind, f.ID)
	}
	return b.String()
}
