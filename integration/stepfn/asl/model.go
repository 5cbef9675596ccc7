package asl

import "time"

// Machine is a checked definition, or one branch of a Parallel or Map state.
type Machine struct {
	Comment string
	StartAt string
	Timeout time.Duration // of the whole execution; 0: none
	States  map[string]*State
}

// Type is the type of a state.
type Type string

// The types.
const (
	TaskType     Type = "Task"
	ChoiceType   Type = "Choice"
	WaitType     Type = "Wait"
	PassType     Type = "Pass"
	MapType      Type = "Map"
	ParallelType Type = "Parallel"
	SucceedType  Type = "Succeed"
	FailType     Type = "Fail"
)

// State is one state. Exactly one of the pointers to a type's own fields is set,
// save for Succeed, which has none.
type State struct {
	Name string
	Type Type
	Next string // "" when the machine ends here, and for Choice

	InputPath      Selector
	Parameters     *Template // nil: the input as it is
	ResultSelector *Template // nil: the result as it is
	ResultPath     ResultPath
	OutputPath     Selector
	Retry          []Retrier
	Catch          []Catcher

	Task     *Task
	Choice   *Choice
	Wait     *Wait
	Pass     *Pass
	Map      *Map
	Parallel *Parallel
	Fail     *Fail
}

// Resources that a Task may have.
const (
	ResourceInvoke = "arn:aws:states:::lambda:invoke"
	ResourceToken  = "arn:aws:states:::lambda:invoke.waitForTaskToken"
)

// Task calls a Lambda function and, with WaitForToken, waits until somebody
// answers its task token.
type Task struct {
	WaitForToken bool
	Timeout      time.Duration // 0: none
	Heartbeat    time.Duration // 0: none
}

// Resource is the part of the resource that the history shows.
func (t *Task) Resource() string {
	if t.WaitForToken {
		return "invoke.waitForTaskToken"
	}
	return "invoke"
}

// Choice goes on by the first rule that holds, or to Default.
type Choice struct {
	Rules   []Rule
	Default string // "": no rule holding is States.NoChoiceMatched
}

// Wait waits for a time or until one; exactly one field is set.
type Wait struct {
	Seconds       *int
	Timestamp     *time.Time
	SecondsPath   *Path
	TimestampPath *Path
}

// Pass hands on its input, or Result.
type Pass struct {
	HasResult bool
	Result    any
}

// Map runs Processor for each item, at most MaxConcurrency at once (0: all).
type Map struct {
	ItemsPath      *Path // nil: the input itself
	ItemSelector   *Template
	MaxConcurrency int
	Processor      *Machine
}

// Parallel runs Branches at once and gives the array of their outputs.
type Parallel struct{ Branches []*Machine }

// Fail ends the execution with an error. A path wins over its constant.
type Fail struct {
	Error, Cause         string
	ErrorPath, CausePath *Template // of a single path or function
}

// Nexts lists the states that may follow s.
func (s *State) Nexts() []string {
	var out []string
	if s.Next != "" {
		out = append(out, s.Next)
	}
	for _, c := range s.Catch {
		out = append(out, c.Next)
	}
	if s.Choice != nil {
		for _, r := range s.Choice.Rules {
			out = append(out, r.Next)
		}
		if s.Choice.Default != "" {
			out = append(out, s.Choice.Default)
		}
	}
	return out
}
