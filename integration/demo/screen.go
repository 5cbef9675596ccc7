package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Screen is what people see. On a terminal the board is drawn in place; anywhere
// else each change is a line. A nil Screen shows nothing.
type Screen struct {
	w     io.Writer
	tty   bool
	style style
	lines int // of the board on the terminal, to be drawn over

	told map[string]bool // elsewhere: stages whose end was told
	said time.Time       // when something was last said
	now  func() time.Time
}

// NewScreen looks at where w leads.
func NewScreen(w io.Writer) *Screen {
	tty := false
	if f, ok := w.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		tty = err == nil
	}
	return &Screen{w: w, tty: tty, style: style(tty && os.Getenv("NO_COLOR") == ""), told: map[string]bool{}, said: time.Now(), now: time.Now}
}

// Paints reports whether the screen shows colours.
func (s *Screen) Paints() bool { return bool(s.style) }

// width is the terminal's, for what is drawn in place: a line that wraps would
// push the board out of its frame.
func (s *Screen) width() int {
	if f, ok := s.w.(*os.File); ok {
		if ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && ws.Col > 0 {
			return int(ws.Col)
		}
	}
	return plainWidth
}

func (s *Screen) title(c Clip) {
	if s == nil {
		return
	}
	fmt.Fprintf(s.w, "\n  %s  %s\n\n", s.style.bold("FastBowlingLab"), s.style.dim(c.Name+" · "+bytesText(c.Size)))
}

// note says something once, below what has been drawn so far.
func (s *Screen) note(format string, a ...any) {
	if s == nil {
		return
	}
	s.lines = 0
	fmt.Fprintf(s.w, "  %s\n\n", s.style.dim(fmt.Sprintf(format, a...)))
}

// show draws the board.
func (s *Screen) show(rows []Row) {
	switch {
	case s == nil:
	case s.tty:
		s.draw(rows)
	default:
		s.tell(rows)
	}
}

func (s *Screen) draw(rows []Row) {
	var b strings.Builder
	if s.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.lines)
	}
	width := s.width()
	for _, r := range rows {
		b.WriteString("\r\x1b[2K" + s.style.row(r, width) + "\n")
	}
	if extra := s.lines - len(rows); extra > 0 { // a shorter board than before
		b.WriteString(strings.Repeat("\x1b[2K\n", extra) + fmt.Sprintf("\x1b[%dA", extra))
	}
	s.lines = len(rows)
	_, _ = io.WriteString(s.w, b.String()) // a screen that is gone is no reason to stop
}

// quiet is how long nothing is said about a stage under way.
const quiet = 5 * time.Second

// tell says which stages have ended, and how far the one under way is when
// nothing was said for a while.
func (s *Screen) tell(rows []Row) {
	for _, r := range rows {
		switch {
		case r.State == done && !s.told[r.Name]:
			s.told[r.Name] = true
		case r.State == running && s.now().Sub(s.said) >= quiet:
		default:
			continue
		}
		s.said = s.now()
		fmt.Fprintln(s.w, strings.TrimRight(style(false).row(r, plainWidth), " "))
	}
}

// plainWidth is that of a line that is not drawn in place.
const plainWidth = 80
