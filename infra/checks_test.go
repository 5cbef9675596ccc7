package infra

import (
	"fmt"
	"testing"
)

// reporter is what a check of the templates tells of its findings: a test, or
// the probe that changes the templates to see whether the checks notice.
type reporter interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// checks are all checks of the templates. mutation_test.go sees each figure that
// they guard fail.
var checks = []struct {
	name string
	run  func(reporter)
}{
	{"Alarm504", checkAlarm504}, {"Alarms", checkAlarms}, {"AlarmsReachSomebody", checkAlarmsReachSomebody},
	{"Functions", checkFunctions}, {"Figures", checkFigures}, {"Machine", checkMachine}, {"BatchMachines", checkBatchMachines},
	{"Sources", checkSources}, {"Logs", checkLogs}, {"API", checkAPI},
	{"Balancer", checkBalancer}, {"Service", checkService}, {"Queues", checkQueues}, {"Tables", checkTables},
	{"Bucket", checkBucket}, {"Users", checkUsers}, {"SignIn", checkSignIn}, {"Secrets", checkSecrets}, {"Network", checkNetwork},
	{"LeastPrivilege", checkLeastPrivilege}, {"OwnRoles", checkOwnRoles}, {"SecretsReachFew", checkSecretsReachFew}, {"MailsOnlyFromUs", checkMailsOnlyFromUs},
	{"References", checkReferences}, {"Removal", checkRemoval}, {"Roles", checkRoles}, {"LoosePolicies", checkLoosePolicies},
	{"ResourcePolicies", checkResourcePolicies}, {"Permissions", checkPermissions}, {"WorkerEnvironment", checkWorkerEnvironment},
	{"Settings", checkSettings},
}

func TestTemplates(t *testing.T) {
	synth(t)
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

// probe runs checks on templates of its own and stops at the first finding.
type probe struct {
	templates map[string]template
	found     string
	first     map[string]func(reporter) // by type of resource
}

// finding ends a check.
type finding struct{}

func (p *probe) Helper() {}
func (p *probe) Error(args ...any) {
	p.found = fmt.Sprint(args...)
	panic(finding{})
}
func (p *probe) Errorf(format string, args ...any) { p.Error(fmt.Sprintf(format, args...)) }
func (p *probe) Fatal(args ...any)                 { p.Error(args...) }
func (p *probe) Fatalf(format string, args ...any) { p.Error(fmt.Sprintf(format, args...)) }

// noticed runs checks until one has a finding, and gives it; "" for none. The one
// that had the last finding of a type of resource comes first.
func (p *probe) noticed(kind string) string {
	if f := p.run(p.first[kind]); f != "" {
		return f
	}
	for _, c := range checks {
		if f := p.run(c.run); f != "" {
			p.first[kind] = c.run
			return c.name + ": " + f
		}
	}
	return ""
}

func (p *probe) run(check func(reporter)) (found string) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case finding:
			found = p.found
		default: // a check that a template breaks has noticed it too
			found = fmt.Sprint(r)
		}
	}()
	p.found = ""
	if check != nil {
		check(p)
	}
	return ""
}
