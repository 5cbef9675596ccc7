package faults

import (
	"context"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/analysis"
)

// shown asks the API for every analysis and for the credits, as the app does when
// its athlete looks: it shows what stands, however the athlete was told (I4, I9).
func (w *world) shown(ctx context.Context, c *virtual.Cloud) {
	for _, id := range w.obs.ids() {
		var v struct {
			Status   analysis.Status `json:"status"`
			Refunded bool            `json:"refunded"`
		}
		r, err := c.API(ctx, virtual.Ask{Route: routeShow, Analysis: id})
		if err == nil {
			err = r.Into(&v)
		}
		row := w.obs.row(id)
		if err != nil {
			w.obs.tell("I9", "show %s: %v", id, err)
		} else if v.Status != row.Status || v.Refunded != (promises.Price(row.Status) == 0 && row.Status.Ended()) {
			w.obs.tell("I9", "the API shows %s as %s (refunded: %t), it is %s", id, v.Status, v.Refunded, row.Status)
		}
	}
	var money struct{ Balance int64 }
	r, err := c.API(ctx, virtual.Ask{Route: routeCredits})
	if err == nil {
		err = r.Into(&money)
	}
	l, lErr := ledger(c)
	if err != nil || lErr != nil {
		w.obs.tell("I9", "show the credits: %v", err)
	} else if money.Balance != l.Sum {
		w.obs.tell("I9", "the API shows a balance of %d, the entries add up to %d", money.Balance, l.Sum)
	}
}
