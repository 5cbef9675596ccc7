package demo

import (
	"fmt"
	"strings"
	"time"
)

// style paints, or does not.
type style bool

func (s style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string  { return s.paint("1", t) }
func (s style) dim(t string) string   { return s.paint("2", t) }
func (s style) green(t string) string { return s.paint("32", t) }
func (s style) cyan(t string) string  { return s.paint("36", t) }
func (s style) red(t string) string   { return s.paint("31", t) }

// labels are what people read for a stage.
var labels = map[string]string{
	StageUpload: "upload", StageStart: "start", StagePrecheck: "precheck", StageQueue: "wait for a worker", StagePose: "pose pass",
	StageFindings: "findings", StageCoaching: "coaching", StageReport: "report", StageEnd: "end",
}

func label(name string) string {
	if l := labels[name]; l != "" {
		return l
	}
	return name
}

const (
	labelWidth = 18
	barWidth   = 30
)

// Widths in columns of a row's parts.
const (
	markWidth = 4
	timeWidth = 9
	partWidth = 2 + barWidth + 6 // the bar and its percentage
)

// row is one line of the board, no wider than width: a mark, the stage, its
// time, and what fits of a bar and a note.
func (s style) row(r Row, width int) string {
	name := fmt.Sprintf("%-*s", labelWidth, cut(label(r.Name), width-markWidth-timeWidth))
	left := width - markWidth - timeWidth - len([]rune(name))
	switch r.State {
	case pending, skipped:
		return s.dim("  · " + strings.TrimRight(name, " "))
	case done:
		took := seconds(r.Took)
		if r.Took == 0 {
			took = strings.Repeat(" ", timeWidth)
		}
		return "  " + s.green("✓") + " " + name + s.dim(took) + s.note(r, left)
	}
	line := "  " + s.cyan("●") + " " + name + seconds(r.Took)
	if r.Measured && left >= partWidth {
		line += "  " + s.bar(r.Fraction) + fmt.Sprintf(" %3.0f %%", 100*min(r.Fraction, 1))
		left -= partWidth
	}
	return line + s.note(r, left)
}

func (s style) note(r Row, left int) string {
	if r.Note == "" || len([]rune(r.Note))+2 > left {
		return ""
	}
	return "  " + s.dim(r.Note)
}

func cut(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return string(r[:max(width-1, 0)]) + "…"
	}
	return text
}

func (s style) bar(f float64) string {
	full := int(min(max(f, 0), 1)*barWidth + 0.5)
	return s.cyan(strings.Repeat("━", full)) + s.dim(strings.Repeat("─", barWidth-full))
}

// seconds is a duration in nine columns.
func seconds(d time.Duration) string {
	if d >= time.Hour {
		return fmt.Sprintf("%7.1f h", d.Hours())
	}
	return fmt.Sprintf("%7.1f s", d.Seconds())
}

func tries(n int) string { return fmt.Sprintf("%d tries", n) }
