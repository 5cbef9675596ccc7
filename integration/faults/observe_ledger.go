package faults

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/integration/promises"
	"fastbowlinglab/integration/virtual"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/names"
)

// credits looks at the ledger after it changed: I3.
func (o *observer) credits(c *virtual.Cloud) {
	l, err := ledger(c)
	if err != nil {
		return
	}
	l.Check(o.violation)
}

func ledger(c *virtual.Cloud) (promises.Ledger, error) {
	all, err := items(c, names.Credits, virtual.Athlete)
	if err != nil {
		return promises.Ledger{}, err
	}
	return promises.ReadLedger(all)
}

// bought checks that what came into the ledger is what was granted and sold, once
// each, less what was taken back as far as it was still there: I3.
func (w *world) bought(c *virtual.Cloud) {
	l, err := ledger(c)
	if err != nil {
		w.obs.violation("I9", "%v", err)
		return
	}
	least, most := w.granted, w.granted
	if w.paid {
		least, most = least+bought-refunded, most+bought
	}
	if in := -l.Charge(""); in < least || in > most {
		w.obs.violation("I3", "%d credits came in, %d to %d were granted and paid for", in, least, most)
	}
	if w.paid {
		w.payment(c)
	}
}

// payment checks that the totals of the one payment are what was told: I3.
func (w *world) payment(c *virtual.Cloud) {
	all, err := items(c, names.Credits, virtual.Athlete)
	if err != nil {
		w.obs.violation("I9", "%v", err)
		return
	}
	var cause string
	taken := int64(0)
	for _, it := range all {
		var e credit.Entry
		if attributevalue.UnmarshalMap(it, &e) != nil {
			continue
		}
		switch e.Kind {
		case credit.KindPurchase:
			_, cause, _ = strings.Cut(e.Entry, "#")
		case credit.KindRevoke:
			taken -= e.Credits
		}
	}
	var p credit.Payment
	it, err := item(c, names.Effects, map[string]ddb.AttributeValue{"effect": &ddb.AttributeValueMemberS{Value: credit.PaymentKey(cause)}})
	if err != nil || attributevalue.UnmarshalMap(it, &p) != nil {
		w.obs.violation("I9", "payment of %s: %v", cause, err)
		return
	}
	if p.Bought != bought || p.Refunded != refunded || p.Revoked != taken {
		w.obs.violation("I3", "%d bought, %d refunded and %d taken back were told of a payment whose row says %d, %d and %d",
			bought, refunded, taken, p.Bought, p.Refunded, p.Revoked)
	}
}
