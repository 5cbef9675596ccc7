// Package watch is the dead man's switch of the batch machines: every minute it
// tells how long ago each open run last moved, by its row and not by anything
// that runs. Nobody at work is 0; a worker that loops without committing
// anything ages like one that is dead.
package watch

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/handler"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
)

// Runs lists open runs; batchrun.Store does.
type Runs interface {
	ByEffect(ctx context.Context, effect string) ([]batchrun.Run, error)
}

// Deps is what the function works with.
type Deps struct {
	Runs Runs
	Now  func() time.Time
}

// Out is the answer: seconds since the last progress, by effect.
type Out struct {
	Seconds map[string]float64 `json:"seconds"`
}

// New makes the function. Its payload, a schedule's, is not read.
func New(d Deps) lambda.Handler {
	return handler.New(names.FnWatch, func(ctx context.Context, _ struct{}) (Out, error) { return d.look(ctx) })
}

func (d Deps) look(ctx context.Context) (Out, error) {
	now := time.Now()
	if d.Now != nil {
		now = d.Now()
	}
	out := Out{map[string]float64{}}
	for _, e := range names.BatchEffects() {
		runs, err := d.Runs.ByEffect(ctx, e)
		if err != nil {
			return out, awserr.Fault(err, "watch")
		}
		age, oldest := 0.0, ""
		for _, r := range runs {
			if s := now.Sub(r.ProgressAt).Seconds(); s > age {
				age, oldest = s, r.ID
			}
		}
		out.Seconds[e] = age
		metric.Set(ctx, "effect", e, []metric.Sample{{Name: metric.SecondsSinceProgress, Unit: "Seconds", Value: age}}, "run", oldest)
	}
	return out, nil
}
