package histories

import (
	"encoding/json"
	"strings"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/names"
)

// always is a condition that holds for whatever stands.
const always = "attribute_exists(effect) OR attribute_not_exists(effect)"

// without switches off, for a test, one guard of the libraries that keep rows in
// the effects table: the condition that contains guard holds always.
func without(guard string) func(*virtual.Options) {
	return func(o *virtual.Options) {
		o.Rewrite = func(c virtual.Call) [][]byte {
			if c.Service != "dynamodb" || c.Op != "PutItem" && c.Op != "UpdateItem" {
				return nil
			}
			var m map[string]any
			if json.Unmarshal(c.Body, &m) != nil || m["TableName"] != names.Effects.Name {
				return nil
			}
			cond, _ := m["ConditionExpression"].(string)
			if !strings.Contains(cond, guard) {
				return nil
			}
			m["ConditionExpression"] = always
			virtual.Prune(m)
			b, err := json.Marshal(m)
			if err != nil {
				return nil // it was decoded from JSON
			}
			return [][]byte{b}
		}
	}
}
