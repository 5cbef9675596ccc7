package demo

import (
	"slices"
	"time"

	"fastbowlinglab/shared/analysis"
)

// rowState is how far a stage is.
type rowState int

const (
	pending rowState = iota
	running
	done
	skipped // the analysis ended without it
)

// Row is one line of the board.
type Row struct {
	Name     string
	State    rowState
	Measured bool          // it says how far it is:
	Fraction float64       // 0 to 1
	Took     time.Duration // so far
	Note     string
}

// rowsOfUpload makes the board while the clip is on its way.
func rowsOfUpload(fraction float64, took time.Duration) []Row {
	rows := []Row{{Name: StageUpload, State: running, Measured: true, Fraction: fraction, Took: took}}
	for _, name := range stageOrder[1:] {
		rows = append(rows, Row{Name: name})
	}
	return rows
}

// rowsOfTimeline makes the board from the execution's history.
func rowsOfTimeline(v view, t Timeline, uploaded time.Duration, now time.Time) []Row {
	ended := analysis.Status(v.Status).Ended()
	var rows []Row
	for _, name := range stageOrder {
		r := Row{Name: name}
		i := slices.IndexFunc(t.Stages, func(s Stage) bool { return s.Name == name })
		switch {
		case name == StageUpload:
			r.State, r.Took = done, uploaded
			if uploaded == 0 {
				r.Note = "done before"
			}
		case i >= 0:
			s := t.Stages[i]
			r.Took, r.State = s.Took, running
			if !s.Since.IsZero() {
				r.Took += max(now.Sub(s.Since), 0)
			}
			if s.Done || ended {
				r.State = done
			}
			if r.State == running && name == StagePose {
				r.Measured, r.Fraction = true, v.fraction()
			}
			if s.Tries > 1 {
				r.Note = tries(s.Tries)
			}
		case ended:
			r.State = skipped
		}
		rows = append(rows, r)
	}
	return rows
}

// rowsOfStatus makes it from the status route alone, as an app does. It cannot
// tell stages' times: what goes on shows the time since the upload.
func rowsOfStatus(v view, uploaded, since time.Duration) []Row {
	rows := []Row{{Name: StageUpload, State: done, Took: uploaded}}
	switch s := analysis.Status(v.Status); {
	case s.Ended():
		rows = append(rows, Row{Name: v.Status, State: done, Took: since})
	case v.Stage != "":
		rows = append(rows, Row{Name: v.Stage, State: running, Measured: v.Progress != nil, Fraction: v.fraction(), Took: since})
	default:
		rows = append(rows, Row{Name: v.Status, State: running, Measured: v.Progress != nil, Fraction: v.fraction(), Took: since})
	}
	return rows
}
