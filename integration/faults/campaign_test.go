package faults

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"fastbowlinglab/shared/retry"
)

// Flags of `make chaos`.
var (
	runs = flag.Int("chaos.runs", 0, "schedules; 0: as many as a test run may take")
	seed = flag.Uint64("chaos.seed", 1, "seed of the first")
	off  = flag.String("chaos.off", "", "guard to switch off")
	last = flag.Duration("chaos.for", 0, "begin no schedule after so long; 0: play them all")
	out  = flag.String("chaos.out", "", "file for the summary, one JSON object")
)

// In a test run: 1,000 schedules, and every guard switched off.
const ciRuns = 1000

func TestMain(m *testing.M) {
	flag.Parse()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	retry.DefaultRand = func() float64 { return 1 } // jitter that replays
	debug.SetGCPercent(800)                         // worlds are small, and many
	os.Exit(m.Run())
}

func workers() int { return max(2, runtime.GOMAXPROCS(0)) }

func TestChaos(t *testing.T) {
	n := *runs
	if n == 0 {
		n = ciRuns
		if testing.Short() {
			n = 20
		}
	}
	g := Guard{}
	if *off != "" {
		var ok bool
		if g, ok = GuardOf(*off); !ok {
			t.Fatalf("no guard %q; there are %v", *off, guardNames())
		}
	}
	s := Campaign(t, *seed, n, workers(), g, *last)
	if t.Skipped() || s.Runs == 0 {
		t.Skip("no schedule was played")
	}
	line, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", line)
	if *out != "" {
		if err := os.WriteFile(*out, append(line, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case g.Name == "" && s.first != nil:
		t.Error(s.report(t, g))
	case g.Name != "" && s.Violations[g.Breaks] == 0:
		t.Errorf("%s is off and %s held in %d schedules", g.Name, g.Breaks, s.Runs)
	case g.Name != "":
		t.Logf("%s is off:\n%s", g.Name, s.report(t, g))
	}
	if g.Name == "" && n >= ciRuns {
		for _, k := range AllKinds() {
			if s.Faults[k] == 0 {
				t.Errorf("%s never happened", k)
			}
		}
		if s.OfOne[5] == 0 {
			t.Error("no analysis had five executions")
		}
	}
}

// Every guard is needed: without it a promise is seen broken, within as many
// schedules as it says.
func TestGuardsAreNeeded(t *testing.T) {
	if *off != "" || *runs != 0 {
		t.Skip("a campaign")
	}
	for _, g := range Guards() {
		t.Run(g.Name, func(t *testing.T) {
			if testing.Short() && g.Within > 40 {
				t.Skip("takes many schedules")
			}
			s := Campaign(t, 1, g.Within, workers(), g, 0)
			if s.Violations[g.Breaks] == 0 {
				t.Errorf("%s (%s) is off and %s held in %d schedules", g.Name, g.What, g.Breaks, s.Runs)
				return
			}
			fmt.Printf("guard %-16s off: %s broken within %3d schedules (at most %d allowed)\n", g.Name, g.Breaks, s.Runs, g.Within)
		})
	}
}

func guardNames() []string {
	var out []string
	for _, g := range Guards() {
		out = append(out, g.Name)
	}
	return out
}
