package histories

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"fastbowlinglab/integration/faults"
	"fastbowlinglab/integration/virtual"
)

// The checks can fail: with a guard off, no order of the model explains what was
// seen, within a stated number of histories.
func TestWithoutAGuard(t *testing.T) {
	const most = 4 * seeds
	guard := func(names ...string) func(*virtual.Options) {
		return func(o *virtual.Options) {
			if err := faults.Off(o, names...); err != nil {
				t.Fatal(err)
			}
		}
	}
	var start time.Time
	for _, tc := range []struct {
		name  string
		off   func(*virtual.Options)
		model func() porcupine.NondeterministicModel
		body  func(c *virtual.Cloud, d faults.Dice, r *recorder)
	}{
		{"outcome: who comes second finds the end, and its notice", guard("notice-key"), endModel, ends},
		{"credit: the balance suffices", guard("balance"), ledgerModel, credits},
		{"credit: a reservation's row and entry are absent", guard("reserve-key"), ledgerModel, credits},
		{"lease: it is free, ours, or ran out", without("attribute_not_exists(#t)"), leaseModel, leased},
		{"budget: an idle one begins anew once", without("attribute_not_exists(tat)"), func() porcupine.NondeterministicModel { return placesModel(start) }, reserving(&start)},
		{"effect: a key is claimed where there is none", without("attribute_not_exists(effect)"), effectModel, once},
		{"effect: a claim is taken over as it was seen", without("fence = :fence AND #s = :state"), effectModel, takenOver},
		{"effect: only a claim's owner records its result", without("#s = :claimed AND #o = :owner"), effectModel, takenOver},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for seed := range uint64(most) {
				if explained(tc.model(), world(t, seed, tc.off, tc.body)) != nil {
					t.Logf("no order explains history %d", seed)
					return
				}
			}
			t.Errorf("%d histories looked right", most)
		})
	}
}
