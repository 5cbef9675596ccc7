package statemachine

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pictures and figures in README.md anew")

// picture draws a definition for Mermaid, without the ways that every task has:
// Conceded by an error of that name, Settle by any other.
func picture(d definition) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    [*] --> " + d.StartAt + "\n")
	var done []string
	var walk func(name string)
	walk = func(name string) {
		if slices.Contains(done, name) {
			return
		}
		done = append(done, name)
		s := d.States[name]
		var nexts []string
		for _, c := range s.Catch {
			if c.Next == "Settle" || c.Next == "Conceded" {
				continue
			}
			fmt.Fprintf(&b, "    %s --> %s: %s\n", name, c.Next, strings.Join(c.ErrorEquals, ", "))
			nexts = append(nexts, c.Next)
		}
		for _, r := range s.Choices {
			fmt.Fprintf(&b, "    %s --> %s\n", name, r.Next)
			nexts = append(nexts, r.Next)
		}
		for _, n := range []string{s.Default, s.Next} {
			if n != "" {
				fmt.Fprintf(&b, "    %s --> %s\n", name, n)
				nexts = append(nexts, n)
			}
		}
		if len(nexts) == 0 {
			fmt.Fprintf(&b, "    %s --> [*]\n", name)
		}
		for _, n := range nexts {
			walk(n)
		}
	}
	walk(d.StartAt)
	return b.String()
}

// TestREADME keeps what README.md takes from the definition the same as the
// definition: go test ./statemachine -update writes it.
func TestREADME(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	d, err := load(Analysis)
	if err != nil {
		t.Fatal(err)
	}
	w, err := WorstCase(Analysis)
	if err != nil {
		t.Fatal(err)
	}
	want := between(t, text, "```mermaid\n", "```", picture(d))
	want = between(t, want, "<!-- worst -->", "<!-- /worst -->",
		fmt.Sprintf("at most %d events (limit %d) and %d bytes in a state (limit %d)", w.Events, MaxEvents, w.StateBytes, MaxBytes))
	mean, most := RefusedWait()
	want = between(t, want, "<!-- refused -->", "<!-- /refused -->", fmt.Sprintf("%s in the mean, %s at most", mean, most))
	for _, e := range refusals {
		if !strings.Contains(text, "`"+e+"`") {
			t.Errorf("README.md does not explain %s", e)
		}
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != text {
		t.Error("README.md does not show the definition as it is; run: go test ./statemachine -run README -update")
	}
	for name := range d.States {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("README.md does not explain state %s", name)
		}
	}
}

// between replaces what stands between two marks.
func between(t *testing.T, text, from, to, by string) string {
	t.Helper()
	head, rest, ok := strings.Cut(text, from)
	_, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("README.md has no %q ... %q", from, to)
	}
	return head + from + by + to + tail
}
