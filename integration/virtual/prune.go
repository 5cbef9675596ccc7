package virtual

import "regexp"

var placeholder = regexp.MustCompile(`[:#][A-Za-z0-9_]+`)

// Prune takes the names and values out of a DynamoDB write that no expression of it
// uses any more, since the database would refuse it: for a guard that was taken away.
func Prune(write map[string]any) {
	used := map[string]bool{}
	for _, field := range []string{"ConditionExpression", "UpdateExpression"} {
		expr, _ := write[field].(string)
		for _, p := range placeholder.FindAllString(expr, -1) {
			used[p] = true
		}
	}
	for _, field := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		held, _ := write[field].(map[string]any)
		for p := range held {
			if !used[p] {
				delete(held, p)
			}
		}
		if len(held) == 0 {
			delete(write, field)
		}
	}
}
