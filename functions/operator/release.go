package operator

import (
	"context"
	"errors"
	"slices"
	"time"

	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// ReleaseIn asks for the lease of a run that is dead. Run is who holds it, as the
// refusal said: a lease that has another holder by now is left alone.
type ReleaseIn struct {
	By
	Effect string `json:"effect"`
	Run    string `json:"run"`
}

// ReleaseOut says how the run ended, and who holds the effect now.
type ReleaseOut struct {
	Run     string `json:"run"`
	Outcome string `json:"outcome"`
	HeldBy  string `json:"held_by"`
}

// release ends a run and gives its lease back. It refuses while the run's
// execution is running or a worker of it may be at work: neither "I killed it"
// nor "it does not answer" ends a worker.
func (d Deps) release(ctx context.Context, in ReleaseIn) (ReleaseOut, error) {
	if !slices.Contains(names.BatchEffects(), in.Effect) || in.Run == "" {
		return ReleaseOut{}, fault.New(fault.Permanent, "release: effect is one of %v, and run is who holds it", names.BatchEffects())
	}
	r, err := d.Runs.Get(ctx, in.Run)
	if errors.Is(err, batchrun.ErrNotFound) || err == nil && r.Effect != in.Effect {
		return ReleaseOut{}, fault.New(fault.Permanent, "release: run %s does not have %s", in.Run, in.Effect)
	}
	if err != nil {
		return ReleaseOut{}, awserr.Fault(err, "release")
	}
	if err := d.dead(ctx, r); err != nil {
		return ReleaseOut{}, err
	}
	if r.State == batchrun.Open {
		r, err = d.Runs.End(ctx, r, "released by "+in.Operator, time.Time{})
	} else {
		err = d.Runs.Leases.Release(ctx, r.Lease())
	}
	if err != nil {
		return ReleaseOut{}, awserr.Fault(err, "release")
	}
	e, err := d.Runs.Evidence(ctx, in.Effect)
	return ReleaseOut{r.ID, r.Outcome, e.HeldBy}, awserr.Fault(err, "release: it is released; look who holds it")
}

// dead is an error unless nothing of the run can be at work.
func (d Deps) dead(ctx context.Context, r batchrun.Run) error {
	for _, machine := range []string{names.MachineBackfill, names.MachineNightly} {
		arn, err := analysis.ExecutionARN(d.Machines+machine, r.ID)
		if err != nil {
			return fault.Wrap(fault.Permanent, err, "release")
		}
		x, err := d.execution(ctx, arn)
		if err != nil {
			return err
		}
		if x != nil && x.Status == sfntypes.ExecutionStatusRunning {
			return fault.New(fault.Permanent, "release: execution %s is running; stop it first", arn)
		}
	}
	bs, err := d.Runs.Batches(ctx, r.ID)
	if err != nil {
		return awserr.Fault(err, "release")
	}
	for _, b := range bs {
		if b.Working(d.now()) {
			return fault.New(fault.Permanent, "release: a worker of %s has batch %s until %s; ask again then",
				r.ID, b.Name(), b.Until.Add(names.ClockSkew).Format(time.RFC3339))
		}
	}
	return nil
}
