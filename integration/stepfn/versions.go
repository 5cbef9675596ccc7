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

// versionLine records a published version.
type versionLine struct {
	Kind     string `json:"t"`
	Machine  string `json:"machine"`
	Revision int    `json:"revision"`
	Created  Time   `json:"created"`
}

func (e *Engine) applyVersion(l versionLine) error {
	m := e.machines[l.Machine]
	if m == nil || l.Revision < 0 || l.Revision >= len(m.revisions) {
		return fmt.Errorf("version: no revision %d of %s", l.Revision, l.Machine)
	}
	m.versions = append(m.versions, published{l.Revision, l.Created.Time})
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
func (e *Engine) resolve(arn, execution string) (*machine, *revision, origin, error) {
	none := origin{}
	base, qualifier, ok := qualified(arn)
	m, err := e.findMachine(base)
	if err != nil || !ok {
		if err == nil {
			return m, m.latest(), none, nil
		}
		return nil, nil, none, err
	}
	if n, err := strconv.Atoi(qualifier); err == nil {
		if n < 1 || n > len(m.versions) {
			return nil, nil, none, apiErr(CodeStateMachineDoesNotExist, "State Machine Does Not Exist: '%s'", arn)
		}
		return m, m.revisions[m.versions[n-1].revision], origin{VersionARN: arn}, nil
	}
	a := m.aliases[qualifier]
	if a == nil {
		return nil, nil, none, apiErr(CodeStateMachineDoesNotExist, "State Machine Does Not Exist: '%s'", arn)
	}
	to := a.routes[len(a.routes)-1].VersionARN
	at := e.source.fraction("route", arn, execution) * 100
	for _, r := range a.routes {
		if at -= float64(r.Weight); at < 0 {
			to = r.VersionARN
			break
		}
	}
	m, rev, from, err := e.resolve(to, execution)
	from.AliasARN = arn
	return m, rev, from, err
}

// origin is what an execution was started by, each "" if it was not.
type origin struct {
	VersionARN string `json:"stateMachineVersionArn,omitempty"`
	AliasARN   string `json:"stateMachineAliasArn,omitempty"`
}

// by reports whether an execution is one of a state machine's, a version's or an alias's.
func (o origin) by(arn string) bool {
	_, _, ok := qualified(arn)
	return !ok || arn == o.VersionARN || arn == o.AliasARN
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
