package fleet_test

import (
	"encoding/json"
	"fmt"

	"fastbowlinglab/integration/fleet"
	"fastbowlinglab/statemachine"
)

// definition is the analysis's, from Begin to the verdict of the pose pass: nothing
// is looked at before and nothing follows. The heartbeat is as short as the workers'
// timers are. A job that finds no worker asks again after two seconds, and its rounds are
// not counted: the hundred that are allowed last for half a day of growing waits, and
// would be over here before a slow machine is done with the other jobs.
func definition(arns map[string]string) ([]byte, error) {
	text, err := statemachine.Fill(statemachine.Analysis, arns)
	if err != nil {
		return nil, err
	}
	var def map[string]any
	if err := json.Unmarshal(text, &def); err != nil {
		return nil, err
	}
	states, ok := def["States"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the definition has no states")
	}
	for name, becomes := range map[string]map[string]any{
		"Wake":           {"Type": "Pass", "Next": "Precheck"},
		"Precheck":       {"Type": "Pass", "Result": map[string]any{"verdict": "pass"}, "ResultPath": "$.precheck", "Next": "Bowling"},
		"DispatchWait":   {"Type": "Wait", "Seconds": 2, "Next": "DispatchAgain"},
		"DispatchAgain":  {"Type": "Pass", "Next": "Probe"},
		"Findings":       {"Type": "Succeed"},
		"RejectMeasured": {"Type": "Fail"},
		"Settle":         {"Type": "Fail", "ErrorPath": "$.error.Error", "CausePath": "$.error.Cause"},
	} {
		if _, ok := states[name]; !ok {
			return nil, fmt.Errorf("the definition has no state %s", name)
		}
		states[name] = becomes
	}
	await, ok := states["AwaitPose"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the definition has no state AwaitPose")
	}
	await["HeartbeatSeconds"] = int(fleet.Heartbeat.Seconds())
	reachable(def["StartAt"].(string), states)
	return json.Marshal(def)
}

// reachable drops the states that nothing leads to any more.
func reachable(start string, states map[string]any) {
	seen := map[string]bool{}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				if name, ok := x.(string); ok && (k == "Next" || k == "Default") && !seen[name] {
					seen[name] = true
					visit(states[name])
				}
				visit(x)
			}
		case []any:
			for _, x := range v {
				visit(x)
			}
		}
	}
	seen[start] = true
	visit(states[start])
	for name := range states {
		if !seen[name] {
			delete(states, name)
		}
	}
}
