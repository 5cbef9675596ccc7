package operator

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/shared/analysis"
	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/fault"
)

// DrainIn asks which runs are still open.
type DrainIn struct {
	By
}

// DrainOut counts the open analyses by the version of the state machine that
// their execution was started with. A version that is not in the list has drained.
type DrainOut struct {
	Open     int            `json:"open"`
	Versions map[string]int `json:"versions"`
	// NoExecution are open and have none: not confirmed yet, or about to be started.
	NoExecution int       `json:"no_execution"`
	Oldest      string    `json:"oldest,omitempty"` // analysis with the earliest deadline
	Deadline    time.Time `json:"deadline,omitzero"`
	More        bool      `json:"more"` // there are more than were looked at
}

// maxDrain bounds how many executions one call asks about.
const maxDrain = 500

func (d Deps) drain(ctx context.Context, _ DrainIn) (DrainOut, error) {
	out := DrainOut{Versions: map[string]int{}}
	var rows []analysis.Row
	err := d.Life.Open(ctx, func(r analysis.Row) bool {
		if len(rows) == maxDrain {
			out.More = true
			return false
		}
		rows = append(rows, r)
		return true
	})
	if err != nil {
		return out, awserr.Fault(err, "drain")
	}
	for _, r := range rows {
		out.Open++
		if out.Oldest == "" {
			out.Oldest, out.Deadline = r.AnalysisID, r.Deadline
		}
		version, err := d.version(ctx, r)
		if err != nil {
			return out, err
		}
		if version == "" {
			out.NoExecution++
			continue
		}
		out.Versions[version]++
	}
	return out, nil
}

// version is that of the execution which holds the analysis, "" if there is none.
func (d Deps) version(ctx context.Context, r analysis.Row) (string, error) {
	if r.Status == analysis.Reserved {
		return "", nil
	}
	arn, err := analysis.ExecutionARN(d.MachineARN, r.Holder())
	if err != nil {
		return "", fault.Wrap(fault.Permanent, err, "drain")
	}
	x, err := d.execution(ctx, arn)
	if err != nil || x == nil {
		return "", err
	}
	if x.StateMachineVersionArn != nil {
		return *x.StateMachineVersionArn, nil
	}
	return "unversioned", nil
}

// execution describes an execution; nil if there is none.
func (d Deps) execution(ctx context.Context, arn string) (*sfn.DescribeExecutionOutput, error) {
	var out *sfn.DescribeExecutionOutput
	err := d.Retry.Do(ctx, func() (err error) {
		out, err = d.Steps.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
		return err
	})
	if awserr.KindOf(err) == awserr.NotFound {
		return nil, nil
	}
	return out, awserr.Fault(err, "describe "+arn)
}
