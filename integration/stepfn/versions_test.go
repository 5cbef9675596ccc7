package stepfn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// release publishes a machine whose one state is a wait and then a state of the
// given name.
func release(t *testing.T, e *Engine, m, last string) string {
	t.Helper()
	def := fmt.Sprintf(`{"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":60,"Next":%q},%q:{"Type":"Succeed"}}}`, last, last)
	if _, err := e.UpdateStateMachine(UpdateStateMachineInput{StateMachineARN: m, Definition: def}); err != nil {
		t.Fatal(err)
	}
	out, err := e.PublishStateMachineVersion(PublishStateMachineVersionInput{StateMachineARN: m})
	if err != nil {
		t.Fatal(err)
	}
	return out.VersionARN
}

// TestAliasMovesNewExecutionsOnly: release 2 is deployed while a run of release 1
// is under way.
func TestAliasMovesNewExecutionsOnly(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{Dir: dir})
		m := create(t, e, waitHour)
		one := release(t, e, m, "One")
		if one != m+":1" {
			t.Fatalf("version %s", one)
		}
		a, err := e.CreateStateMachineAlias(AliasInput{Name: "live", Routes: []Route{{one, 100}}})
		if err != nil || a.AliasARN != m+":live" {
			t.Fatal(a, err)
		}
		open := start(t, e, a.AliasARN, "open", `{}`)
		synctest.Wait()

		two := release(t, e, m, "Two")
		if _, err := e.UpdateStateMachineAlias(AliasInput{AliasARN: a.AliasARN, Routes: []Route{{two, 100}}}); err != nil {
			t.Fatal(err)
		}
		if again := start(t, e, a.AliasARN, "open", `{}`); again != open {
			t.Errorf("the same start gave %s, want %s", again, open)
		}
		later, pinned := start(t, e, a.AliasARN, "later", `{}`), start(t, e, one, "pinned", `{}`)
		for arn, want := range map[string]string{open: "A One", later: "A Two", pinned: "A One"} {
			finish(t, e, arn)
			if v := visits(history(t, e, arn)); v != want {
				t.Errorf("%s went %s, want %s", arn, v, want)
			}
		}
		byWhat(t, e, m)
	})
	synctest.Test(t, func(t *testing.T) { // a restart knows them
		e := newEngine(t, Options{Dir: dir})
		machines, err := e.ListStateMachines(ListStateMachinesInput{})
		if err != nil || len(machines.StateMachines) != 1 {
			t.Fatal(machines, err)
		}
		m := machines.StateMachines[0].StateMachineARN
		v, err := e.ListStateMachineVersions(ListStateMachineVersionsInput{m})
		if err != nil || len(v.Versions) != 2 || v.Versions[0].VersionARN != m+":2" {
			t.Errorf("versions %+v %v", v, err)
		}
		a, err := e.DescribeStateMachineAlias(AliasInput{AliasARN: m + ":live"})
		if err != nil || len(a.Routes) != 1 || a.Routes[0] != (Route{m + ":2", 100}) {
			t.Errorf("alias %+v %v", a, err)
		}
		byWhat(t, e, m)
	})
}

// byWhat: of the runs of TestAliasMovesNewExecutionsOnly it is known what started each
// of them, which is how a release is seen to have drained.
func byWhat(t *testing.T, e *Engine, m string) {
	t.Helper()
	for arn, want := range map[string]string{m: "pinned later open", m + ":1": "pinned open", m + ":2": "later", m + ":live": "later open"} {
		l, err := e.ListExecutions(ListExecutionsInput{StateMachineARN: arn})
		var got []string
		for _, x := range l.Executions {
			got = append(got, x.Name)
			d, err := e.DescribeExecution(DescribeExecutionInput{ExecutionARN: x.ExecutionARN})
			if alias := map[bool]string{true: m + ":live"}[x.Name != "pinned"]; err != nil || d.VersionARN != x.VersionARN || x.AliasARN != alias || d.AliasARN != alias {
				t.Errorf("%s: described as by %+v, listed by %+v, %v", x.Name, d.origin, x.origin, err)
			}
		}
		slices.Sort(got)
		names := strings.Fields(want)
		slices.Sort(names)
		if err != nil || !slices.Equal(got, names) {
			t.Errorf("by %s: %v %v, want %s", arn, got, err, want)
		}
	}
	if _, err := e.ListExecutions(ListExecutionsInput{StateMachineARN: m + ":3"}); err == nil {
		t.Error("a version that is not there lists executions")
	}
}

// TestCanary: about a tenth of the executions goes by the new version.
func TestCanary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{Seed: "canary"})
		m := create(t, e, waitHour)
		one, two := release(t, e, m, "One"), release(t, e, m, "Two")
		if _, err := e.CreateStateMachineAlias(AliasInput{Name: "live", Routes: []Route{{one, 90}, {two, 10}}}); err != nil {
			t.Fatal(err)
		}
		newer := 0
		for i := range 200 {
			arn := start(t, e, m+":live", fmt.Sprint("run-", i), `{}`)
			finish(t, e, arn)
			if visits(history(t, e, arn)) == "A Two" {
				newer++
			}
		}
		if newer < 8 || newer > 40 {
			t.Errorf("%d of 200 executions went by the new version, want about 20", newer)
		}
	})
}

func TestVersionErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, Options{})
		m := create(t, e, waitHour)
		one := release(t, e, m, "One")
		if again, err := e.PublishStateMachineVersion(PublishStateMachineVersionInput{StateMachineARN: m}); err != nil || again.VersionARN != one {
			t.Errorf("published again: %+v %v", again, err)
		}
		if _, err := e.PublishStateMachineVersion(PublishStateMachineVersionInput{m, "another"}); code(err) != CodeConflict {
			t.Errorf("another revision: %v", err)
		}
		for _, bad := range []struct {
			in   AliasInput
			want string
		}{
			{AliasInput{Name: "1", Routes: []Route{{one, 100}}}, CodeInvalidName},
			{AliasInput{Name: "a"}, CodeValidation},
			{AliasInput{Name: "a", Routes: []Route{{one, 90}}}, CodeValidation},
			{AliasInput{Name: "a", Routes: []Route{{m, 100}}}, CodeValidation},
			{AliasInput{Name: "a", Routes: []Route{{m + ":7", 100}}}, CodeStateMachineDoesNotExist},
		} {
			if _, err := e.CreateStateMachineAlias(bad.in); code(err) != bad.want {
				t.Errorf("%+v: %v, want %s", bad.in, err, bad.want)
			}
		}
		if _, err := e.StartExecution(StartExecutionInput{StateMachineARN: m + ":live", Name: "x"}); code(err) != CodeStateMachineDoesNotExist {
			t.Errorf("an alias that is not there: %v", err)
		}
		if _, err := e.DescribeStateMachineAlias(AliasInput{AliasARN: m + ":live"}); code(err) != CodeResourceNotFound {
			t.Errorf("an alias that is not there: %v", err)
		}
	})
}
