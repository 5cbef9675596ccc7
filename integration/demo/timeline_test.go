package demo

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/integration/local"
	"fastbowlinglab/statemachine"
)

// recorded reads a history in the form that `aws stepfunctions
// get-execution-history` prints.
func recorded(t *testing.T, name string) []event {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Events []struct {
			Timestamp time.Time
			Type      string
			Entered   struct{ Name string } `json:"stateEnteredEventDetails"`
			Exited    struct{ Name string } `json:"stateExitedEventDetails"`
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	var out []event
	for _, e := range doc.Events {
		out = append(out, event{e.Timestamp, e.Type, e.Entered.Name + e.Exited.Name})
	}
	if len(out) == 0 {
		t.Fatalf("%s holds no events", name)
	}
	return out
}

// say writes a timeline as "stage seconds[xTries][…]" for comparison.
func say(tl Timeline) string {
	var parts []string
	for _, s := range tl.Stages {
		p := fmt.Sprintf("%s %.1f", s.Name, s.Took.Seconds())
		if s.Tries > 1 {
			p += fmt.Sprintf("x%d", s.Tries)
		}
		if !s.Done {
			p += "…"
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, ", ")
}

func TestTimelines(t *testing.T) {
	for _, c := range []struct {
		name    string
		history []string
		want    string
		total   time.Duration
		between float64 // seconds
		outside float64
	}{
		{"delivered", []string{"delivered"},
			"start 0.3, precheck 2.0, queue 1.5, pose 20.0, findings 0.1, coaching 0.1, report 1.0, end 0.1", 25500 * time.Millisecond, 0.4, 1.9 / 25.5},
		{"rejected by the precheck", []string{"rejected"}, "start 0.3, precheck 2.0, end 0.1", 2500 * time.Millisecond, 0.1, 0.1 / 2.5},
		{"a stage that was tried again, its pause between the stages", []string{"retried"}, "start 5.0x2", 9 * time.Second, 4, 4.0 / 9},
		{"a worker that was lost: pose again", []string{"lost"}, "queue 3.0x2, pose 310.0x2", 320 * time.Second, 7, 10.0 / 320},
		{"under way", []string{"running"}, "start 0.2…", 300 * time.Millisecond, 0.1, 0.1 / 0.3},
		{"recorded: a 4K clip", []string{"recorded_4k"},
			"start 0.0, precheck 13.3, queue 0.1, pose 28.1, findings 0.0, coaching 0.0, report 0.4, end 0.0", 41889 * time.Millisecond, 0.001, 0.053 / 41.889},
		{"recorded: the demo was interrupted in the precheck and started again", []string{"recorded_taken_up"},
			"start 0.1, precheck 4.3x2, queue 0.0, pose 12.8, findings 0.0, coaching 0.0, report 0.5, end 0.0", 0, 0, 0},
		{"stopped in mid-stage, then a second attempt", []string{"stopped", "rejected"}, "start 1.3x2, precheck 2.0, end 0.1", 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hs [][]event
			for _, h := range c.history {
				hs = append(hs, recorded(t, h))
			}
			tl := timeline(hs...)
			if got := say(tl); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if c.total == 0 {
				return
			}
			if got := tl.End.Sub(tl.Start); got != c.total {
				t.Errorf("took %v, want %v", got, c.total)
			}
			if got := tl.Between(c.total).Seconds(); math.Abs(got-c.between) > 1e-6 {
				t.Errorf("%.3f s between the stages, want %.3f", got, c.between)
			}
			if got := tl.Outside(c.total); math.Abs(got-c.outside) > 1e-6 {
				t.Errorf("%.4f outside, want %.4f", got, c.outside)
			}
		})
	}
}

func TestNoHistoryIsNoStages(t *testing.T) {
	if tl := timeline(nil); len(tl.Stages) != 0 || tl.Outside(0) != 0 || tl.Between(0) != 0 {
		t.Errorf("%+v", tl)
	}
}

// TestEveryTaskHasAStage reads the definition: a task without a stage would be
// counted as nobody's work.
func TestEveryTaskHasAStage(t *testing.T) {
	src, err := statemachine.Source(statemachine.Analysis)
	if err != nil {
		t.Fatal(err)
	}
	var def struct {
		States map[string]struct{ Type string }
	}
	if err := json.Unmarshal(src, &def); err != nil {
		t.Fatal(err)
	}
	for name, s := range def.States {
		if s.Type == "Task" && stageOf[name] == "" {
			t.Errorf("task %s belongs to no stage", name)
		}
		if s.Type != "Task" && stageOf[name] != "" {
			t.Errorf("%s is a %s, not a task", name, s.Type)
		}
	}
	for name := range stageOf {
		if def.States[name].Type == "" {
			t.Errorf("there is no state %s", name)
		}
	}
}

func TestTheStateMachineARNIsTheClouds(t *testing.T) {
	c := Cloud{StateMachineARN: local.StateMachineARN}
	if _, err := c.history(t.Context(), "", 0); err == nil || strings.Contains(err.Error(), "state machine ARN") {
		t.Errorf("%v", err)
	}
}
