package usage_test

import (
	"testing"
	"time"

	"fastbowlinglab/shared/usage"
)

// The must-hold: correcting a price changes the cost of calls made a month ago,
// to the digit. Every figure here was worked out by hand: tokens x dollars a
// million / 10^6.
func TestACorrectedPriceReachesBackAMonth(t *testing.T) {
	w := newWorld(t)
	month := day("2026-10-29")
	w.price(usage.Price{Model: "amazon.nova-lite-v1:0", From: "2026-01-01", Input: "0.06", Output: "0.24", CacheRead: "0.015", CacheWrite: "0.075"})
	w.price(usage.Price{Model: "amazon.nova-lite-v1:0", From: "2026-11-16", Input: "0.05", Output: "0.2", CacheRead: "0.0125", CacheWrite: "0"})
	for i, c := range []struct {
		model  string
		at     time.Time
		tokens usage.Tokens
	}{
		{"us.amazon.nova-lite-v1:0", month, tokens(5120, 310, 0, 0)},                // answered
		{"us.amazon.nova-lite-v1:0", month.Add(time.Minute), tokens(5120, 7, 0, 0)}, // failed, and paid for
		{"eu.amazon.nova-lite-v1:0", month.Add(time.Hour), tokens(120, 310, 4000, 1000)},
		{"amazon.nova-lite-v1:0", day("2026-11-15"), tokens(1, 1, 1, 1)}, // the last day of the old price
		{"amazon.nova-lite-v1:0", day("2026-11-16"), tokens(1, 1, 1, 1)}, // the first of the new
	} {
		k := call("findings", int64(i+1), c.at, c.tokens)
		k.Model = c.model
		w.record(k)
	}
	check := func(when string, want [5]string, total string) {
		t.Helper()
		b := w.bill("an-1", "")
		if len(b.Lines) != 5 || b.TotalUSD != total || b.Unpriced != 0 {
			t.Fatalf("%s: %d lines, total %s, want %s", when, len(b.Lines), b.TotalUSD, total)
		}
		for i, l := range b.Lines {
			if l.CostUSD == nil || *l.CostUSD != want[i] {
				t.Errorf("%s: line %d costs %v, want %s", when, i, l.CostUSD, want[i])
			}
		}
	}
	check("at first", [5]string{
		"0.0003816",    // (5120 x 0.06 + 310 x 0.24) / 10^6 = (307.2 + 74.4) / 10^6
		"0.00030888",   // (307.2 + 7 x 0.24) / 10^6 = 308.88 / 10^6
		"0.0002166",    // (120 x 0.06 + 310 x 0.24 + 4000 x 0.015 + 1000 x 0.075) / 10^6 = (7.2 + 74.4 + 60 + 75) / 10^6
		"0.00000039",   // 0.06 + 0.24 + 0.015 + 0.075 = 0.39
		"0.0000002625", // 0.05 + 0.2 + 0.0125 + 0 = 0.2625
	}, "0.0009077325") // 381.6 + 308.88 + 216.6 + 0.39 + 0.2625 = 907.7325
	// The list said 0.06 where it should have said 0.07; the row is put right.
	w.price(usage.Price{Model: "amazon.nova-lite-v1:0", From: "2026-01-01", Input: "0.07", Output: "0.24", CacheRead: "0.015", CacheWrite: "0.075"})
	check("corrected", [5]string{
		"0.0004328",  // 5120 x 0.07 = 358.4; + 74.4 = 432.8
		"0.00036008", // 358.4 + 1.68 = 360.08
		"0.0002178",  // 8.4 + 74.4 + 60 + 75 = 217.8
		"0.0000004",  // 0.40
		"0.0000002625",
	}, "0.0010113425") // 432.8 + 360.08 + 217.8 + 0.4 + 0.2625 = 1011.3425
	if b := w.bill("", "2026-10-29"); b.TotalUSD != "0.00101068" || len(b.Lines) != 3 { // 432.8 + 360.08 + 217.8 = 1010.68
		t.Errorf("the day a month ago: %s over %d calls", b.TotalUSD, len(b.Lines))
	}
}

// A price of 0 is a price; no price is an error of that line, never 0.
func TestFreeIsNotUnpriced(t *testing.T) {
	w := newWorld(t)
	w.price(usage.Price{Model: "free", From: "2026-01-01", Input: "0", Output: "0", CacheRead: "0", CacheWrite: "0"})
	for i, model := range []string{"free", "unlisted", "us.free"} {
		c := call("coaching", int64(i+1), day("2026-10-29").Add(time.Duration(i)*time.Second), tokens(100, 100, 0, 0))
		c.Model = model
		w.record(c)
	}
	b := w.bill("an-1", "")
	if b.TotalUSD != "0.00" || b.Unpriced != 1 || len(b.Lines) != 3 {
		t.Fatalf("%+v", b)
	}
	if l := b.Lines[0]; l.CostUSD == nil || *l.CostUSD != "0.00" || l.Error != "" {
		t.Errorf("free: %+v", l)
	}
	if l := b.Lines[1]; l.CostUSD != nil || l.Error != "unlisted has no price on 2026-10-29" {
		t.Errorf("unlisted: %+v", l)
	}
}

func TestQueryByTaskAndModel(t *testing.T) {
	w := newWorld(t)
	w.price(usage.Price{Model: "m", From: "2026-01-01", Input: "1", Output: "2", CacheRead: "0", CacheWrite: "0"})
	at := day("2026-10-29")
	for i, c := range []struct {
		task, model string
		tokens      usage.Tokens
	}{
		{"findings", "us.m", tokens(10, 1, 0, 0)}, {"findings", "us.m", tokens(20, 2, 0, 0)}, {"coaching", "us.m", tokens(5, 5, 0, 0)},
		{"findings", "other", tokens(1, 1, 0, 0)}, {"findings", "us.m", usage.Tokens{Input: usage.Count(7)}},
	} {
		k := call(c.task, int64(i+1), at.Add(time.Duration(i)*time.Second), c.tokens)
		k.Model = c.model
		w.record(k)
	}
	for _, c := range []struct {
		q     usage.Query
		lines int
		total string
	}{
		{usage.Query{Day: "2026-10-29"}, 5, "0.000051"}, // 12 + 24 + 15 = 51
		{usage.Query{Day: "2026-10-29", Task: "findings"}, 4, "0.000036"},
		{usage.Query{AnalysisID: "an-1", Model: "eu.m"}, 4, "0.000051"}, // the same model elsewhere
		{usage.Query{AnalysisID: "an-1", Task: "coaching", Model: "m"}, 1, "0.000015"},
		{usage.Query{AnalysisID: "an-1", Task: "render"}, 0, "0.00"},
	} {
		b, err := w.Query(t.Context(), c.q)
		if err != nil || len(b.Lines) != c.lines || b.TotalUSD != c.total {
			t.Errorf("%+v: %d lines, %s, %v; want %d, %s", c.q, len(b.Lines), b.TotalUSD, err, c.lines, c.total)
		}
	}
	b := w.bill("an-1", "")
	if len(b.Groups) != 3 || b.Groups[2].Task != "findings" || b.Groups[2].Model != "us.m" || b.Groups[2].Calls != 3 || b.Groups[2].Unpriced != 1 ||
		b.Groups[2].TotalUSD != "0.000036" || b.Groups[2].Tokens.Output != nil || *b.Groups[2].Tokens.Input != 37 {
		t.Errorf("groups %+v", b.Groups)
	}
}
