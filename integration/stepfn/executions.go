package stepfn

import (
	"fmt"
	"strings"

	"fastbowlinglab/integration/stepfn/asl"
)

func (e *Engine) applyStart(l startLine) *execution {
	m := e.machines[l.Machine]
	rev := m.revisions[l.Revision]
	value, err := asl.Decode([]byte(l.Input))
	if err != nil {
		panic(fmt.Sprintf("stepfn: input of %s: %v", l.ARN, err)) // StartExecution checked it
	}
	x := &execution{
		arn: l.ARN, name: l.Name, input: l.Input, value: value, machine: m, rev: rev, origin: l.origin,
		start: l.Start.Time, seq: len(m.executions), status: Running,
		inner: map[string]*position{},
	}
	if rev.model.Timeout > 0 {
		x.deadline = x.start.Add(rev.model.Timeout)
	}
	x.at = position{state: rev.model.StartAt, input: l.Input}
	started := &StartedDetails{Input: &x.input, InputDetails: whole(), RoleARN: rev.role}
	x.apply(record{Event: Event{Type: evExecutionStarted, ID: 1, Timestamp: l.Start, ExecutionStarted: started}})
	m.executions = append(m.executions, x)
	e.executions[x.arn] = x
	return x
}

// StartExecutionInput is the input of StartExecution. An empty Input means {}.
type StartExecutionInput struct {
	StateMachineARN string `json:"stateMachineArn"`
	Name            string `json:"name"`
	Input           string `json:"input"`
}

// StartExecutionOutput is the output of StartExecution.
type StartExecutionOutput struct {
	ExecutionARN string `json:"executionArn"`
	StartDate    Time   `json:"startDate"`
}

// StartExecution starts an execution. A name that an open execution has, with
// the same input, gives that execution's answer; any other use of a taken name
// is ExecutionAlreadyExists. Other errors: ExecutionLimitExceeded, InvalidArn,
// InvalidExecutionInput, InvalidName, StateMachineDoesNotExist.
func (e *Engine) StartExecution(in StartExecutionInput) (StartExecutionOutput, error) {
	var none StartExecutionOutput
	if in.Input == "" {
		in.Input = "{}"
	}
	if len(in.Input) > MaxBytes {
		return none, apiErr(CodeInvalidExecutionInput, "Invalid State Machine Execution Input: '%d bytes, the limit is %d'", len(in.Input), MaxBytes)
	}
	if _, err := asl.Decode([]byte(in.Input)); err != nil {
		return none, apiErr(CodeInvalidExecutionInput, "Invalid State Machine Execution Input: '%v'", err)
	}
	if in.Name != "" {
		if err := checkName(in.Name); err != nil {
			return none, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(); err != nil {
		return none, err
	}
	m, rev, from, err := e.resolve(in.StateMachineARN, in.Name)
	if err != nil {
		return none, err
	}
	name := in.Name
	for name == "" || in.Name == "" && e.executions[executionARN(m, name)] != nil {
		name = e.source.uuid("execution", m.arn, m.unnamed)
		m.unnamed++
	}
	arn := executionARN(m, name)
	if x := e.executions[arn]; x != nil {
		if x.status == Running && x.input == in.Input {
			return StartExecutionOutput{arn, Time{x.start}}, nil
		}
		return none, apiErr(CodeExecutionAlreadyExists, "Execution Already Exists: '%s'", arn)
	}
	if err := e.room(); err != nil {
		return none, err
	}
	l := startLine{kindStart, arn, name, m.arn, rev.number, in.Input, Time{now()}, from}
	if err := e.write(l); err != nil {
		return none, e.usable()
	}
	e.launch(e.applyStart(l), true)
	return StartExecutionOutput{arn, l.Start}, nil
}

func executionARN(m *machine, name string) string {
	return strings.Replace(m.arn, ":stateMachine:", ":execution:", 1) + ":" + name
}

// StopExecutionInput is the input of StopExecution.
type StopExecutionInput struct {
	ExecutionARN string `json:"executionArn"`
	Error        string `json:"error"`
	Cause        string `json:"cause"`
}

// StopExecutionOutput is the output of StopExecution.
type StopExecutionOutput struct {
	StopDate Time `json:"stopDate"`
}

// StopExecution aborts an execution. One that has ended stays as it is, and the
// answer is when it did. Errors: ExecutionDoesNotExist, InvalidArn,
// ValidationException.
func (e *Engine) StopExecution(in StopExecutionInput) (StopExecutionOutput, error) {
	if err := errorFields(in.Error, in.Cause); err != nil {
		return StopExecutionOutput{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(); err != nil {
		return StopExecutionOutput{}, err
	}
	x, err := e.findExecution(in.ExecutionARN)
	if err != nil {
		return StopExecutionOutput{}, err
	}
	if x.status == Running {
		top := &scope{prev: x.at.prev, drive: x.drives.count}
		if !e.end(x, top, Event{Type: evExecutionAborted, ExecutionAborted: &FailureDetails{in.Error, in.Cause}}) {
			return StopExecutionOutput{}, e.usable()
		}
		x.cancel()
	}
	return StopExecutionOutput{Time{x.stop}}, nil
}

// DescribeExecutionInput is the input of DescribeExecution.
type DescribeExecutionInput struct {
	ExecutionARN string `json:"executionArn"`
}

// DescribeExecutionOutput is the output of DescribeExecution.
type DescribeExecutionOutput struct {
	ExecutionARN    string        `json:"executionArn"`
	StateMachineARN string        `json:"stateMachineArn"`
	Name            string        `json:"name"`
	Status          Status        `json:"status"`
	StartDate       Time          `json:"startDate"`
	StopDate        *Time         `json:"stopDate,omitempty"`
	Input           string        `json:"input"`
	InputDetails    DataIncluded  `json:"inputDetails"`
	Output          *string       `json:"output,omitempty"`
	OutputDetails   *DataIncluded `json:"outputDetails,omitempty"`
	Error           string        `json:"error,omitempty"`
	Cause           string        `json:"cause,omitempty"`
	RedriveCount    int           `json:"redriveCount"`
	RedriveDate     *Time         `json:"redriveDate,omitempty"`
	RedriveStatus   string        `json:"redriveStatus"`
	RedriveReason   string        `json:"redriveStatusReason,omitempty"`
	origin
}

// DescribeExecution describes an execution. Errors: ExecutionDoesNotExist,
// InvalidArn.
func (e *Engine) DescribeExecution(in DescribeExecutionInput) (DescribeExecutionOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x, err := e.findExecution(in.ExecutionARN)
	if err != nil {
		return DescribeExecutionOutput{}, err
	}
	out := DescribeExecutionOutput{
		ExecutionARN: x.arn, StateMachineARN: x.machine.arn, Name: x.name, Status: x.status,
		StartDate: Time{x.start}, Input: x.input, InputDetails: DataIncluded{true},
		RedriveCount: x.drives.count, RedriveDate: x.drives.date(), origin: x.origin,
	}
	out.RedriveStatus, out.RedriveReason = x.redrivable(now())
	if x.status != Running {
		out.StopDate = &Time{x.stop}
	}
	if x.status == Succeeded {
		out.Output, out.OutputDetails = &x.output, &DataIncluded{true}
	}
	if x.fail != nil {
		out.Error, out.Cause = x.fail.Name, x.fail.Cause
	}
	return out, nil
}

// findExecution finds an execution by ARN. The lock is held.
func (e *Engine) findExecution(arn string) (*execution, error) {
	if err := checkARN(arn, "execution"); err != nil {
		return nil, err
	}
	x := e.executions[arn]
	if x == nil {
		return nil, apiErr(CodeExecutionDoesNotExist, "Execution Does Not Exist: '%s'", arn)
	}
	return x, nil
}
