package kumo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"fastbowlinglab/integration/local/endpoint"
)

// base starts every queue URL that kumo makes.
const base = "http://localhost:4566/"

// maxJSON bounds an SQS request: 256 KiB of message and its wrapping, ten times.
const maxJSON = 4 << 20

// queues mends two things of kumo's SQS: queue URLs name the endpoint, and a
// long poll also sees a message that becomes visible while it waits.
func queues(next http.Handler, url string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := endpoint.Parse(r)
		switch {
		case q.Service != endpoint.SQS:
			next.ServeHTTP(w, r)
		case q.Operation == "ReceiveMessage":
			receive(w, r, next)
		case q.Operation == "CreateQueue" || q.Operation == "GetQueueUrl" || q.Operation == "ListQueues" ||
			q.Operation == "ListDeadLetterSourceQueues":
			rec := newRecord()
			next.ServeHTTP(rec, r)
			body := strings.ReplaceAll(rec.body.String(), base, strings.TrimSuffix(url, "/")+"/")
			rec.body.Reset()
			rec.body.WriteString(body)
			rec.header.Del("Content-Length")
			rec.send(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// look is how often a long poll looks at the queue. kumo's own polls look when
// they start and when a message is sent, but not when one becomes visible again.
const look = 50 * time.Millisecond

// maxWait is the longest poll that SQS allows, in seconds.
const maxWait = 20

// receive long polls: it looks until there is a message or the wait is over.
func receive(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxJSON))
	var in map[string]any
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	wait, ok := in["WaitTimeSeconds"].(float64)
	if err == nil && !ok {
		wait = waitOf(next, in["QueueUrl"])
	}
	if err != nil || wait < 0 || wait > maxWait {
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r) // kumo's to refuse
		return
	}
	in["WaitTimeSeconds"] = 0
	if body, err = json.Marshal(in); err != nil { // it was JSON a moment ago
		panic(err)
	}
	end := time.Now().Add(time.Duration(wait * float64(time.Second)))
	for {
		one := r.Clone(r.Context())
		one.Body, one.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		rec := newRecord()
		next.ServeHTTP(rec, one)
		if rec.code != http.StatusOK || hasMessages(rec.body.Bytes()) || !time.Now().Before(end) || !rest(r) {
			rec.send(w)
			return
		}
	}
}

// rest waits until the next look; false means that the caller has gone.
func rest(r *http.Request) bool {
	t := time.NewTimer(look)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// waitOf is the queue's own wait, for a receive that names none.
func waitOf(next http.Handler, queue any) (seconds float64) {
	var out struct{ Attributes map[string]string }
	const name = "ReceiveMessageWaitTimeSeconds"
	rec := ask(next, "GetQueueAttributes", map[string]any{"QueueUrl": queue, "AttributeNames": []string{name}})
	if json.Unmarshal(rec.body.Bytes(), &out) == nil {
		_, _ = fmt.Sscan(out.Attributes[name], &seconds) // else 0, as by default
	}
	return seconds
}

func hasMessages(body []byte) bool {
	var out struct{ Messages []json.RawMessage }
	return json.Unmarshal(body, &out) != nil || len(out.Messages) > 0
}
