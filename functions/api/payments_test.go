package api_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fastbowlinglab/shared/callback"
)

const payments = "POST /v1/payments/events"

// paid is a signed payment event.
func paid(id, body string, at time.Time) call {
	return call{route: payments, body: body, headers: map[string]string{
		"x-event-id": id, "x-timestamp": fmt.Sprint(at.Unix()), "x-signature": callback.Sign(paymentKey, id, at, []byte(body))}}
}

func purchase(payment string, n int) string {
	return fmt.Sprintf(`{"type":"payment.completed","payment_id":%q,"athlete_id":%q,"credits":%d}`, payment, athlete, n)
}

func (w *world) balance(want int) {
	w.t.Helper()
	c := w.do(call{route: "GET /v1/credits"}).want(w.t, 200, "")
	sum := 0.0
	for _, e := range c.body["entries"].([]any) {
		sum += e.(map[string]any)["credits"].(float64)
	}
	if c.body["balance"] != float64(want) || sum != float64(want) {
		w.t.Errorf("balance %v, entries add up to %v, want %d: %s", c.body["balance"], sum, want, c.Body)
	}
}

// Field cases 44, 54 and 55, as the route sees them.
func TestPaymentRoute(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	answers := make([]reply, 20)
	for i := range answers {
		wg.Go(func() { answers[i] = w.do(paid("ev-1", purchase("p-1", 5), time.Now())) })
	}
	wg.Wait()
	for _, a := range answers {
		if a.want(t, 200, "").Body != answers[0].Body {
			t.Errorf("answers differ: %s, %s", a.Body, answers[0].Body)
		}
	}
	w.balance(5)
	later := strings.Replace(purchase("p-1", 5), "completed", "async_succeeded", 1)
	w.do(paid("ev-2", later, time.Now())).want(t, 200, "")
	w.do(paid("ev-3", strings.Replace(purchase("p-1", 2), "completed", "refunded", 1), time.Now())).want(t, 200, "")
	w.balance(3)
	b64 := paid("ev-4", purchase("p-2", 1), time.Now())
	b64.body, b64.base64 = base64.StdEncoding.EncodeToString([]byte(b64.body)), true
	w.do(b64).want(t, 200, "")
	w.balance(4)

	for name, c := range map[string]call{
		"a week old":   paid("ev-5", purchase("p-3", 9), time.Now().Add(-7*24*time.Hour)),
		"future":       paid("ev-5", purchase("p-3", 9), time.Now().Add(6*time.Minute)),
		"no signature": {route: payments, body: purchase("p-3", 9)},
		"other body":   func() call { c := paid("ev-5", purchase("p-3", 1), time.Now()); c.body = purchase("p-3", 9); return c }(),
		"doubled": func() call {
			c := paid("ev-5", purchase("p-3", 9), time.Now())
			c.headers["x-signature"] = strings.Repeat("0", 64) + "," + c.headers["x-signature"]
			return c
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			r := w.do(c).want(t, 401, "signature_refused")
			if strings.Contains(r.Body, "timestamp") {
				t.Errorf("the answer says why: %s", r.Body)
			}
		})
	}
	for body, code := range map[string]string{
		purchase("p-1", 6): "payment_contradicted",
		`{"type":"payment.completed","payment_id":"p-9","athlete_id":"ath-1","credits":1.5}`:                "invalid_request",
		`{"type":"payment.completed","payment_id":"p-9","athlete_id":"ath-1","credits":0}`:                  "invalid_request",
		`{"type":"payment.completed","payment_id":"p-9","payment_id":"p","athlete_id":"ath-1","credits":1}`: "invalid_request", // h4's trick
		`{"type":"payment.completed","payment_id":"p-9","athlete_id":"ath-1","credits":1,"amount":1499}`:    "invalid_request",
		`{"type":"payment.other","payment_id":"p-9","athlete_id":"ath-1","credits":1}`:                      "invalid_request",
		"\ufeff" + purchase("p-9", 1): "invalid_request",
	} {
		if r := w.do(paid("ev-"+fmt.Sprint(len(body), code), body, time.Now())); r.str("code") != code {
			t.Errorf("%s: %d %s, want %s", body, r.StatusCode, r.Body, code)
		}
	}
	if r := w.do(paid("ev-1", purchase("p-7", 5), time.Now())); r.str("code") != "idempotency_key_reused" {
		t.Errorf("one event id, two contents: %d %s", r.StatusCode, r.Body)
	}
	w.balance(4)
}

// TestRefusedPaymentsAreCounted: the alarm hears of every event that bears a
// signature and was not taken, whoever signed it, and of nothing else.
func TestRefusedPaymentsAreCounted(t *testing.T) {
	w := newWorld(t)
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })

	now := time.Now()
	wrongKey := paid("ev-1", purchase("p-1", 5), now)
	wrongKey.headers["x-signature"] = callback.Sign([]byte("a key that nobody has"), "ev-1", now, []byte(wrongKey.body))
	w.do(wrongKey).want(t, 401, "signature_refused")
	malformed := paid("ev-1", purchase("p-1", 5), now)
	malformed.headers["x-signature"] = "sha256=" + malformed.headers["x-signature"]
	w.do(malformed).want(t, 401, "signature_refused")
	w.do(paid("ev-1", purchase("p-1", 5), now)).want(t, 200, "")
	w.do(paid("ev-1", purchase("p-1", 5), now)).want(t, 200, "")
	w.do(call{route: payments, body: purchase("p-1", 5)}).want(t, 401, "signature_refused") // anybody's
	w.do(paid("ev-2", purchase("p-1", 6), now)).want(t, 409, "payment_contradicted")
	w.do(paid("ev-1", purchase("p-2", 5), now)).want(t, 422, "idempotency_key_reused")
	w.do(paid("ev-3", purchase("p-3", 0), now)).want(t, 400, "invalid_request")

	var codes []string
	for _, l := range regexp.MustCompile(`"PaymentRefused":1,"code":"(\w+)"`).FindAllStringSubmatch(log.String(), -1) {
		codes = append(codes, l[1])
	}
	if want := []string{"signature_refused", "signature_refused", "payment_contradicted", "idempotency_key_reused", "invalid_request"}; !slices.Equal(codes, want) {
		t.Errorf("counted: %v\nwant %v", codes, want)
	}
}
