package promises

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/analysis"
)

// Ledger is one athlete's credits, as their items say.
type Ledger struct {
	Balance, Sum      int64
	Refunds, Reserves map[string]int   // by analysis
	net               map[string]int64 // by analysis
}

// ReadLedger adds up the items of one athlete.
func ReadLedger(items []map[string]ddb.AttributeValue) (Ledger, error) {
	l := Ledger{Refunds: map[string]int{}, Reserves: map[string]int{}, net: map[string]int64{}}
	for _, it := range items {
		var e struct {
			Entry      string `dynamodbav:"entry"`
			Kind       string `dynamodbav:"kind"`
			Credits    int64  `dynamodbav:"credits"`
			Balance    int64  `dynamodbav:"balance"`
			AnalysisID string `dynamodbav:"analysis_id"`
		}
		if err := attributevalue.UnmarshalMap(it, &e); err != nil {
			return l, fmt.Errorf("item of a ledger: %w", err)
		}
		if e.Entry == "balance" {
			l.Balance = e.Balance
			continue
		}
		l.Sum += e.Credits
		l.net[e.AnalysisID] += e.Credits
		switch e.Kind {
		case "refund":
			l.Refunds[e.AnalysisID]++
		case "reserve":
			l.Reserves[e.AnalysisID]++
		}
	}
	return l, nil
}

// Charge is what an analysis costs by its entries.
func (l Ledger) Charge(id string) int64 { return -l.net[id] }

// Price is what an end costs, in credits.
func Price(s analysis.Status) int64 {
	if s == analysis.Ready {
		return 1
	}
	return 0
}

// Check looks at the ledger by itself: I3.
func (l Ledger) Check(found Found) {
	if l.Balance < 0 {
		found("I3", "balance %d", l.Balance)
	}
	if l.Sum != l.Balance {
		found("I3", "balance %d, entries add up to %d", l.Balance, l.Sum)
	}
	for id, n := range l.Refunds {
		if n > 1 {
			found("I3", "%d refunds of %s", n, id)
		}
	}
	for id, n := range l.Reserves {
		if n > 1 {
			found("I3", "%d reservations of %s", n, id)
		}
	}
}
