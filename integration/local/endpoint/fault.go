package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"time"
)

// Kind is what goes wrong with a request.
type Kind int

// The kinds of fault.
const (
	None      Kind = iota
	NotDone        // the connection breaks before anything is done
	Lost           // done, and the answer is lost
	Late           // done after Delay, even if the caller has gone by then
	Twice          // done twice; the caller sees the second answer
	Throttled      // refused: too many requests
	Conflict       // refused: another write is at work on the same thing
	Denied         // refused: the caller may not do this
)

func (k Kind) String() string {
	return [...]string{"none", "not done", "lost", "late", "twice", "throttled", "conflict", "denied"}[k]
}

// Fault is a decision of Intercept.
type Fault struct {
	Kind  Kind
	Delay time.Duration // of Late
}

func (f Fault) serve(w http.ResponseWriter, q *Request, h http.Handler) {
	switch f.Kind {
	case None:
		h.ServeHTTP(w, q.HTTP)
	case NotDone:
		panic(http.ErrAbortHandler)
	case Lost:
		do(q, h)
		panic(http.ErrAbortHandler)
	case Late:
		f.late(w, q, h)
	case Twice:
		do(q, h)
		replay(w, do(q, h))
	case Throttled:
		throttled(w, q)
	case Conflict:
		conflict(w, q)
	case Denied:
		denied(w, q)
	}
}

// do carries the request out, out of reach of the caller's impatience, and
// keeps the answer. A body that cannot be held breaks the connection.
func do(q *Request, h http.Handler) *httptest.ResponseRecorder {
	if _, err := q.Body(); err != nil {
		panic(http.ErrAbortHandler)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, q.HTTP.WithContext(context.WithoutCancel(q.HTTP.Context())))
	return rec
}

func (f Fault) late(w http.ResponseWriter, q *Request, h http.Handler) {
	if _, err := q.Body(); err != nil { // read before the caller can go
		panic(http.ErrAbortHandler)
	}
	time.Sleep(f.Delay)
	replay(w, do(q, h))
}

// replay writes a kept answer; if the caller has gone nobody reads it.
func replay(w http.ResponseWriter, rec *httptest.ResponseRecorder) {
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// throttled answers in the words of the service.
func throttled(w http.ResponseWriter, q *Request) {
	const msg = "Rate exceeded"
	switch q.Service {
	case S3:
		WriteError(w, q, http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")
	case DynamoDB, Streams:
		WriteError(w, q, http.StatusBadRequest, "ThrottlingException", msg)
	case SQS:
		WriteError(w, q, http.StatusBadRequest, "RequestThrottled", msg)
	case SES, Lambda:
		WriteError(w, q, http.StatusTooManyRequests, "TooManyRequestsException", msg)
	default:
		WriteError(w, q, http.StatusBadRequest, "ThrottlingException", msg)
	}
}

// conflict answers in the words of the service. Where it has none for this
// operation, a conflict cannot happen and the request is throttled instead.
func conflict(w http.ResponseWriter, q *Request) {
	switch {
	case q.Service == S3:
		WriteError(w, q, http.StatusConflict, "ConditionalRequestConflict",
			"A conflicting conditional operation is currently in progress against this resource.")
	case q.Service == DynamoDB && q.Operation == "TransactWriteItems":
		cancelled(w, q)
	case q.Service == DynamoDB && writes[q.Operation]:
		WriteError(w, q, http.StatusBadRequest, "TransactionConflictException",
			"Transaction is ongoing for the item")
	default:
		throttled(w, q)
	}
}

// writes are the single-item writes that a transaction can be in the way of.
var writes = map[string]bool{"PutItem": true, "UpdateItem": true, "DeleteItem": true}

// cancelled answers that the first operation of a transaction met another
// transaction; there is one reason for each operation, as from DynamoDB.
func cancelled(w http.ResponseWriter, q *Request) {
	body, err := q.Body()
	var in struct{ TransactItems []json.RawMessage }
	if err != nil || json.Unmarshal(body, &in) != nil || len(in.TransactItems) == 0 {
		throttled(w, q)
		return
	}
	reasons := make([]map[string]string, len(in.TransactItems))
	text := "Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict"
	for i := range reasons {
		reasons[i] = map[string]string{"Code": "None"}
		if i > 0 {
			text += ", None"
		}
	}
	reasons[0] = map[string]string{"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
	var buf bytes.Buffer
	_ = json.NewEncoder(&buf).Encode(map[string]any{ // strings only: cannot fail
		"__type":              "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
		"message":             text + "]",
		"Message":             text + "]",
		"CancellationReasons": reasons,
	})
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(buf.Bytes())
}

// denied answers in the words of the service.
func denied(w http.ResponseWriter, q *Request) {
	const msg = "User is not authorized to perform this action"
	switch q.Service {
	case S3:
		WriteError(w, q, http.StatusForbidden, "AccessDenied", "Access Denied")
	case SES, Lambda, Bedrock:
		WriteError(w, q, http.StatusForbidden, "AccessDeniedException", msg)
	default:
		WriteError(w, q, http.StatusBadRequest, "AccessDeniedException", msg)
	}
}
