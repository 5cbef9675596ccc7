package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/batchrun"
	"fastbowlinglab/shared/fault"
	"fastbowlinglab/shared/names"
)

// RedriveIn asks for a closed execution to go on from the state that it did not
// get through. Machine is analysis, backfill or nightly; Execution its name.
type RedriveIn struct {
	By
	Machine   string `json:"machine"`
	Execution string `json:"execution"`
}

// RedriveOut says what stands: the execution runs, for the Redrives-th time anew,
// and whether this call began it.
type RedriveOut struct {
	Execution string `json:"execution"`
	Status    string `json:"status"`
	Redrives  int32  `json:"redrives"`
	Begun     bool   `json:"begun"`
}

// redrive lets a closed execution go on where that is safe and of use: it still
// speaks for an open analysis, or for an open run that holds its effect. Where the
// rows say that it has had its end, a redriven run would only concede; this
// refuses, and says what to do instead. Asked twice it is one redrive.
func (d Deps) redrive(ctx context.Context, in RedriveIn) (RedriveOut, error) {
	machines := []string{names.MachineAnalysis, names.MachineBackfill, names.MachineNightly}
	if !slices.Contains(machines, in.Machine) || in.Execution == "" {
		return RedriveOut{}, fault.New(fault.Permanent, "redrive: machine is one of %v, and execution is a name", machines)
	}
	arn, err := analysis.ExecutionARN(d.Machines+in.Machine, in.Execution)
	if err != nil {
		return RedriveOut{}, fault.Wrap(fault.Permanent, err, "redrive")
	}
	x, err := d.execution(ctx, arn)
	if err != nil {
		return RedriveOut{}, err
	}
	if x == nil {
		return RedriveOut{}, fault.New(fault.Permanent, "redrive: there is no execution %s", arn)
	}
	out := RedriveOut{Execution: in.Execution, Status: string(x.Status), Redrives: aws.ToInt32(x.RedriveCount)}
	if x.Status == sfntypes.ExecutionStatusRunning {
		return out, nil
	}
	if x.Status == sfntypes.ExecutionStatusSucceeded {
		return out, fault.New(fault.Permanent, "redrive: %s has succeeded", in.Execution)
	}
	if in.Machine == names.MachineAnalysis {
		err = d.speaksForAnalysis(ctx, in.Execution)
	} else {
		err = d.speaksForRun(ctx, in.Execution, x)
	}
	if err != nil {
		return out, err
	}
	return d.goOn(ctx, arn, out)
}

// goOn redrives. The token is made of the execution and how often it was
// redriven, so that two who ask begin one.
func (d Deps) goOn(ctx context.Context, arn string, out RedriveOut) (RedriveOut, error) {
	token := fmt.Sprintf("operator-%d", out.Redrives+1)
	err := d.Retry.Do(ctx, func() error {
		_, err := d.Steps.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: &arn, ClientToken: &token})
		return err
	})
	refused := awserr.Is(err, "ExecutionNotRedrivable")
	if err != nil && !refused {
		return out, awserr.Fault(err, "redrive "+arn)
	}
	x, derr := d.execution(ctx, arn)
	if derr != nil || x == nil {
		return out, awserr.Fault(errors.Join(err, derr), "redrive: look at "+arn)
	}
	out.Status, out.Redrives, out.Begun = string(x.Status), aws.ToInt32(x.RedriveCount), err == nil
	if refused && x.Status != sfntypes.ExecutionStatusRunning {
		return out, fault.Wrap(fault.Permanent, err, "redrive: Step Functions refuses %s: %s", arn, aws.ToString(x.RedriveStatusReason))
	}
	return out, nil
}

// speaksForAnalysis is an error unless the analysis is open and held by the
// execution.
func (d Deps) speaksForAnalysis(ctx context.Context, execution string) error {
	id, _, ok := analysis.ParseExecutionName(execution)
	if !ok {
		return fault.New(fault.Permanent, "redrive: %q is no execution of an analysis", execution)
	}
	r, err := d.Life.Get(ctx, id)
	switch {
	case errors.Is(err, analysis.ErrNotFound):
		return fault.Wrap(fault.Permanent, err, "redrive")
	case err != nil:
		return awserr.Fault(err, "redrive")
	case r.Status.Ended():
		return fault.New(fault.Permanent, "redrive: analysis %s has its end, %s %s: a redriven run would concede; the athlete may ask for a rerun", id, r.Status, r.Reason)
	case r.Holder() != execution:
		return fault.New(fault.Permanent, "redrive: analysis %s is held by %s", id, r.Holder())
	}
	return nil
}

// ends are the errors by which the batch machines' own Fail states end them.
var ends = []string{"Held", "Incomplete", string(fault.Permanent)}

// speaksForRun is an error unless the run is open and holds its effect, or was
// never opened; what a machine ended by itself stays ended.
func (d Deps) speaksForRun(ctx context.Context, run string, x *sfn.DescribeExecutionOutput) error {
	if slices.Contains(ends, aws.ToString(x.Error)) {
		return fault.New(fault.Permanent, "redrive: %s ended by itself (%s: %s); start the same input under another name", run, aws.ToString(x.Error), aws.ToString(x.Cause))
	}
	r, err := d.Runs.Get(ctx, run)
	if errors.Is(err, batchrun.ErrNotFound) {
		return nil // it goes on before it takes the effect
	}
	if err != nil {
		return awserr.Fault(err, "redrive")
	}
	if r.State != batchrun.Open {
		return fault.New(fault.Permanent, "redrive: run %s has ended (%s); start the same input under another name", run, r.Outcome)
	}
	held, err := d.Runs.Leases.Who(ctx, names.LeaseOf(r.Effect))
	if err != nil {
		return awserr.Fault(err, "redrive")
	}
	if held != nil && held.Owner != run {
		return fault.New(fault.Permanent, "redrive: %s has %s until %s; start the same input under another name then", held.Owner, r.Effect, held.Until)
	}
	return nil
}
