package faults

import (
	"flag"
	"fmt"
	"slices"
	"testing"
)

var measure = flag.Int("chaos.measure", 0, "how often to look for each guard's first violation")

// What a guard's bound goes by: in how many schedules its promise broke, from
// several seeds on.
func TestMeasureGuards(t *testing.T) {
	if *measure == 0 {
		t.Skip("go test ./integration/faults -run TestMeasureGuards -v -args -chaos.measure=9")
	}
	for _, g := range Guards() {
		if *off != "" && *off != g.Name {
			continue
		}
		var took []int
		for n := range *measure {
			s := Campaign(t, uint64(1+10_000*n), 600, 1, g, 0)
			if s.Violations[g.Breaks] == 0 {
				s.Runs = 9999
			}
			took = append(took, s.Runs)
		}
		slices.Sort(took)
		fmt.Printf("guard %-18s median %4d, most %4d, allowed %4d: %v\n", g.Name, took[len(took)/2], took[len(took)-1], g.Within, took)
	}
}
