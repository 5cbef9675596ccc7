package demo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// terminal is as much of one as the screen uses: it ends up showing what a
// person would see.
func terminal(t *testing.T, out string) []string {
	t.Helper()
	lines, y := []string{""}, 0
	for len(out) > 0 {
		switch c := out[0]; {
		case strings.HasPrefix(out, "\x1b["):
			end := strings.IndexAny(out, "ABCDHJKmr")
			if end < 0 {
				t.Fatalf("an escape without an end: %q", out)
			}
			switch n := 1; out[end] {
			case 'A':
				_, _ = fmt.Sscan(out[2:end], &n)
				if y -= n; y < 0 {
					t.Fatal("drawn over what stood above the board")
				}
			case 'K':
				lines[y] = ""
			case 'm': // colour
			default:
				t.Fatalf("unknown escape %q", out[:end+1])
			}
			out = out[end+1:]
		case c == '\r':
			out = out[1:]
		case c == '\n':
			if y++; y == len(lines) {
				lines = append(lines, "")
			}
			out = out[1:]
		default:
			lines[y] += out[:1]
			out = out[1:]
		}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func screen(tty bool) (*Screen, *bytes.Buffer, *time.Time) {
	var out bytes.Buffer
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	return &Screen{w: &out, tty: tty, style: style(tty), told: map[string]bool{}, said: now, now: func() time.Time { return now }}, &out, &now
}

// board gives the rows of a recorded history at some second of it.
func board(t *testing.T, name string, status string, upTo time.Duration) []Row {
	t.Helper()
	h := recorded(t, name)
	now := h[0].at.Add(upTo)
	n := 0
	for n < len(h) && !h[n].at.After(now) {
		n++
	}
	half := 0.5
	return rowsOfTimeline(view{Status: status, Progress: &half}, timeline(h[:n]), 120*time.Millisecond, now)
}

func TestBoardOnATerminal(t *testing.T) {
	s, out, _ := screen(true)
	s.title(Clip{Name: "bowler.mp4", Size: 249 << 10})
	s.show(rowsOfUpload(0.25, time.Second))
	for _, at := range []time.Duration{300 * time.Millisecond, 3 * time.Second, 14 * time.Second} {
		s.show(board(t, "delivered", "analysing", at))
	}
	want := `
  FastBowlingLab  bowler.mp4 · 249 KiB

  ✓ upload                0.1 s
  ✓ start                 0.3 s
  ✓ precheck              2.0 s
  ✓ wait for a worker     1.5 s
  ● pose pass            10.0 s  ━━━━━━━━━━━━━━━───────────────  50 %
  · findings
  · coaching
  · report
  · end
`
	if got := strings.Join(terminal(t, out.String()), "\n"); got != want {
		t.Errorf("the terminal shows\n%s\nwant\n%s", got, want)
	}
	s.show(board(t, "delivered", "ready", time.Hour))
	last := terminal(t, out.String())
	if got := strings.Count(strings.Join(last, "\n"), "✓"); got != 9 || len(last) != 13 {
		t.Errorf("%d stages ended on %d lines, want 9 on 13:\n%s", got, len(last), strings.Join(last, "\n"))
	}
}

func TestBoardOfARejectedClip(t *testing.T) {
	s, out, _ := screen(true)
	s.show(board(t, "rejected", "rejected", time.Hour))
	got := strings.Join(terminal(t, out.String()), "\n")
	for _, want := range []string{"✓ precheck", "· pose pass", "✓ end"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestARowNeverWraps(t *testing.T) {
	for _, width := range []int{40, 60, 66, 67, 70, 80, 200} {
		for _, r := range []Row{
			{Name: StagePose, State: running, Measured: true, Fraction: 0.99, Took: 99 * time.Hour}, {Name: StageQueue, State: done, Took: time.Minute, Note: "done before"},
			{Name: "a stage with a very long name of its own that some API made up one day", State: running, Took: time.Second, Measured: true, Fraction: 0.1},
		} {
			if line := terminal(t, style(true).row(r, width))[0]; len([]rune(line)) > width {
				t.Errorf("%d columns on a screen of %d: %s", len([]rune(line)), width, line)
			}
		}
	}
}

func TestANoteIsNotDrawnOver(t *testing.T) {
	s, out, _ := screen(true)
	s.show(rowsOfUpload(1, time.Second))
	s.note("something to know")
	s.show(rowsOfUpload(1, time.Second))
	if got := strings.Join(terminal(t, out.String()), "\n"); !strings.Contains(got, "something to know") || strings.Count(got, "upload") != 2 {
		t.Errorf("the terminal shows\n%s", got)
	}
}

func TestLinesWhereThereIsNoTerminal(t *testing.T) {
	s, out, now := screen(false)
	for _, at := range []time.Duration{300 * time.Millisecond, 3 * time.Second, 5 * time.Second, 7 * time.Second, 8 * time.Second, 10 * time.Second, 15 * time.Second, time.Hour} {
		*now = now.Add(at - now.Sub(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)))
		status := "analysing"
		if at == time.Hour {
			status = "ready"
		}
		s.show(board(t, "delivered", status, at))
	}
	want := `  ✓ upload                0.1 s
  ✓ start                 0.3 s
  ✓ precheck              2.0 s
  ✓ wait for a worker     1.5 s
  ● pose pass             6.0 s  ━━━━━━━━━━━━━━━───────────────  50 %
  ● pose pass            11.0 s  ━━━━━━━━━━━━━━━───────────────  50 %
  ✓ pose pass            20.0 s
  ✓ findings              0.1 s
  ✓ coaching              0.1 s
  ✓ report                1.0 s
  ✓ end                   0.1 s
`
	if got := out.String(); got != want {
		t.Errorf("said\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("escapes where there is no terminal")
	}
}

func TestNoScreenShowsNothing(t *testing.T) {
	var s *Screen
	s.title(Clip{})
	s.show(nil)
	s.note("x")
}
