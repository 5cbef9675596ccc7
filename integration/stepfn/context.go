package stepfn

import (
	"encoding/json"
	"strconv"
)

// context makes the context object ($$) of this visit. token is "" unless the
// state waits for one.
func (v *visit) context(token string) any {
	x := v.r.x
	execution := map[string]any{
		"Id": x.arn, "Name": x.name, "Input": x.value, "RoleArn": x.rev.role,
		"StartTime": iso(x.start), "RedriveCount": json.Number(strconv.Itoa(v.r.sc.drive)),
	}
	if v.r.sc.drive > 0 {
		execution["RedriveTime"] = iso(v.r.redriven)
	}
	out := map[string]any{
		"Execution": execution,
		"State": map[string]any{
			"Name": v.s.Name, "EnteredTime": iso(v.when),
			"RetryCount": json.Number(strconv.Itoa(v.attempt)),
		},
		"StateMachine": map[string]any{"Id": x.machine.arn, "Name": x.machine.name},
	}
	if token != "" {
		out["Task"] = map[string]any{"Token": token}
	}
	if v.sc.item != nil {
		out["Map"] = map[string]any{"Item": v.sc.item}
	}
	return out
}
