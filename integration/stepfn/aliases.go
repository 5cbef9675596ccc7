package stepfn

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// alias is a name that leads to one version, or to two by weight.
type alias struct {
	routes           []Route
	created, updated time.Time
}

// Route sends a part of an alias's executions, in percent, to a version.
type Route struct {
	VersionARN string `json:"stateMachineVersionArn"`
	Weight     int    `json:"weight"`
}

// aliasLine records an alias as it is from then on.
type aliasLine struct {
	Kind    string  `json:"t"`
	Machine string  `json:"machine"`
	Name    string  `json:"name"`
	Routes  []Route `json:"routes"`
	Created Time    `json:"created"`
}

func (e *Engine) applyAlias(l aliasLine) error {
	m := e.machines[l.Machine]
	if m == nil {
		return fmt.Errorf("alias %s: no state machine %s", l.Name, l.Machine)
	}
	if m.aliases == nil {
		m.aliases = map[string]*alias{}
	}
	a := m.aliases[l.Name]
	if a == nil {
		a = &alias{created: l.Created.Time}
		m.aliases[l.Name] = a
	}
	a.routes, a.updated = l.Routes, l.Created.Time
	return nil
}

// AliasInput is the input of CreateStateMachineAlias (Name) and
// UpdateStateMachineAlias (AliasARN).
type AliasInput struct {
	Name     string  `json:"name"`
	AliasARN string  `json:"stateMachineAliasArn"`
	Routes   []Route `json:"routingConfiguration"`
}

// AliasOutput is the output of operations on an alias.
type AliasOutput struct {
	AliasARN     string  `json:"stateMachineAliasArn"`
	Name         string  `json:"name,omitempty"`
	Routes       []Route `json:"routingConfiguration,omitempty"`
	CreationDate Time    `json:"creationDate"`
	UpdateDate   Time    `json:"updateDate"`
}

// CreateStateMachineAlias names one version, or two with weights that add up to
// 100, of one state machine. Errors: InvalidName, ValidationException,
// ResourceNotFound, ConflictException for a name that leads elsewhere.
func (e *Engine) CreateStateMachineAlias(in AliasInput) (AliasOutput, error) {
	if err := checkAliasName(in.Name); err != nil {
		return AliasOutput{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	m, err := e.routed(in.Routes)
	if err != nil {
		return AliasOutput{}, err
	}
	if a := m.aliases[in.Name]; a != nil {
		if !sameRoutes(a.routes, in.Routes) {
			return AliasOutput{}, apiErr(CodeConflict, "alias %s of %s exists", in.Name, m.arn)
		}
		return a.show(m, in.Name), nil
	}
	return e.setAlias(m, in.Name, in.Routes)
}

// UpdateStateMachineAlias moves an alias. Executions that are open stay where
// they are. Errors as of CreateStateMachineAlias.
func (e *Engine) UpdateStateMachineAlias(in AliasInput) (AliasOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m, name, err := e.findAlias(in.AliasARN)
	if err != nil {
		return AliasOutput{}, err
	}
	if to, err := e.routed(in.Routes); err != nil {
		return AliasOutput{}, err
	} else if to != m {
		return AliasOutput{}, apiErr(CodeValidation, "an alias leads to versions of its own state machine")
	}
	return e.setAlias(m, name, in.Routes)
}

// DescribeStateMachineAlias shows an alias. Errors: InvalidArn, ResourceNotFound.
func (e *Engine) DescribeStateMachineAlias(in AliasInput) (AliasOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m, name, err := e.findAlias(in.AliasARN)
	if err != nil {
		return AliasOutput{}, err
	}
	return m.aliases[name].show(m, name), nil
}

func (a *alias) show(m *machine, name string) AliasOutput {
	return AliasOutput{m.arn + ":" + name, name, a.routes, Time{a.created}, Time{a.updated}}
}

func (e *Engine) setAlias(m *machine, name string, routes []Route) (AliasOutput, error) {
	if err := e.usable(); err != nil {
		return AliasOutput{}, err
	}
	l := aliasLine{kindAlias, m.arn, name, routes, Time{now()}}
	if err := e.write(l); err != nil {
		return AliasOutput{}, e.usable()
	}
	if err := e.applyAlias(l); err != nil {
		return AliasOutput{}, err
	}
	return m.aliases[name].show(m, name), nil
}

// routed checks routes and gives the state machine that they lead to.
func (e *Engine) routed(routes []Route) (*machine, error) {
	if len(routes) == 0 || len(routes) > 2 {
		return nil, apiErr(CodeValidation, "routingConfiguration must have one version, or two")
	}
	var to *machine
	sum := 0
	for _, r := range routes {
		m, _, _, err := e.resolve(r.VersionARN, "")
		if err != nil {
			return nil, err
		}
		if _, err := strconv.Atoi(r.VersionARN[strings.LastIndex(r.VersionARN, ":")+1:]); err != nil || to != nil && m != to {
			return nil, apiErr(CodeValidation, "routingConfiguration must name versions of one state machine")
		}
		to, sum = m, sum+r.Weight
	}
	if sum != 100 {
		return nil, apiErr(CodeValidation, "the weights add up to %d, not 100", sum)
	}
	return to, nil
}

func sameRoutes(a, b []Route) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// findAlias finds an alias by its ARN. The lock is held.
func (e *Engine) findAlias(arn string) (*machine, string, error) {
	base, name, _ := qualified(arn)
	m, err := e.findMachine(base)
	if err != nil {
		return nil, "", err
	}
	if m.aliases[name] == nil {
		return nil, "", apiErr(CodeResourceNotFound, "no alias %q of %s", name, base)
	}
	return m, name, nil
}

// checkAliasName refuses what would be read as a version.
func checkAliasName(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if _, err := strconv.Atoi(name); err == nil || name == "" {
		return apiErr(CodeInvalidName, "Invalid Name: '%s'", name)
	}
	return nil
}
