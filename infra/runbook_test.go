package infra

import (
	"os"
	"regexp"
	"testing"

	"fastbowlinglab/shared/names"
)

// What the runbook has people type is there: stacks go by the names that the CDK
// CLI takes, and outputs are printed by the deploy.
func TestRunbookNamesWhatIsThere(t *testing.T) {
	runbook, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	all := synth(t)
	stacks := regexp.MustCompile(`cdk (?:deploy|destroy|diff) (\w[\w-]*)`).FindAllSubmatch(runbook, -1)
	if len(stacks) == 0 {
		t.Error("the runbook deploys no stack by its name: how is the intake closed?")
	}
	for _, m := range stacks {
		if _, ok := all[string(m[1])]; !ok {
			t.Errorf("%q: there is no such stack", m[0])
		}
	}
	for stack, outputs := range map[string][]string{"API": {names.APIOutput}, "Data": {names.PageOutput, "UserPool", "AppClient", "AlarmTopic", "CallbackKeysSecret"}} {
		for _, o := range outputs {
			if _, ok := all[stack].Outputs[o]; !ok {
				t.Errorf("stack %s has no output %s", stack, o)
			}
			if !regexp.MustCompile("`" + o + "`").Match(runbook) {
				t.Errorf("the runbook says nothing of the output %s", o)
			}
		}
	}
}
