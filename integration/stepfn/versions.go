package stepfn

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Codes of versions and aliases.
const (
	CodeResourceNotFound = "ResourceNotFound"
	CodeConflict         = "ConflictException"
)

// published is a version: a revision under a number, its place from 1.
type published struct {
	revision int
	created  time.Time
}

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

// versionLine records a published version.
type versionLine struct {
	Kind     string `json:"t"`
	Machine  string `json:"machine"`
	Revision int    `json:"revision"`
	Created  Time   `json:"created"`
}

// aliasLine records an alias as it is from then on.
type aliasLine struct {
	Kind    string  `json:"t"`
	Machine string  `json:"machine"`
	Name    string  `json:"name"`
	Routes  []Route `json:"routes"`
	Created Time    `json:"created"`
}

func (e *Engine) applyVersion(l versionLine) error {
	m := e.machines[l.Machine]
	if m == nil || l.Revision < 0 || l.Revision >= len(m.revisions) {
		return fmt.Errorf("version: no revision %d of %s", l.Revision, l.Machine)
	}
	m.versions = append(m.versions, published{l.Revision, l.Created.Time})
	return nil
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

// PublishStateMachineVersionInput is the input of PublishStateMachineVersion.
type PublishStateMachineVersionInput struct {
	StateMachineARN string `json:"stateMachineArn"`
	RevisionID      string `json:"revisionId"` // "" or the latest revision's
}

// PublishStateMachineVersionOutput is the output of PublishStateMachineVersion.
type PublishStateMachineVersionOutput struct {
	CreationDate Time   `json:"creationDate"`
	VersionARN   string `json:"stateMachineVersionArn"`
}

// PublishStateMachineVersion gives the latest revision a number that never leads
// elsewhere. A revision is published once; again gives the same version. Errors:
// InvalidArn, StateMachineDoesNotExist, ConflictException for another revision id.
func (e *Engine) PublishStateMachineVersion(in PublishStateMachineVersionInput) (PublishStateMachineVersionOutput, error) {
	var none PublishStateMachineVersionOutput
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(); err != nil {
		return none, err
	}
	m, err := e.findMachine(in.StateMachineARN)
	if err != nil {
		return none, err
	}
	r := m.latest()
	if in.RevisionID != "" && in.RevisionID != e.revisionID(m, r) {
		return none, apiErr(CodeConflict, "revision %q is not the latest of %s", in.RevisionID, m.arn)
	}
	if n := len(m.versions); n > 0 && m.versions[n-1].revision == r.number {
		return PublishStateMachineVersionOutput{Time{m.versions[n-1].created}, versionARN(m, n)}, nil
	}
	l := versionLine{kindVersion, m.arn, r.number, Time{now()}}
	if err := e.write(l); err != nil {
		return none, e.usable()
	}
	if err := e.applyVersion(l); err != nil {
		return none, err
	}
	return PublishStateMachineVersionOutput{l.Created, versionARN(m, len(m.versions))}, nil
}

func versionARN(m *machine, number int) string { return m.arn + ":" + strconv.Itoa(number) }

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
		m, _, err := e.resolve(r.VersionARN, "")
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

// qualified cuts the version or alias off an ARN of a state machine.
func qualified(arn string) (machineARN, qualifier string, ok bool) {
	if strings.Count(arn, ":") < 7 {
		return arn, "", false
	}
	i := strings.LastIndex(arn, ":")
	return arn[:i], arn[i+1:], true
}

// resolve finds the revision that an execution of this name runs by the ARN of a
// state machine (its latest), a version, or an alias. By weights the name
// decides, so that the same start asked for twice goes one way. The lock is held.
func (e *Engine) resolve(arn, execution string) (*machine, *revision, error) {
	base, qualifier, ok := qualified(arn)
	m, err := e.findMachine(base)
	if err != nil || !ok {
		if err == nil {
			return m, m.latest(), nil
		}
		return nil, nil, err
	}
	if n, err := strconv.Atoi(qualifier); err == nil {
		if n < 1 || n > len(m.versions) {
			return nil, nil, apiErr(CodeStateMachineDoesNotExist, "State Machine Does Not Exist: '%s'", arn)
		}
		return m, m.revisions[m.versions[n-1].revision], nil
	}
	a := m.aliases[qualifier]
	if a == nil {
		return nil, nil, apiErr(CodeStateMachineDoesNotExist, "State Machine Does Not Exist: '%s'", arn)
	}
	at := e.source.fraction("route", arn, execution) * 100
	for _, r := range a.routes {
		if at -= float64(r.Weight); at < 0 {
			return e.resolve(r.VersionARN, execution)
		}
	}
	return e.resolve(a.routes[len(a.routes)-1].VersionARN, execution)
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

// ListStateMachineVersionsInput is the input of ListStateMachineVersions.
type ListStateMachineVersionsInput struct {
	StateMachineARN string `json:"stateMachineArn"`
}

// VersionItem is a version in a list.
type VersionItem struct {
	VersionARN   string `json:"stateMachineVersionArn"`
	CreationDate Time   `json:"creationDate"`
}

// ListStateMachineVersionsOutput is the output of ListStateMachineVersions.
type ListStateMachineVersionsOutput struct {
	Versions []VersionItem `json:"stateMachineVersions"`
}

// ListStateMachineVersions lists the versions of a state machine, newest first,
// in one page. Errors: InvalidArn, StateMachineDoesNotExist.
func (e *Engine) ListStateMachineVersions(in ListStateMachineVersionsInput) (ListStateMachineVersionsOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m, err := e.findMachine(in.StateMachineARN)
	if err != nil {
		return ListStateMachineVersionsOutput{}, err
	}
	out := ListStateMachineVersionsOutput{Versions: []VersionItem{}}
	for n := len(m.versions); n > 0; n-- {
		out.Versions = append(out.Versions, VersionItem{versionARN(m, n), Time{m.versions[n-1].created}})
	}
	return out, nil
}
