package poseworker

import (
	"context"
	"errors"
	"sync/atomic"

	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/posejob"
)

// stats counts what one pass did. A pass that does not end may still count while
// its job is being given up.
type stats struct {
	chunks, resumed, frames atomic.Int64
}

// report writes the metrics of a pass that came to an end of any kind. redone is
// the row's count once the job is done, else 0: each is reported once.
func (p *pass) report(err error, redone int) {
	metric.Set(context.Background(), "PoseOutcome", outcomeName(err), []metric.Sample{
		{Name: metric.PosePasses, Unit: "Count", Value: 1},
		{Name: metric.PoseSeconds, Unit: "Seconds", Value: p.seconds()},
		{Name: metric.PoseFrames, Unit: "Count", Value: float64(p.stats.frames.Load())},
		{Name: metric.PoseChunksRedone, Unit: "Count", Value: float64(redone)},
	}, "analysis_id", p.job.AnalysisID, "attempt", p.job.Attempt, "fence", p.job.Fence,
		"chunks", p.stats.chunks.Load(), "resumed", p.stats.resumed.Load())
}

func outcomeName(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, errShutdown):
		return "released"
	case errors.Is(err, posejob.ErrLost):
		return "lost"
	case errors.Is(err, posejob.ErrEnded):
		return "ended"
	case errors.Is(err, errStalled):
		return "stalled"
	}
	return "failed"
}
