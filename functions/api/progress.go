package api

import (
	"context"
	"errors"
	"time"

	"fastbowlinglab/shared/posejob"
)

// Pass is how far a pose pass is: what is being done, for people, the part done,
// in [0,1], and when that last changed.
type Pass struct {
	Stage   string
	Part    float64
	MovedAt time.Time
}

// Guesses about the time that a pass takes.
const (
	minPart  = 0.05             // too little to tell from
	tailTime = 30 * time.Second // findings, coaching and the pages, after the pass
	grain    = 10 * time.Second // an estimate is no better than that
)

// estimate guesses when the analysis ends, from a pass that began then. It
// follows from what is stored, not from the time at which it is asked, so that
// the answer's tag stays the same while nothing moves.
func (p Pass) estimate(began time.Time) *time.Time {
	took := p.MovedAt.Sub(began)
	if began.IsZero() || p.Part < minPart || took <= 0 {
		return nil
	}
	end := began.Add(time.Duration(float64(took)/p.Part) + tailTime).UTC().Round(grain)
	return &end
}

// PoseJobs reads progress from the rows of pose jobs.
type PoseJobs struct{ Store *posejob.Store }

// Progress implements Progress.
func (p PoseJobs) Progress(ctx context.Context, analysisID string, attempt int) (Pass, bool, error) {
	job, err := p.Store.Get(ctx, analysisID)
	if errors.Is(err, posejob.ErrNoJob) || err == nil && job.Attempt != attempt {
		return Pass{}, false, nil
	}
	if err != nil {
		return Pass{}, false, err
	}
	stage := job.Progress.Stage
	switch {
	case job.State == posejob.Done:
		stage = "writing the report"
	case job.State == posejob.Waiting && stage == "":
		stage = "waiting for a worker"
	case stage == "":
		stage = "measuring"
	}
	return Pass{Stage: stage, Part: job.Progress.Fraction, MovedAt: job.Progress.MovedAt}, true, nil
}
