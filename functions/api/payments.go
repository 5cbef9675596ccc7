package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"fastbowlinglab/shared/callback"
	"fastbowlinglab/shared/credit"
	"fastbowlinglab/shared/metric"
	"fastbowlinglab/shared/names"
)

// KeySource gives the keys that sign payment events; callback.Secret is one.
type KeySource interface {
	Keys(context.Context) ([][]byte, error)
}

// paymentIn is the body of POST /v1/payments/events. Credits of a refund are the
// total refunded of the payment so far.
type paymentIn struct {
	Type      credit.EventKind `json:"type"`
	PaymentID string           `json:"payment_id"`
	AthleteID string           `json:"athlete_id"`
	Credits   int64            `json:"credits"`
}

// paymentOut acknowledges an event. It says nothing of the ledger: the answer is
// the same however often, and in whatever order, events come.
type paymentOut struct {
	EventID   string `json:"event_id"`
	PaymentID string `json:"payment_id"`
}

// errSignature is all that the sender of a refused event is told.
var errSignature = problem{Status: http.StatusUnauthorized, Code: "signature_refused", Title: "The message's signature is not acceptable."}

// paymentEvent takes a payment event of the shop's, or counts that it did not:
// behind each that is refused somebody may have paid. What bears no signature at all
// is no event, and anybody can send it; what we cannot do now is 5xx, which is told
// elsewhere.
func (d Deps) paymentEvent(ctx context.Context, r request) (answer, error) {
	out, err := d.applyPayment(ctx, r)
	var p problem
	if errors.Is(err, credit.ErrKeyReused) {
		p = errKey
	} else {
		errors.As(err, &p)
	}
	if p.Code != "" && bearsSignature(r) {
		metric.Count(ctx, metric.PaymentRefused, 1, "code", p.Code)
	}
	return out, err
}

func bearsSignature(r request) bool {
	for name := range r.Headers {
		if strings.EqualFold(name, callback.HeaderSignature) {
			return true
		}
	}
	return false
}

// applyPayment applies a payment event. It is authenticated over the bytes as they
// came, and parsed afterwards.
func (d Deps) applyPayment(ctx context.Context, r request) (answer, error) {
	keys, err := d.PaymentKeys.Keys(ctx)
	if err != nil {
		return answer{}, err
	}
	msg, err := callback.Verify(callback.FromMap(r.Headers, r.Body), keys, d.now())
	switch {
	case errors.Is(err, callback.ErrHeader), errors.Is(err, callback.ErrStale), errors.Is(err, callback.ErrSignature):
		slog.WarnContext(ctx, "payment event refused", "detail", err.Error())
		return answer{}, errSignature
	case err != nil:
		return answer{}, err
	}
	var in paymentIn
	if err := decodeBody(msg.Body, &in); err != nil {
		return answer{}, err
	}
	if len(in.PaymentID) > names.MaxIDBytes || len(in.AthleteID) > names.MaxIDBytes {
		return answer{}, invalid("payment_id, athlete_id: 1 to %d bytes", names.MaxIDBytes)
	}
	sum := sha256.Sum256(msg.Body)
	// Of a payment that is known, the rest may be told: its row knows the pseudonym.
	// A new one would open a ledger under the name that was deleted; the shop is
	// told, and gives the money back.
	known, err := d.Ledger.Paid(ctx, in.PaymentID)
	if err == nil && !known && in.AthleteID != "" {
		err = d.notErased(ctx, in.AthleteID)
	}
	if err != nil {
		return answer{}, err
	}
	_, err = d.Ledger.Pay(ctx, credit.PaymentEvent{EventID: msg.ID, BodyHash: hex.EncodeToString(sum[:]), Kind: in.Type,
		PaymentID: in.PaymentID, AthleteID: in.AthleteID, Credits: in.Credits})
	switch {
	case errors.Is(err, credit.ErrPaymentInvalid):
		return answer{}, invalid("type: %s, %s or %s; payment_id and athlete_id: not empty; credits: a whole number from 1 to %d",
			credit.PaymentCompleted, credit.PaymentSucceeded, credit.PaymentRefunded, credit.MaxPayment)
	case errors.Is(err, credit.ErrPaymentConflict):
		slog.ErrorContext(ctx, "payment event contradicts an earlier one", "event_id", msg.ID, "detail", err.Error())
		return answer{}, problem{Status: http.StatusConflict, Code: "payment_contradicted",
			Title: "An earlier event told something else of this payment."}
	case err != nil:
		return answer{}, err
	}
	return answer{Status: http.StatusOK, Body: paymentOut{msg.ID, in.PaymentID}}, nil
}
