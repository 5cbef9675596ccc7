package stepfn

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"fastbowlinglab/integration/stepfn/asl"
)

// machine is a state machine: a name and its revisions. Executions hold on to
// the revision that they were started with.
type machine struct {
	arn, name  string
	created    time.Time
	revisions  []*revision
	executions []*execution // in the order of their starts
	unnamed    int          // executions that were given a derived name
	versions   []published
	aliases    map[string]*alias
}

type revision struct {
	number     int
	definition string
	role       string
	created    time.Time
	model      *asl.Machine
}

func (m *machine) latest() *revision { return m.revisions[len(m.revisions)-1] }

// revisionID is the id of a revision; AWS has none before the first update.
func (e *Engine) revisionID(m *machine, r *revision) string {
	if r.number == 0 {
		return ""
	}
	return e.source.uuid("revision", m.arn, r.number)
}

func (e *Engine) applyMachine(l machineLine, model *asl.Machine) {
	m := e.machines[l.ARN]
	if m == nil {
		m = &machine{arn: l.ARN, name: l.Name, created: l.Created.Time}
		e.machines[l.ARN] = m
		e.order = append(e.order, m)
	}
	m.revisions = append(m.revisions, &revision{len(m.revisions), l.Definition, l.RoleARN, l.Created.Time, model})
}

// CreateStateMachineInput is the input of CreateStateMachine.
type CreateStateMachineInput struct {
	Name       string `json:"name"`
	Definition string `json:"definition"`
	RoleARN    string `json:"roleArn"`
	Type       string `json:"type"` // "" or STANDARD
	Publish    bool   `json:"publish"`
}

// CreateStateMachineOutput is the output of CreateStateMachine.
type CreateStateMachineOutput struct {
	StateMachineARN string `json:"stateMachineArn"`
	CreationDate    Time   `json:"creationDate"`
}

// CreateStateMachine makes a state machine. The same call again gives the same
// answer; another definition or role under the name is StateMachineAlreadyExists.
// Other errors: InvalidName, InvalidDefinition, StateMachineTypeNotSupported.
func (e *Engine) CreateStateMachine(in CreateStateMachineInput) (CreateStateMachineOutput, error) {
	var none CreateStateMachineOutput
	if err := checkName(in.Name); err != nil {
		return none, err
	}
	if in.Type != "" && in.Type != "STANDARD" {
		return none, apiErr(CodeTypeNotSupported, "type %q is not supported: only STANDARD", in.Type)
	}
	if in.Publish {
		return none, apiErr(CodeValidation, "publish is not supported: this engine has no versions yet")
	}
	model, err := parse(in.Definition)
	if err != nil {
		return none, err
	}
	if in.RoleARN == "" {
		return none, apiErr(CodeInvalidArn, "Invalid Arn: roleArn is missing")
	}
	arn := fmt.Sprintf("arn:aws:states:%s:%s:stateMachine:%s", e.opt.Region, e.opt.Account, in.Name)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(); err != nil {
		return none, err
	}
	if m := e.machines[arn]; m != nil {
		if r := m.latest(); r.definition != in.Definition || r.role != in.RoleARN {
			return none, apiErr(CodeStateMachineAlreadyExists, "State Machine Already Exists: '%s'", arn)
		}
		return CreateStateMachineOutput{arn, Time{m.created}}, nil
	}
	l := machineLine{kindMachine, arn, in.Name, in.RoleARN, in.Definition, Time{now()}}
	if err := e.write(l); err != nil {
		return none, e.usable()
	}
	e.applyMachine(l, model)
	return CreateStateMachineOutput{arn, l.Created}, nil
}

// UpdateStateMachineInput is the input of UpdateStateMachine.
type UpdateStateMachineInput struct {
	StateMachineARN string `json:"stateMachineArn"`
	Definition      string `json:"definition"`
	RoleARN         string `json:"roleArn"`
	Publish         bool   `json:"publish"`
}

// UpdateStateMachineOutput is the output of UpdateStateMachine.
type UpdateStateMachineOutput struct {
	UpdateDate Time   `json:"updateDate"`
	RevisionID string `json:"revisionId"`
}

// UpdateStateMachine gives a state machine a new definition, role or both. Open
// executions go on with what they were started with. Errors: InvalidArn,
// InvalidDefinition, MissingRequiredParameter, StateMachineDoesNotExist.
func (e *Engine) UpdateStateMachine(in UpdateStateMachineInput) (UpdateStateMachineOutput, error) {
	var none UpdateStateMachineOutput
	if in.Definition == "" && in.RoleARN == "" {
		return none, apiErr(CodeMissingRequiredParameter, "Either the definition, the role ARN or both must be given")
	}
	if in.Publish {
		return none, apiErr(CodeValidation, "publish is not supported: this engine has no versions yet")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(); err != nil {
		return none, err
	}
	m, err := e.findMachine(in.StateMachineARN)
	if err != nil {
		return none, err
	}
	old := m.latest()
	l := machineLine{kindMachine, m.arn, m.name, old.role, old.definition, Time{now()}}
	if in.RoleARN != "" {
		l.RoleARN = in.RoleARN
	}
	if in.Definition != "" {
		l.Definition = in.Definition
	}
	model, err := parse(l.Definition)
	if err != nil {
		return none, err
	}
	if err := e.write(l); err != nil {
		return none, e.usable()
	}
	e.applyMachine(l, model)
	return UpdateStateMachineOutput{l.Created, e.revisionID(m, m.latest())}, nil
}

// DescribeStateMachineInput is the input of DescribeStateMachine.
type DescribeStateMachineInput struct {
	StateMachineARN string `json:"stateMachineArn"`
}

// DescribeStateMachineOutput is the output of DescribeStateMachine.
type DescribeStateMachineOutput struct {
	StateMachineARN string `json:"stateMachineArn"`
	Name            string `json:"name"`
	Status          string `json:"status"`
	Definition      string `json:"definition"`
	RoleARN         string `json:"roleArn"`
	Type            string `json:"type"`
	CreationDate    Time   `json:"creationDate"`
	RevisionID      string `json:"revisionId,omitempty"`
}

// DescribeStateMachine gives the latest definition. Errors: InvalidArn,
// StateMachineDoesNotExist.
func (e *Engine) DescribeStateMachine(in DescribeStateMachineInput) (DescribeStateMachineOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m, err := e.findMachine(in.StateMachineARN)
	if err != nil {
		return DescribeStateMachineOutput{}, err
	}
	r := m.latest()
	return DescribeStateMachineOutput{m.arn, m.name, "ACTIVE", r.definition, r.role, "STANDARD", Time{m.created}, e.revisionID(m, r)}, nil
}

// DescribeStateMachineForExecutionInput is the input of
// DescribeStateMachineForExecution.
type DescribeStateMachineForExecutionInput struct {
	ExecutionARN string `json:"executionArn"`
}

// DescribeStateMachineForExecutionOutput is the output of
// DescribeStateMachineForExecution.
type DescribeStateMachineForExecutionOutput struct {
	StateMachineARN string `json:"stateMachineArn"`
	Name            string `json:"name"`
	Definition      string `json:"definition"`
	RoleARN         string `json:"roleArn"`
	UpdateDate      Time   `json:"updateDate"`
	RevisionID      string `json:"revisionId,omitempty"`
}

// DescribeStateMachineForExecution gives the definition that an execution runs,
// which may be an older one. Errors: InvalidArn, ExecutionDoesNotExist.
func (e *Engine) DescribeStateMachineForExecution(in DescribeStateMachineForExecutionInput) (DescribeStateMachineForExecutionOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x, err := e.findExecution(in.ExecutionARN)
	if err != nil {
		return DescribeStateMachineForExecutionOutput{}, err
	}
	m, r := x.machine, x.rev
	return DescribeStateMachineForExecutionOutput{m.arn, m.name, r.definition, r.role, Time{r.created}, e.revisionID(m, r)}, nil
}

// findMachine finds a machine by ARN. The lock is held.
func (e *Engine) findMachine(arn string) (*machine, error) {
	if err := checkARN(arn, "stateMachine"); err != nil {
		return nil, err
	}
	m := e.machines[arn]
	if m == nil {
		return nil, apiErr(CodeStateMachineDoesNotExist, "State Machine Does Not Exist: '%s'", arn)
	}
	return m, nil
}

func checkARN(arn, kind string) error {
	parts := strings.Split(arn, ":")
	if len(parts) < 7 || parts[0] != "arn" || parts[2] != "states" || parts[5] != kind {
		return apiErr(CodeInvalidArn, "Invalid Arn: '%s' is not the ARN of a %s", arn, kind)
	}
	return nil
}

func parse(definition string) (*asl.Machine, error) {
	model, err := asl.Parse([]byte(definition))
	var ps asl.Problems
	if errors.As(err, &ps) {
		return nil, apiErr(CodeInvalidDefinition, "Invalid State Machine Definition: '%v'", ps)
	}
	return model, err
}

// checkName applies the rules for names of state machines and executions: 1 to
// 80 characters, no white space, brackets, wildcards, special characters or
// control characters.
func checkName(name string) error {
	n := 0
	for _, r := range name {
		n++
		if strings.ContainsRune("<>{}[]?*\"#%\\^|~`$&,;:/", r) || unicode.IsSpace(r) ||
			unicode.IsControl(r) || r == '\ufffd' || r == '\ufffe' || r == '\uffff' || r == unicode.MaxRune {
			return apiErr(CodeInvalidName, "Invalid Name: '%s'", name)
		}
	}
	if n < 1 || n > 80 {
		return apiErr(CodeInvalidName, "Invalid Name: '%s' has %d characters; 1 to 80 are allowed", name, n)
	}
	return nil
}
