package api

import (
	"context"
	"errors"

	"fastbowlinglab/shared/posejob"
)

// PoseJobs reads progress from the rows of pose jobs.
type PoseJobs struct{ Store *posejob.Store }

// Progress implements Progress.
func (p PoseJobs) Progress(ctx context.Context, analysisID string, attempt int) (string, float64, bool, error) {
	job, err := p.Store.Get(ctx, analysisID)
	if errors.Is(err, posejob.ErrNoJob) || err == nil && job.Attempt != attempt {
		return "", 0, false, nil
	}
	if err != nil {
		return "", 0, false, err
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
	return stage, job.Progress.Fraction, true, nil
}
