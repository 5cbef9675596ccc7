package faults

import (
	"slices"
	"time"

	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/budget"
)

// modelLimit is the limit of the paid model in these worlds: so tight that two
// calls of one analysis would break it, and so wide that clocks that differ by
// clockSpread do not hide that.
var modelLimit = budget.Limit{Rate: 1.0 / 40, Burst: 1}

// clockSpread is how far the clocks of two functions may be apart here (see skew).
const clockSpread = 14 * time.Second

// spaced checks I7: no window of any length sees more calls than the budget allows
// with clocks that far apart. A call that left later than its place, because its
// process was stopped or an answer of the database was late, is the way to the
// provider and not the budget's doing: such calls do not count.
func (o *observer) spaced(calls []virtual.Departure) {
	var at []time.Time
	for _, d := range calls {
		if d.At.Sub(d.Due) < time.Second {
			at = append(at, d.At)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	for i := range at {
		for j := i + 1; j < len(at); j++ {
			window := at[j].Sub(at[i])
			most := float64(modelLimit.Burst) + modelLimit.Rate*(window+clockSpread).Seconds()
			if n := j - i + 1; float64(n) > most {
				o.violation("I7", "%d calls of the model left within %s; %.2f are allowed", n, window, most)
				return
			}
		}
	}
}
