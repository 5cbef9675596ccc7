package infra

import (
	"path/filepath"
	"strings"
	"testing"

	"fastbowlinglab/infra/cost"
)

// TestCost: an idle month costs at most 30 dollars, and an analysis cents.
func TestCost(t *testing.T) {
	synth(t)
	prices, profile, err := cost.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name := range prices.Prices {
		kind, _, _ := strings.Cut(name, "_")
		if s := prices.Sources[kind]; !strings.HasPrefix(s.Page, "https://aws.amazon.com/") || s.Compared == "" {
			t.Errorf("%s has no source", name)
		}
	}
	all, err := cost.Read(filepath.Join(synthDir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	idle := cost.Idle(prices, all)
	if usd := cost.Sum(idle); usd > 30 || usd < 15 {
		t.Errorf("an idle month costs %.2f dollars, want at most 30: %v", usd, idle)
	}
	each, err := cost.Analysis(prices, profile, all)
	if err != nil {
		t.Fatal(err)
	}
	if usd := cost.Sum(each); usd > 0.10 || usd < 0.005 {
		t.Errorf("an analysis costs %.4f dollars: %v", usd, each)
	}
}
