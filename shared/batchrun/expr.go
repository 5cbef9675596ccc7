package batchrun

import "strings"

// reserved are the attributes whose names are words of DynamoDB's expressions.
var reserved = map[string]string{"#s": "state", "#o": "open", "#e": "effect", "#w": "owner", "#u": "until", "#n": "new", "#k": "unknown", "#m": "missing"}

// used picks the names that an expression uses.
func used(expr string) map[string]string {
	out := map[string]string{}
	for short, name := range reserved {
		if strings.Contains(expr, short) {
			out[short] = name
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
