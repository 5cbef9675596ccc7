package credit

import (
	"errors"
	"fmt"
	"time"

	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"fastbowlinglab/shared/stamp"
)

// EventKind is what a payment event tells.
type EventKind string

// The kinds of event. A shop may tell of one payment by the first two: they mean
// the same here.
const (
	PaymentCompleted EventKind = "payment.completed"
	PaymentSucceeded EventKind = "payment.async_succeeded"
	PaymentRefunded  EventKind = "payment.refunded"
)

// PaymentEvent is one event about a payment. Credits of a refund are the total
// refunded of this payment so far, so that events may come twice and in any
// order. No amount of money is kept: credits are whole numbers.
type PaymentEvent struct {
	EventID   string // the sender's name of the event
	BodyHash  string // of its bytes: one id has one content
	Kind      EventKind
	PaymentID string
	AthleteID string
	Credits   int64
}

// MaxPayment is the most credits of one payment.
const MaxPayment = 10_000

// Errors of a payment event.
var (
	// ErrPaymentConflict says that the event contradicts what an earlier one said
	// of the same payment: another athlete, or another number of credits bought.
	ErrPaymentConflict = errors.New("credit: the event contradicts an earlier one of the same payment")
	// ErrPaymentInvalid says that the event makes no sense by itself.
	ErrPaymentInvalid = errors.New("credit: malformed payment event")
)

func (e PaymentEvent) check() error {
	switch {
	case e.EventID == "" || e.PaymentID == "" || e.AthleteID == "":
		return fmt.Errorf("%w: it needs event, payment and athlete", ErrPaymentInvalid)
	case e.Credits < 1 || e.Credits > MaxPayment:
		return fmt.Errorf("%w: %d credits; 1 to %d", ErrPaymentInvalid, e.Credits, MaxPayment)
	case e.Kind != PaymentCompleted && e.Kind != PaymentSucceeded && e.Kind != PaymentRefunded:
		return fmt.Errorf("%w: kind %q", ErrPaymentInvalid, e.Kind)
	}
	return nil
}

// Payment is what is known of a payment: totals, which only ever grow.
type Payment struct {
	Effect    string    `dynamodbav:"effect" json:"-"`
	AthleteID string    `dynamodbav:"athlete_id" json:"-"` // or the pseudonym, once Erased
	Erased    bool      `dynamodbav:"erased,omitempty" json:"-"`
	Bought    int64     `dynamodbav:"bought" json:"bought"`     // 0 until the purchase is known
	Refunded  int64     `dynamodbav:"refunded" json:"refunded"` // as told, even before the purchase
	Settled   int64     `dynamodbav:"settled" json:"-"`         // the part of Refunded that has been acted upon
	Revoked   int64     `dynamodbav:"revoked" json:"revoked"`   // the part of it that was still there to be taken
	Version   int64     `dynamodbav:"version" json:"-"`
	At        time.Time `dynamodbav:"at" json:"-"`
	Expires   int64     `dynamodbav:"expires_at,omitempty" json:"-"` // of a refund whose purchase never came
}

// paymentCause names a payment in entries and rows, bounded however long the
// shop's id is.
func paymentCause(paymentID string) string { return digest("payment", paymentID) }

// PaymentKey is the key of a payment's row in the effects table, by the cause in
// the name of its entries.
func PaymentKey(cause string) string { return "payment#" + cause }

// movement is what an event does to a ledger.
type movement struct {
	bought, taken int64
	all           bool // taken is all that there was: the balance must be as it was read
}

// apply merges an event into p. The ledger's balance says what is left to take:
// spent credits of a refunded purchase are forgiven, once, when the refund is
// settled.
func (p Payment) apply(e PaymentEvent, balance int64) (Payment, movement, error) {
	if p.Version == 0 {
		p.AthleteID = e.AthleteID
	}
	if !p.Erased && p.AthleteID != e.AthleteID {
		return p, movement{}, fmt.Errorf("%w: another athlete", ErrPaymentConflict)
	}
	var m movement
	if e.Kind == PaymentRefunded {
		p.Refunded = max(p.Refunded, e.Credits)
	} else {
		switch p.Bought {
		case e.Credits:
		case 0:
			p.Bought, m.bought = e.Credits, e.Credits
		default:
			return p, movement{}, fmt.Errorf("%w: another number of credits", ErrPaymentConflict)
		}
	}
	if due := min(p.Refunded, p.Bought); due > p.Settled {
		left := balance + m.bought
		m.taken = min(due-p.Settled, left)
		m.all = m.taken == left
		p.Settled, p.Revoked = due, p.Revoked+m.taken
	}
	p.Version++
	return p, m, nil
}

// items is the transaction that stores p, remembers the event and moves the
// ledger. The payment's row is the guard.
func (p Payment) items(s Store, e PaymentEvent, m movement, balance int64, now time.Time) ([]ddb.TransactWriteItem, error) {
	p.At, p.Expires = now, 0
	if p.Bought == 0 {
		p.Expires = now.Add(orphanMemory).Unix()
	}
	row, err := stamp.MarshalMap(p)
	if err != nil {
		return nil, fmt.Errorf("encode a payment: %w", err)
	}
	fresh, over := "attribute_not_exists(effect) OR expires_at <= :now", map[string]ddb.AttributeValue{":now": number(now.Unix())}
	put := &ddb.Put{TableName: &s.Effects, Item: row, ConditionExpression: &fresh, ExpressionAttributeValues: over}
	if p.Version > 1 {
		seen := "version = :seen"
		put.ConditionExpression, put.ExpressionAttributeValues = &seen, map[string]ddb.AttributeValue{":seen": number(p.Version - 1)}
	}
	mark, err := stamp.MarshalMap(eventMark{e.markKey(), e.BodyHash, now.Add(eventMemory).Unix()})
	if err != nil {
		return nil, fmt.Errorf("encode an event's mark: %w", err)
	}
	out := []ddb.TransactWriteItem{{Put: put}, {Put: &ddb.Put{TableName: &s.Effects, Item: mark, ConditionExpression: &fresh, ExpressionAttributeValues: over}}}

	cause := paymentCause(e.PaymentID)
	var entries []ddb.TransactWriteItem
	if m.bought > 0 {
		entries = append(entries, change(s.Credits, Entry{AthleteID: p.AthleteID, Kind: KindPurchase, Credits: m.bought, By: "payments", At: now}, cause)[1])
	}
	if m.taken > 0 {
		entries = append(entries, change(s.Credits, Entry{AthleteID: p.AthleteID, Kind: KindRevoke, Credits: -m.taken, By: "payments", At: now},
			fmt.Sprintf("%s#%d", cause, p.Settled))[1])
	}
	if entries == nil {
		return out, nil
	}
	// One update of the balance for both entries: it is never below zero between
	// them, and one transaction may not write an item twice.
	bal := change(s.Credits, Entry{AthleteID: p.AthleteID, Credits: m.bought - m.taken}, "")[0]
	if m.all {
		cond := "balance = :read"
		if balance == 0 {
			cond = "attribute_not_exists(balance) OR balance = :read"
		}
		bal.Update.ConditionExpression = &cond
		delete(bal.Update.ExpressionAttributeValues, ":price")
		bal.Update.ExpressionAttributeValues[":read"] = number(balance)
	}
	return append(append(out, bal), entries...), nil
}

// eventMemory is how long an event's id is remembered. Its payment's totals are
// kept for good: they alone keep an old event harmless.
const eventMemory = 30 * 24 * time.Hour

// orphanMemory is how long a refund waits for its purchase.
const orphanMemory = 90 * 24 * time.Hour

// eventMark remembers an event's id.
type eventMark struct {
	Effect  string `dynamodbav:"effect"`
	Hash    string `dynamodbav:"hash"`
	Expires int64  `dynamodbav:"expires_at"`
}

func (e PaymentEvent) markKey() string { return "payment-event#" + digest("event", e.EventID) }
