package batch_test

import (
	"encoding/json"
	"testing"

	"fastbowlinglab/functions/watch"
	"fastbowlinglab/shared/names"
)

// since reads what the watcher says of the tags.
func since(t *testing.T, out []byte, fail string) float64 {
	t.Helper()
	var o watch.Out
	if err := json.Unmarshal(out, &o); fail != "" || err != nil {
		t.Errorf("watch: %s %s %v", out, fail, err)
	}
	return o.Seconds[names.EffectTags]
}
