// Command skips reads what `go test -json` wrote and fails when a test was skipped
// for want of something that set-up installs: such a test tells nothing, and looks
// green. What may be skipped is in allowed, with the reason. It names each skip and
// what it said.
//
// Usage: skips FILE
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: skips FILE")
		os.Exit(2)
	}
	f, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(2)
	}
	defer f.Close()
	all, err := read(f)
	if err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(2)
	}
	bad := 0
	for _, s := range all {
		if reason(s.message) == "" {
			bad++
			fmt.Fprintf(os.Stderr, "skips: %s %s was skipped: %s\n", s.pkg, s.test, s.message)
			continue
		}
		fmt.Printf("%s %s was skipped: %s\n", s.pkg, s.test, s.message)
	}
	fmt.Printf("%d tests were skipped, %d of them without leave\n", len(all), bad)
	if bad > 0 {
		fmt.Fprintln(os.Stderr, "skips: what set-up installs must be there (make setup-tests functions dist); another reason belongs into integration/cmd/skips/allowed.go")
		os.Exit(1)
	}
}

// skip is a test that was skipped, with what it said.
type skip struct{ pkg, test, message string }

// read collects the skips of a stream of events.
func read(r io.Reader) ([]skip, error) {
	var out []skip
	said := map[string]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		var e struct{ Action, Package, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output":
			if m := line.FindStringSubmatch(e.Output); m != nil {
				said[key] = strings.TrimSpace(m[1])
			}
		case "skip":
			if e.Test != "" { // a package without tests is skipped too
				out = append(out, skip{e.Package, e.Test, said[key]})
			}
			delete(said, key)
		case "pass", "fail":
			delete(said, key)
		}
	}
	return out, lines.Err()
}

// line is what t.Skip prints: the last one is the reason.
var line = regexp.MustCompile(`^\s+\w+_test\.go:\d+: (.*)`)

// reason gives why a skip is allowed, "" when it is not.
func reason(message string) string {
	for _, a := range allowed {
		if a.says.MatchString(message) {
			return a.because
		}
	}
	return ""
}
