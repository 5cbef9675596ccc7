package stepfn

import (
	"strings"

	"fastbowlinglab/integration/stepfn/asl"
)

// MaxEvents is AWS's limit on the history of one execution. The event that ends
// an execution for it is the one with this number.
const MaxEvents = 25000

// MaxBytes is AWS's limit on the input or output of a state, a task and an
// execution, in bytes of UTF-8.
const MaxBytes = 256 << 10

// Event is one event of an execution's history, with the field names of
// GetExecutionHistory. Exactly the details that belong to its type are set.
type Event struct {
	Timestamp Time   `json:"timestamp"`
	Type      string `json:"type"`
	ID        int64  `json:"id"`
	Previous  int64  `json:"previousEventId"`

	ExecutionStarted   *StartedDetails   `json:"executionStartedEventDetails,omitempty"`
	ExecutionRedriven  *RedrivenDetails  `json:"executionRedrivenEventDetails,omitempty"`
	ExecutionSucceeded *OutputDetails    `json:"executionSucceededEventDetails,omitempty"`
	ExecutionFailed    *FailureDetails   `json:"executionFailedEventDetails,omitempty"`
	ExecutionAborted   *FailureDetails   `json:"executionAbortedEventDetails,omitempty"`
	ExecutionTimedOut  *FailureDetails   `json:"executionTimedOutEventDetails,omitempty"`
	StateEntered       *EnteredDetails   `json:"stateEnteredEventDetails,omitempty"`
	StateExited        *ExitedDetails    `json:"stateExitedEventDetails,omitempty"`
	TaskScheduled      *ScheduledDetails `json:"taskScheduledEventDetails,omitempty"`
	TaskStarted        *TaskDetails      `json:"taskStartedEventDetails,omitempty"`
	TaskSubmitted      *TaskDetails      `json:"taskSubmittedEventDetails,omitempty"`
	TaskSucceeded      *TaskDetails      `json:"taskSucceededEventDetails,omitempty"`
	TaskFailed         *TaskDetails      `json:"taskFailedEventDetails,omitempty"`
	TaskTimedOut       *TaskDetails      `json:"taskTimedOutEventDetails,omitempty"`
	MapStarted         *MapDetails       `json:"mapStateStartedEventDetails,omitempty"`
	IterationStarted   *IterationDetails `json:"mapIterationStartedEventDetails,omitempty"`
	IterationSucceeded *IterationDetails `json:"mapIterationSucceededEventDetails,omitempty"`
	IterationFailed    *IterationDetails `json:"mapIterationFailedEventDetails,omitempty"`
	IterationAborted   *IterationDetails `json:"mapIterationAbortedEventDetails,omitempty"`
}

// DataDetails says that a payload is complete; this engine never cuts one.
type DataDetails struct {
	Truncated bool `json:"truncated"`
}

// StartedDetails belong to ExecutionStarted.
type StartedDetails struct {
	Input        *string      `json:"input,omitempty"`
	InputDetails *DataDetails `json:"inputDetails,omitempty"`
	RoleARN      string       `json:"roleArn"`
}

// RedrivenDetails belong to ExecutionRedriven.
type RedrivenDetails struct {
	RedriveCount int `json:"redriveCount"`
}

// OutputDetails belong to ExecutionSucceeded.
type OutputDetails struct {
	Output        *string      `json:"output,omitempty"`
	OutputDetails *DataDetails `json:"outputDetails,omitempty"`
}

// FailureDetails belong to the events that end an execution without a result.
type FailureDetails struct {
	Error string `json:"error,omitempty"`
	Cause string `json:"cause,omitempty"`
}

// EnteredDetails belong to the StateEntered events.
type EnteredDetails struct {
	Name         string       `json:"name"`
	Input        *string      `json:"input,omitempty"`
	InputDetails *DataDetails `json:"inputDetails,omitempty"`
}

// ExitedDetails belong to the StateExited events.
type ExitedDetails struct {
	Name          string       `json:"name"`
	Output        *string      `json:"output,omitempty"`
	OutputDetails *DataDetails `json:"outputDetails,omitempty"`
}

// ScheduledDetails belong to TaskScheduled.
type ScheduledDetails struct {
	ResourceType string  `json:"resourceType"`
	Resource     string  `json:"resource"`
	Region       string  `json:"region"`
	Parameters   *string `json:"parameters,omitempty"`
	Timeout      int64   `json:"timeoutInSeconds,omitempty"`
	Heartbeat    int64   `json:"heartbeatInSeconds,omitempty"`
}

// TaskDetails belong to the other events of a task.
type TaskDetails struct {
	ResourceType  string       `json:"resourceType"`
	Resource      string       `json:"resource"`
	Output        *string      `json:"output,omitempty"`
	OutputDetails *DataDetails `json:"outputDetails,omitempty"`
	Error         string       `json:"error,omitempty"`
	Cause         string       `json:"cause,omitempty"`
}

// MapDetails belong to MapStateStarted.
type MapDetails struct {
	Length int `json:"length"`
}

// IterationDetails belong to the events of a Map state's iterations.
type IterationDetails struct {
	Name  string `json:"name"`
	Index int    `json:"index"`
}

// Types of events that the engine itself looks at.
const (
	evExecutionStarted   = "ExecutionStarted"
	evExecutionRedriven  = "ExecutionRedriven"
	evExecutionSucceeded = "ExecutionSucceeded"
	evExecutionFailed    = "ExecutionFailed"
	evExecutionAborted   = "ExecutionAborted"
	evExecutionTimedOut  = "ExecutionTimedOut"
	evTaskScheduled      = "TaskScheduled"
	evTaskStarted        = "TaskStarted"
	evTaskSubmitted      = "TaskSubmitted"
	evTaskSucceeded      = "TaskSucceeded"
	evTaskFailed         = "TaskFailed"
	evTaskTimedOut       = "TaskTimedOut"
	evMapStarted         = "MapStateStarted"
	evParallelStarted    = "ParallelStateStarted"
	evMapFailed          = "MapStateFailed"
	evParallelFailed     = "ParallelStateFailed"
)

func whole() *DataDetails { return &DataDetails{} }

func entered(s *asl.State, input string) Event {
	return Event{Type: string(s.Type) + "StateEntered", StateEntered: &EnteredDetails{Name: s.Name, Input: &input, InputDetails: whole()}}
}

func exited(s *asl.State, output string) Event {
	return Event{Type: string(s.Type) + "StateExited", StateExited: &ExitedDetails{Name: s.Name, Output: &output, OutputDetails: whole()}}
}

func timedOut() Event {
	return Event{Type: evExecutionTimedOut, ExecutionTimedOut: &FailureDetails{Error: asl.ErrTimeout}}
}

// taskEvent makes an event of a task with an output (nil for none) or an error.
func taskEvent(typ string, t *asl.Task, output *string, fail *asl.Error) Event {
	d := &TaskDetails{ResourceType: "lambda", Resource: t.Resource(), Output: output}
	if output != nil {
		d.OutputDetails = whole()
	}
	if fail != nil {
		d.Error, d.Cause = fail.Name, fail.Cause
	}
	ev := Event{Type: typ}
	switch typ {
	case evTaskStarted:
		ev.TaskStarted = d
	case evTaskSubmitted:
		ev.TaskSubmitted = d
	case evTaskSucceeded:
		ev.TaskSucceeded = d
	case evTaskFailed:
		ev.TaskFailed = d
	case evTaskTimedOut:
		ev.TaskTimedOut = d
	}
	return ev
}

// withoutData is the event as GetExecutionHistory shows it when the caller does
// not want inputs and outputs.
func (ev Event) withoutData() Event {
	if d := ev.ExecutionStarted; d != nil {
		c := *d
		c.Input, c.InputDetails = nil, nil
		ev.ExecutionStarted = &c
	}
	if d := ev.ExecutionSucceeded; d != nil {
		ev.ExecutionSucceeded = &OutputDetails{}
	}
	if d := ev.StateEntered; d != nil {
		ev.StateEntered = &EnteredDetails{Name: d.Name}
	}
	if d := ev.StateExited; d != nil {
		ev.StateExited = &ExitedDetails{Name: d.Name}
	}
	if d := ev.TaskScheduled; d != nil {
		c := *d
		c.Parameters = nil
		ev.TaskScheduled = &c
	}
	for _, d := range []**TaskDetails{&ev.TaskSubmitted, &ev.TaskSucceeded} {
		if *d != nil {
			c := **d
			c.Output, c.OutputDetails = nil, nil
			*d = &c
		}
	}
	return ev
}

func (ev Event) isEntered() bool { return strings.HasSuffix(ev.Type, "StateEntered") }
func (ev Event) isExited() bool  { return strings.HasSuffix(ev.Type, "StateExited") }
