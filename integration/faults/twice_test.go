package faults

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"testing"

	"fastbowlinglab/shared/dynamotest"
)

var twice = flag.Int("chaos.twice", 25, "seeds that TestSameSeedSameLog plays twice")

// A seed replays to the same log, request for request.
func TestSameSeedSameLog(t *testing.T) {
	all := sha256.New()
	for s := *seed; s < *seed+uint64(*twice); s++ {
		fmt.Fprintln(all, s, replays(t, s))
	}
	t.Logf("seeds %d to %d, each played twice: %.8x", *seed, *seed+uint64(*twice)-1, all.Sum(nil))
}

// replays plays a seed twice and shows the first lines that differ. It gives the
// hash.
func replays(t *testing.T, seed uint64) string {
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
	return was.Hash
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
