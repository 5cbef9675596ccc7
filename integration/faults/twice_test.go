package faults

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"testing"

	"fastbowlinglab/shared/dynamotest"
)

var twice = flag.Int("chaos.twice", 25, "seeds that TestSameSeedSameLog plays twice")

// beyond are seeds with what the first 25 do not have: a report made again, a
// transaction in conflict, three and five executions of one analysis.
var beyond = []uint64{42, 88, 100}

// A seed replays to the same log, request for request, whatever happens in it: among
// the seeds every kind of fault happens, and one to five executions of an analysis.
func TestSameSeedSameLog(t *testing.T) {
	var seeds []uint64
	for s := *seed; s < *seed+uint64(*twice); s++ {
		seeds = append(seeds, s)
	}
	if *seed == 1 && *twice < 40 {
		seeds = append(seeds, beyond...)
	}
	all, had := sha256.New(), map[string]bool{}
	for _, s := range seeds {
		r := replays(t, s)
		fmt.Fprintln(all, s, r.Hash)
		for _, f := range r.Fired {
			had[f.Kind] = true
		}
		had[fmt.Sprint(r.OfOne, " executions")] = true
	}
	t.Logf("%d seeds from %d on, each played twice: %.8x", len(seeds), *seed, all.Sum(nil))
	if *seed != 1 || *twice < 25 {
		return
	}
	for _, what := range append(AllKinds(), "1 executions", "2 executions", "3 executions", "4 executions", "5 executions") {
		if !had[what] {
			t.Errorf("%s happens in none of these seeds: add one in which it does", what)
		}
	}
}

// replays plays a seed twice and shows the first lines that differ. It gives what
// the seed came to.
func replays(t *testing.T, seed uint64) Result {
	var was Result
	for n := range 2 {
		db, stop := dynamotest.StartStop(t)
		r := Run(t, db, seed, Options{Keep: true})
		stop()
		if n == 1 && r.Hash != was.Hash {
			t.Errorf("seed %d: %s and %s\n%s", seed, was.Hash, r.Hash, difference(was.Lines, r.Lines))
		}
		was = r
	}
	return was
}

// difference shows where two logs part, with what came before.
func difference(a, b []string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	out := ""
	cut := func(l string) string { return l[:min(len(l), 300)] }
	for _, l := range a[max(0, i-6):i] {
		out += "    " + cut(l) + "\n"
	}
	for k := i; k < i+4; k++ {
		for n, lines := range [][]string{a, b} {
			if k < len(lines) {
				out += fmt.Sprintf("  %d %s\n", n+1, cut(lines[k]))
			}
		}
	}
	return out
}
