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

// row is one line of the board: a mark, the stage, its time, and a bar where
// there is something to measure.
func (s style) row(r Row, width int) string {
	name := fmt.Sprintf("%-*s", labelWidth, label(r.Name))
	switch r.State {
	case pending, skipped:
		return s.dim("  · " + strings.TrimRight(name, " "))
	case done:
		took := seconds(r.Took)
		if r.Took == 0 {
			took = fmt.Sprintf("%9s", "")
		}
		return "  " + s.green("✓") + " " + name + s.dim(took) + s.note(r)
	}
	line := "  " + s.cyan("●") + " " + name + seconds(r.Took)
	if r.Fraction > 0 && width >= 4+labelWidth+9+2+barWidth+7 {
		line += "  " + s.bar(r.Fraction) + fmt.Sprintf(" %3.0f %%", 100*min(r.Fraction, 1))
	}
	return line + s.note(r)
}

func (s style) note(r Row) string {
	if r.Note == "" {
		return ""
	}
	return "  " + s.dim(r.Note)
}

func (s style) bar(f float64) string {
	full := int(min(max(f, 0), 1)*barWidth + 0.5)
	return s.cyan(strings.Repeat("━", full)) + s.dim(strings.Repeat("─", barWidth-full))
}

// seconds is a duration in nine columns.
func seconds(d time.Duration) string {
	if d >= 10*time.Minute {
		return fmt.Sprintf("%7.1f m", d.Minutes()) + strings.Repeat(" ", 0)
	}
	return fmt.Sprintf("%7.1f s", d.Seconds())
}

func tries(n int) string { return fmt.Sprintf("%d tries", n) }
