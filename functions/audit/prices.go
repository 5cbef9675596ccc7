package audit

import (
	"context"
	"time"

	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/usage"
)

// prices counts the model calls of today and of the day before that no price is
// known for. Nothing of ours is wrong then, but the bill that operators see is
// too low: a price is a row that somebody must put.
func (a *audit) prices(ctx context.Context) error {
	store := usage.Store{DB: a.DB, Usage: a.Usage, Prices: a.Prices, Retry: a.Retry}
	models := map[string]int{}
	missing := 0
	for _, ago := range []time.Duration{0, 24 * time.Hour} {
		bill, err := store.Bill(ctx, "", a.rep.Started.Add(-ago).UTC().Format(time.DateOnly))
		if err != nil {
			return err
		}
		missing += bill.NoPrice
		for _, g := range bill.Groups {
			models[g.Model] += g.Unpriced
		}
	}
	metric.Count(ctx, metric.PriceMissing, missing, "unpriced", models)
	return nil
}
