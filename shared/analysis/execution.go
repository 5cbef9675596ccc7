package analysis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/retry"
	"fastbowlinglab/shared/stamp"
)

// Starter is what starting a run needs of Step Functions.
type Starter interface {
	StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error)
}

// Start starts the execution of an attempt. Its name is made of id and attempt,
// so a second start finds the first: existed is true if there is one already,
// be it running or closed.
func Start(ctx context.Context, steps Starter, machineARN, id string, attempt int) (existed bool, err error) {
	name := ExecutionName(id, attempt)
	input, err := json.Marshal(names.Run{AnalysisID: id, Attempt: attempt})
	if err != nil {
		return false, fmt.Errorf("encode the input of %s: %w", name, err)
	}
	in := string(input)
	err = retry.Policy{}.Do(ctx, func() error {
		_, err := steps.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &machineARN, Name: &name, Input: &in})
		return err
	})
	if awserr.Is(err, "ExecutionAlreadyExists") {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("start execution %s: %w", name, err)
	}
	return false, nil
}

// ExecutionARN is the ARN of an execution by the ARN of its state machine, one
// of the machine's versions or one of its aliases.
func ExecutionARN(machineARN, name string) (string, error) {
	p := strings.Split(machineARN, ":")
	if len(p) < 7 || p[5] != "stateMachine" {
		return "", fmt.Errorf("state machine ARN %q: want arn:partition:states:region:account:stateMachine:name", machineARN)
	}
	p[5] = "execution"
	return strings.Join(p[:7], ":") + ":" + name, nil
}

// Stopper is what a restart needs of Step Functions.
type Stopper interface {
	Starter
	StopExecution(context.Context, *sfn.StopExecutionInput, ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error)
}

// Stop stops an execution; one that is not there, or has ended, is no error.
func Stop(ctx context.Context, steps Stopper, machineARN, name, why string) error {
	arn, err := ExecutionARN(machineARN, name)
	if err != nil {
		return err
	}
	err = retry.Policy{}.Do(ctx, func() error {
		_, err := steps.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: &arn, Error: &why, Cause: &why})
		return err
	})
	if err != nil && awserr.KindOf(err) != awserr.NotFound {
		return fmt.Errorf("stop execution %s: %w", name, err)
	}
	return nil
}

// Restart gives an open analysis a new run: it raises the attempt from the one
// given, stops the old execution and starts the new one. The flags stay as
// first read, and the deadline is that of the confirm: a restart buys no time.
// A repeat after a crash finishes what the first began. ErrMoved if the
// analysis is at yet another attempt, was never queued, or has ended.
func (s Store) Restart(ctx context.Context, steps Stopper, machineARN, id string, attempt int) (Row, error) {
	r, err := s.Get(ctx, id)
	if err != nil {
		return Row{}, fmt.Errorf("restart: %w", err)
	}
	if r.Attempt == attempt && !r.Status.Ended() && !r.QueuedAt.IsZero() {
		old := r.Execution
		if r, err = s.raise(ctx, r); err != nil {
			return r, fmt.Errorf("restart analysis %s from attempt %d: %w", id, attempt, err)
		}
		if old != "" && old != ExecutionName(id, attempt) { // it was started under another name
			if err := Stop(ctx, steps, machineARN, old, "Restarted"); err != nil {
				return r, err
			}
		}
	}
	if r.Attempt != attempt+1 || r.Status.Ended() {
		return r, fmt.Errorf("restart analysis %s from attempt %d: %w: attempt %d, %s", id, attempt, ErrMoved, r.Attempt, r.Status)
	}
	if err := Stop(ctx, steps, machineARN, ExecutionName(id, attempt), "Restarted"); err != nil {
		return r, err
	}
	_, err = Start(ctx, steps, machineARN, id, attempt+1)
	return r, err
}

func (s Store) raise(ctx context.Context, r Row) (Row, error) {
	next, err := s.change(ctx, r.AnalysisID,
		"SET #s = :queued, attempt = :next, deadline = :deadline REMOVE execution, claimed_at",
		"#s IN (:queued, :analysing) AND attempt = :attempt",
		map[string]string{"#s": "status"},
		map[string]ddb.AttributeValue{
			":queued": text(string(Queued)), ":analysing": text(string(Analysing)),
			":attempt":  &ddb.AttributeValueMemberN{Value: strconv.Itoa(r.Attempt)},
			":next":     &ddb.AttributeValueMemberN{Value: strconv.Itoa(r.Attempt + 1)},
			":deadline": stamp.Value(r.QueuedAt.Add(names.QueuedDeadline)),
		})
	if errors.Is(err, ErrMoved) && next.Attempt == r.Attempt+1 && !next.Status.Ended() {
		return next, nil // another restart from the same attempt, or ours with its answer lost
	}
	return next, err
}
