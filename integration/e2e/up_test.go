package e2e

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// printed is what `make up` prints: settings and commands.
type printed struct {
	exports  []string
	commands [][2]string // what it is for, and the command
}

// up runs the program behind `make up` on a state of its own, which holds nothing
// that was built, and reads what it prints.
func up(t *testing.T) printed {
	t.Helper()
	dir, state := root(t), t.TempDir()
	for _, part := range []string{"bin", "fonts"} {
		if _, err := os.Stat(filepath.Join(dir, ".local", part)); err != nil {
			t.Skipf(".local/%s is missing: run `make functions` first", part)
		}
	}
	bin := filepath.Join(t.TempDir(), "up")
	build := exec.Command("go", "build", "-o", bin, "./integration/cmd/up")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.Command(bin, "-state", state, "-addr", "127.0.0.1:0", "-api", "127.0.0.1:0")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("up ended with %v", err)
		}
	})
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	var p printed
	what := ""
	limit := time.After(2 * time.Minute)
	for {
		select {
		case line, open := <-lines:
			text := strings.TrimSpace(line)
			switch {
			case !open:
				t.Fatal("up ended before it had printed everything")
			case strings.HasPrefix(text, "export "):
				p.exports = append(p.exports, text)
			case strings.HasPrefix(text, "# "):
				what = text[2:]
			case strings.HasPrefix(text, "curl ") || strings.HasPrefix(text, "aws "):
				p.commands = append(p.commands, [2]string{what, text})
			case strings.HasPrefix(text, "Ctrl-C"):
				go func() {
					for range lines { // up may print until it ends
					}
				}()
				return p
			}
		case <-limit:
			t.Fatal("up does not come up")
		}
	}
}

// What `make up` prints works as it is printed, in the order in which it is
// printed, against the real programs.
func TestTheGuideOfMakeUp(t *testing.T) {
	for _, need := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("%s is not installed", need)
		}
	}
	p := up(t)
	want := []string{`"kind":"grant"`, `"uploads":[{`, `"balance":4`, `"analyses":[{`, `"openapi":"3.1.0"`}
	calls := 0
	for _, c := range p.commands {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, "bash", "-c", strings.Join(p.exports, "\n")+"\n"+c[1])
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "AWS_PAGER="}
		if strings.HasPrefix(c[1], "aws ") {
			if exec.Command("aws", "--version").Run() != nil {
				t.Logf("not run, the AWS CLI is not installed: %s", c[1])
				cancel()
				continue
			}
		}
		out, err := cmd.CombinedOutput()
		cancel()
		text := strings.ReplaceAll(string(out), `": `, `":`)
		if err != nil || strings.Contains(text, "urn:fastbowlinglab:problem") || strings.Contains(text, `"message":"Unauthorized"`) {
			t.Errorf("%s: %s\n%v\n%s", c[0], c[1], err, out)
		}
		if strings.HasPrefix(c[1], "curl ") && calls < len(want) {
			if !strings.Contains(text, want[calls]) {
				t.Errorf("%s: the answer has no %s: %s", c[0], want[calls], out)
			}
			calls++
		}
	}
	if calls < 5 || len(p.exports) < 8 {
		t.Errorf("%d calls of the API and %d settings were printed, want at least 5 and 8", calls, len(p.exports))
	}
	walk(t, p)
}

// walk runs the lines that functions/README.md gives to app developers: a clip is
// submitted by curl, and a report comes of it.
func walk(t *testing.T, p printed) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root(t), "functions/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(readme), "```bash\n")
	lines, _, ok := strings.Cut(after, "```")
	if !ok {
		t.Fatal("functions/README.md has no lines of bash")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	dir := t.TempDir()
	lines = strings.Replace(lines, "-o report.pdf", "-o "+dir+"/report.pdf", 1)
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", strings.Join(p.exports, "\n")+"\n"+lines)
	cmd.Dir, cmd.Env = root(t), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	out, err := cmd.CombinedOutput()
	pdf, _ := os.ReadFile(filepath.Join(dir, "report.pdf"))
	if err != nil || !strings.Contains(string(out), `"status":"ready"`) || !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("%v, a report of %d bytes: %s", err, len(pdf), out)
	}
}
