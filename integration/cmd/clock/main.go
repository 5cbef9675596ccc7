// Command clock makes Go programs live at another time, so that the tests can be
// run over midnight, a month's end or the hour of the nightly job:
//
//	GOFLAGS="$(go run ./integration/cmd/clock -at 2027-02-28T23:58:00Z -dir .local/clock)" go test ./...
//
// It prints a -overlay flag for package time, whose Now is moved by what the file
// `offset` beside it says. The programs that a test builds inherit it with
// GOFLAGS. Bubbles of testing/synctest and the monotonic clock are left alone, so
// that nothing waits longer or shorter; programs not written in Go keep the real
// time, as do the times of files.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	at := flag.String("at", "", "the time at which the programs start to live (RFC 3339)")
	dir := flag.String("dir", "", "folder for the overlay")
	flag.Parse()
	goflag, err := write(*at, *dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "clock:", err)
		os.Exit(1)
	}
	fmt.Println(goflag)
}

// write lays the overlay down in a folder and gives the flag that names it.
func write(at, dir string) (string, error) {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return "", fmt.Errorf("-at: %w", err)
	}
	if dir == "" || strings.ContainsAny(dir, " \t") {
		return "", fmt.Errorf("-dir %q: want a folder without spaces, as GOFLAGS has no quotes", dir)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("ask for GOROOT: %w", err)
	}
	std := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(std)
	if err != nil {
		return "", fmt.Errorf("read package time: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	offset := filepath.Join(dir, "offset")
	moved, err := move(source, offset)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {std: filepath.Join(dir, "time.go")}})
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, b := range map[string][]byte{
		"offset":       fmt.Appendf(nil, "%d", int64(time.Until(t).Seconds())),
		"time.go":      moved,
		"overlay.json": overlay,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return "", err
		}
	}
	return "-overlay=" + filepath.Join(dir, "overlay.json"), nil
}

// nowReads is how time.Now asks the runtime, in Go 1.25 and 1.26.
const nowReads = "\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {"

// move makes time.Now add the seconds that a file says.
func move(source []byte, offset string) ([]byte, error) {
	if bytes.Count(source, []byte(nowReads)) != 1 {
		return nil, fmt.Errorf("package time of this Go reads the clock in another way than is known here")
	}
	source = bytes.Replace(source, []byte(nowReads), []byte("\tsec, nsec, mono := runtimeNow()\n\tif !runtimeIsBubbled() {\n\t\tsec += movedBy\n\t}\n\tif mono == 0 {"), 1)
	return fmt.Appendf(source, movedBy, offset), nil
}

// movedBy is added to package time: seconds, read once at the start of a program.
const movedBy = `
var movedBy = func() (seconds int64) {
	b, err := readFile(%q)
	if err != nil {
		panic("the clock's offset: " + err.Error())
	}
	past := len(b) > 0 && b[0] == '-'
	for _, c := range b {
		if '0' <= c && c <= '9' {
			seconds = seconds*10 + int64(c-'0')
		}
	}
	if past {
		return -seconds
	}
	return seconds
}()
`
