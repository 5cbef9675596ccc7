package faults

import (
	"bytes"
	"encoding/json"
	"strings"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

// routeGuards are those of what athletes read, and of the forms that they are given.
func routeGuards() []Guard {
	return []Guard{
		{"owner", "an analysis is its athlete's: here the stranger reads each as their own", "I9", 60, func(o *virtual.Options) {
			o.Reply = func(c virtual.Call, reply []byte) []byte {
				if c.Op != "GetItem" || c.Table() != "analyses" || !strings.HasPrefix(c.Actor, "api/client-stranger/") {
					return nil
				}
				return bytes.Replace(reply, []byte(`"`+virtual.Athlete+`"`), []byte(`"`+stranger+`"`), 1)
			}
		}},
		{"export-owner", "an export lists the analyses of whoever the token names: here the athlete's to the stranger", "I9", 60, func(o *virtual.Options) {
			o.Rewrite = func(c virtual.Call) [][]byte {
				if c.Op != "Query" || c.Table() != "analyses" || !strings.HasPrefix(c.Actor, "api/client-stranger/") {
					return nil
				}
				return [][]byte{bytes.ReplaceAll(c.Body, []byte(`"`+stranger+`"`), []byte(`"`+virtual.Athlete+`"`))}
			}
		}},
		{"forms", "forms are signed while an analysis waits for its clips: here it reads as if it did for ever", "I9", 60, asReserved("api/client-forms/")},
		{"pin", "a clip is pinned once, by the first confirm: neither by the read nor by the condition", "I9", 130, func(o *virtual.Options) {
			rewriting(func(r *request) {
				if w := r.only("UpdateItem", names.Analyses); w != nil && strings.Contains(w.expr(), "queued_at = :now") {
					r.dropCondition(0)
				}
			})(o)
			asReserved("api/client-op/")(o)
		}},
	}
}

// asReserved lets some read an analysis as waiting for its clips, however it stands.
func asReserved(actor string) func(*virtual.Options) {
	return func(o *virtual.Options) {
		o.Reply = func(c virtual.Call, reply []byte) []byte {
			if c.Op != "GetItem" || c.Table() != "analyses" || !strings.HasPrefix(c.Actor, actor) {
				return nil
			}
			var m map[string]any
			if json.Unmarshal(reply, &m) != nil || attribute(m["Item"], "status") == "" {
				return nil
			}
			m["Item"].(map[string]any)["status"] = map[string]any{"S": "reserved"}
			return encode(m)
		}
	}
}
