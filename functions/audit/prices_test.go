package audit_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"fastbowlinglab/shared/names"
	"fastbowlinglab/shared/usage"
)

// TestCountsCallsWithoutPrice: a call of a model that nobody priced is counted;
// one whose tokens are not known, or of a model that is priced, is not.
func TestCountsCallsWithoutPrice(t *testing.T) {
	w := sound(t)
	now := time.Now()
	for i, c := range []usage.Call{
		{Model: "somebody.new-model-v1:0", Tokens: usage.Tokens{Input: usage.Count(10), Output: usage.Count(5), CacheRead: usage.Count(0), CacheWrite: usage.Count(0)}},
		{Model: "somebody.new-model-v1:0", At: now.Add(-24 * time.Hour), Tokens: usage.Tokens{Input: usage.Count(1), Output: usage.Count(1), CacheRead: usage.Count(0), CacheWrite: usage.Count(0)}},
		{Model: "somebody.new-model-v1:0", At: now.Add(-72 * time.Hour), Tokens: usage.Tokens{Input: usage.Count(1), Output: usage.Count(1), CacheRead: usage.Count(0), CacheWrite: usage.Count(0)}},
		{Model: usage.Shipped()[0].Model, Tokens: usage.Tokens{Output: usage.Count(5)}},
	} {
		c.AnalysisID, c.Attempt, c.Task, c.Fence, c.Provider, c.Outcome = w.ids["ready"], 1, "coaching", int64(i+1), "bedrock", "ok"
		if c.At.IsZero() {
			c.At = now
		}
		if err := usage.Record(t.Context(), w.db, names.Usage.Name, c); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	defer slog.SetDefault(was)
	w.audit(now)
	if !strings.Contains(log.String(), `"PriceMissing":2`) {
		t.Errorf("the audit logs\n%s\nwant PriceMissing 2: today's and yesterday's calls", log.String())
	}
}
