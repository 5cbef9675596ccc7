package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"fastbowlinglab/functions/api"
)

// cancels answers every transaction with reasons, one for each of its items; the
// others are carried out.
type cancels struct{ reasons []string }

func (c cancels) Do(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		return http.DefaultClient.Do(r)
	}
	var why []map[string]string
	for _, code := range c.reasons {
		why = append(why, map[string]string{"Code": code, "Message": "m"})
	}
	b, err := json.Marshal(map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "Message": "cancelled", "CancellationReasons": why})
	return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(bytes.NewReader(b)), Request: r}, err
}

// Field case 10: a conflict or a throttle is never an answer about credits or the
// analysis, even beside a condition that fails: the client is to ask again.
func TestAConflictIsNoAnswer(t *testing.T) {
	const none, cond, conflict, throttle = "None", "ConditionalCheckFailed", "TransactionConflict", "ThrottlingError"
	w := newWorld(t)
	w.grant(1)
	id := w.reserve("before")
	for name, tc := range map[string]struct {
		reasons []string
		create  string // code of the answer
	}{
		"conflict": {[]string{none, conflict, none}, "unavailable"}, "throttle": {[]string{none, none, throttle}, "unavailable"},
		"conflict beside the balance": {[]string{conflict, cond, none}, "unavailable"}, "the balance alone": {[]string{none, cond, none}, "no_credit"},
	} {
		t.Run(name, func(t *testing.T) {
			fn := api.New(w.with(w.server.Client(func(o *dynamodb.Options) { o.HTTPClient = cancels{tc.reasons} })))
			status := map[string]int{"unavailable": 503, "no_credit": 402}[tc.create]
			w.send(fn, call{route: "POST /v1/analyses", key: name, body: goodBody}.event()).want(t, status, tc.create)
			if tc.create == "unavailable" {
				w.send(fn, call{route: cancel, id: id}.event()).want(t, 503, "unavailable")
			}
		})
	}
	if got := w.do(call{route: show, id: id}); got.str("status") != "reserved" {
		t.Errorf("afterwards: %s", got.Body)
	}
}
