package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const now = `package main

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func main() {
	fmt.Println(time.Now().UTC().Format(time.RFC3339))
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "T", F: func(t *testing.T) {
		synctest.Test(t, func(*testing.T) { fmt.Println(time.Now().UTC().Format(time.RFC3339)) })
	}}}, nil, nil)
	os.Exit(0)
}
`

// TestMoved builds a program that lives at another time, before and after ours, and
// whose bubbles live when they always do.
func TestMoved(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "now.go")
	if err := os.WriteFile(program, []byte(now), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"2024-02-29T23:58:00Z", "2031-01-01T00:00:00Z"} {
		flag := overlay(t, at, dir)
		run := exec.CommandContext(t.Context(), "go", "run", program)
		run.Env = append(os.Environ(), "GOFLAGS="+flag)
		out, err := run.CombinedOutput()
		lines := strings.Fields(string(out))
		if err != nil || len(lines) < 2 {
			t.Fatalf("%v: %s", err, out)
		}
		want, _ := time.Parse(time.RFC3339, at)
		got, err := time.Parse(time.RFC3339, lines[0])
		// The program was built first: that takes as long as the machine likes.
		if late := got.Sub(want); err != nil || late < -2*time.Second || late > 10*time.Minute {
			t.Errorf("started at %s, it lives at %s", at, lines[0])
		}
		if lines[1] != "2000-01-01T00:00:00Z" {
			t.Errorf("a bubble lives at %s", lines[1])
		}
	}
}

func overlay(t *testing.T, at, dir string) string {
	t.Helper()
	flag, err := write(at, dir)
	if err != nil {
		t.Fatal(err)
	}
	return flag
}

func TestBadInput(t *testing.T) {
	for at, dir := range map[string]string{"tomorrow": t.TempDir(), "2024-02-29T23:58:00Z": "a folder"} {
		if _, err := write(at, dir); err == nil {
			t.Errorf("%s in %s is taken", at, dir)
		}
	}
	if _, err := move([]byte("package time\n\nfunc Now() Time { return Time{} }\n"), "offset"); err == nil {
		t.Error("a package time that reads the clock in another way is taken")
	}
}
