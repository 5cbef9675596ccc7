package statemachine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"fastbowlinglab/shared/names"
)

// slack is by how much a state outwaits its function, so that the function's own
// time-out is the one that is seen.
const slack = 10 * time.Second

// Check holds a definition against the rest of the system: the functions that
// exist and their timeouts, the timers, the payload types and the error names.
// The error joins everything that is wrong.
func Check(name string) error {
	d, err := load(name)
	if err != nil {
		return err
	}
	return check(name, d)
}

func check(machine string, d definition) error {
	var wrong []error
	report := func(state, format string, a ...any) {
		wrong = append(wrong, fmt.Errorf("state %s: %s", state, fmt.Sprintf(format, a...)))
	}
	invoked := map[string]bool{}
	states := d.all()
	for _, name := range sortedKeys(states) {
		s := states[name]
		checkErrors(s, func(format string, a ...any) { report(name, format, a...) })
		if s.Type != "Task" {
			continue
		}
		i, err := s.invocation()
		if err != nil {
			report(name, "Parameters: %v", err)
			continue
		}
		fn, ok := functionOf(machine, i.FunctionName)
		if !ok {
			report(name, "FunctionName %q is no placeholder of a function that this state machine invokes", i.FunctionName)
			continue
		}
		invoked[fn.Name] = true
		checkTask(name, s, fn, i.Payload, func(format string, a ...any) { report(name, format, a...) })
	}
	for _, fn := range Functions(machine) {
		if !invoked[fn.Name] {
			wrong = append(wrong, fmt.Errorf("function %s is declared for this state machine, and no state invokes it", fn.Name))
		}
	}
	if least := d.lasts(machine); outlasts[machine] == 0 || time.Duration(d.TimeoutSeconds)*time.Second <= least {
		wrong = append(wrong, fmt.Errorf("TimeoutSeconds %d does not outlast the waits of this state machine (%s)", d.TimeoutSeconds, least))
	}
	return errors.Join(wrong...)
}

// functionOf finds the function behind a placeholder such as ${BeginArn}.
func functionOf(machine, reference string) (names.Function, bool) {
	for _, fn := range Functions(machine) {
		if reference == "${"+fn.ARNPlaceholder()+"}" {
			return fn, true
		}
	}
	return names.Function{}, false
}

func checkErrors(s state, report func(string, ...any)) {
	matched := [][]string{}
	for _, r := range s.Retry {
		matched = append(matched, r.ErrorEquals)
	}
	for _, c := range s.Catch {
		matched = append(matched, c.ErrorEquals)
	}
	for _, list := range matched {
		for _, e := range list {
			if !KnownError(e) {
				report("ErrorEquals holds %q, which nothing reports", e)
			}
		}
	}
}

func checkTask(name string, s state, fn names.Function, payload map[string]any, report func(string, ...any)) {
	checkTimers(name, s, fn, report)
	checkRetry(name, s, report)
	c := contracts[fn.Name]
	sent, optional := fields(c.in)
	for _, key := range sortedKeys(payload) {
		field := strings.TrimSuffix(key, ".$")
		if !sent[field] {
			report("the payload has %s, which %s does not read", field, fn.Name)
		}
		if _, ok := travelling[field]; !ok {
			report("the payload has %s, which may not travel between states", field)
		}
		delete(sent, field)
	}
	for _, field := range sortedKeys(sent) {
		if !optional[field] {
			report("the payload lacks %s, which %s needs", field, fn.Name)
		}
	}
	checkResult(s, fn, c, report)
}

// checkResult looks at what is kept of an answer: fields that exist, and that an
// answer never leaves out, since a path that finds nothing ends the execution.
func checkResult(s state, fn names.Function, c contract, report func(string, ...any)) {
	given, optional := fields(c.out)
	prefix := "$.Payload."
	if s.waits() {
		prefix = "$."
	}
	if s.ResultSelector == nil || s.ResultPath == "" {
		report("the whole answer would be kept: ResultSelector or ResultPath is missing")
	}
	for _, key := range sortedKeys(s.ResultSelector) {
		if _, constant := s.ResultSelector[key].(map[string]any); constant {
			continue
		}
		path, _ := s.ResultSelector[key].(string)
		field, ok := strings.CutPrefix(path, prefix)
		switch {
		case !ok || !given[field]:
			report("ResultSelector takes %s, which %s does not give", path, fn.Name)
		case optional[field]:
			report("ResultSelector takes %s, which %s may leave out", path, fn.Name)
		}
		if _, ok := travelling[strings.TrimSuffix(key, ".$")]; !ok {
			report("ResultSelector keeps %s, which may not travel between states", key)
		}
	}
}

func checkTimers(name string, s state, fn names.Function, report func(string, ...any)) {
	timeout := time.Duration(s.TimeoutSeconds) * time.Second
	heartbeat := time.Duration(s.HeartbeatSeconds) * time.Second
	want, isWaiting := waiting[name]
	switch {
	case s.waits() != isWaiting:
		report("waits for a task token: %t, and it has timers for that: %t", s.waits(), isWaiting)
	case isWaiting && (timeout != want.timeout || heartbeat != want.heartbeat):
		report("TimeoutSeconds and HeartbeatSeconds are %s and %s; shared/names says %s and %s", timeout, heartbeat, want.timeout, want.heartbeat)
	case !isWaiting && (timeout < fn.Timeout+slack || timeout > fn.Timeout+2*slack):
		report("TimeoutSeconds is %s; function %s takes up to %s, and the state must wait %s to %s longer", timeout, fn.Name, fn.Timeout, slack, 2*slack)
	case !isWaiting && heartbeat != 0:
		report("HeartbeatSeconds without a task token: nobody would send heartbeats")
	}
}
