package credit_test

import (
	"testing"
	"time"

	"fastbowlinglab/shared/credit"
)

// Field case 14: a row whose time is over and that is still there is as one that was
// reaped. An event's id may then name another event, and a refund that waited in
// vain for its purchase takes nothing from one that comes at last.
func TestExpiredRowsAreNoRows(t *testing.T) {
	s, _ := payments(t)
	at := time.Date(2026, 1, 31, 23, 59, 59, 0, time.UTC)
	s.Now = func() time.Time { return at }
	const day = 24 * time.Hour

	pay(t, s, event("x1", credit.PaymentCompleted, "px", "x", 2))
	at = at.Add(31 * day)
	other := event("x1", credit.PaymentCompleted, "px2", "x", 3)
	other.BodyHash = "another"
	pay(t, s, other)
	standing(t, s, "x", 5, 2)

	pay(t, s, event("y1", credit.PaymentRefunded, "py", "y", 2))
	at = at.Add(91 * day)
	p := pay(t, s, event("y2", credit.PaymentCompleted, "py", "y", 5))
	if p.Bought != 5 || p.Refunded != 0 {
		t.Errorf("%+v; want the purchase alone", p)
	}
	standing(t, s, "y", 5, 1)
	pay(t, s, event("y3", credit.PaymentRefunded, "py", "y", 1)) // and the row goes on from there
	standing(t, s, "y", 4, 2)

	// A refund within its time waits.
	pay(t, s, event("z1", credit.PaymentRefunded, "pz", "z", 2))
	at = at.Add(89 * day)
	pay(t, s, event("z2", credit.PaymentCompleted, "pz", "z", 5))
	standing(t, s, "z", 3, 2)
}
