package demo

import (
	"strings"
	"time"
)

// Stages of an analysis, in their order. Queue is the time in which a worker is
// waited for: it is nobody's work.
const (
	StageUpload   = "upload"
	StageStart    = "start"
	StagePrecheck = "precheck"
	StageQueue    = "queue"
	StagePose     = "pose"
	StageFindings = "findings"
	StageCoaching = "coaching"
	StageReport   = "report"
	StageEnd      = "end"
)

var stageOrder = []string{StageUpload, StageStart, StagePrecheck, StageQueue, StagePose, StageFindings, StageCoaching, StageReport, StageEnd}

// stageOf says to which stage a state of statemachine/analysis.asl.json belongs;
// states that only choose or wait belong to none.
var stageOf = map[string]string{
	"Begin": StageStart, "Wake": StageStart, "Precheck": StagePrecheck,
	"QueueJob": StageQueue, "Probe": StageQueue, "PostJob": StageQueue, "AwaitPose": StagePose,
	"Findings": StageFindings, "Coaching": StageCoaching, "Render": StageReport,
	"Deliver": StageEnd, "RejectFootage": StageEnd, "RejectMeasured": StageEnd, "Settle": StageEnd,
}

// event is one event of an execution's history, as far as time goes.
type event struct {
	at    time.Time
	kind  string // for example TaskStateEntered, TaskStarted
	state string // of the StateEntered and StateExited events
}

// Stage is how long one stage was worked on.
type Stage struct {
	Name  string
	Took  time.Duration // tries that ended
	Since time.Time     // of the try under way; zero for none
	Tries int           // of the state of it that was tried most often
	Done  bool          // its state was left

	tries map[string]int // by state
}

// Timeline is where the time of an analysis went.
type Timeline struct {
	Stages     []Stage // those that were entered, in order
	Start, End time.Time
}

// timeline reads the histories of all attempts, in order.
func timeline(histories ...[]event) Timeline {
	t := &Timeline{}
	for _, h := range histories {
		state := ""
		for _, e := range h {
			if t.Start.IsZero() {
				t.Start = e.at
			}
			t.End = e.at
			switch {
			case strings.HasSuffix(e.kind, "StateEntered"):
				state = e.state
				if s := t.stage(state); s != nil {
					s.Done = false
				}
			case strings.HasSuffix(e.kind, "StateExited"):
				if s := t.stage(e.state); s != nil {
					s.stop(e.at)
					s.Done = true
				}
				state = ""
			case e.kind == "TaskStarted":
				if s := t.stage(state); s != nil {
					s.Since = e.at
					s.tries[state]++
					s.Tries = max(s.Tries, s.tries[state])
				}
			case strings.HasSuffix(e.kind, "Failed"), strings.HasSuffix(e.kind, "TimedOut"), strings.HasSuffix(e.kind, "Aborted"), e.kind == "TaskSucceeded":
				if s := t.stage(state); s != nil {
					s.stop(e.at)
				}
			}
		}
		if n := len(h); n > 0 && strings.HasPrefix(h[n-1].kind, "Execution") {
			for i := range t.Stages { // what an execution left open when it ended
				t.Stages[i].stop(t.End)
			}
		}
	}
	return *t
}

func (s *Stage) stop(at time.Time) {
	if !s.Since.IsZero() {
		s.Took += at.Sub(s.Since)
		s.Since = time.Time{}
	}
}

// stage finds the stage of a state, or nil for a state that does no work.
func (t *Timeline) stage(state string) *Stage {
	name := stageOf[state]
	if name == "" {
		return nil
	}
	for i := range t.Stages {
		if t.Stages[i].Name == name {
			return &t.Stages[i]
		}
	}
	t.Stages = append(t.Stages, Stage{Name: name, tries: map[string]int{}})
	return &t.Stages[len(t.Stages)-1]
}

// Work is the time of the stages' own work: all but the wait for a worker.
func (t Timeline) Work() time.Duration {
	var sum time.Duration
	for _, s := range t.Stages {
		if s.Name != StageQueue {
			sum += s.Took
		}
	}
	return sum
}

// Between is what of total belongs to no stage.
func (t Timeline) Between(total time.Duration) time.Duration {
	for _, s := range t.Stages {
		total -= s.Took
	}
	return max(total, 0)
}

// Outside is the share of total that no stage worked in, 0 to 1.
func (t Timeline) Outside(total time.Duration) float64 {
	if total <= 0 {
		return 0
	}
	return max(0, float64(total-t.Work())/float64(total))
}
