package kumo

import (
	"bytes"
	"encoding/json"
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

// slice is the longest single poll of kumo. It looks at the queue when a poll
// starts and when a message is sent, but not when one becomes visible again.
const slice = time.Second

// receive long polls in slices, until there is a message or the wait is over.
func receive(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxJSON))
	var in map[string]any
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	wait, ok := in["WaitTimeSeconds"].(float64)
	left := time.Duration(wait * float64(time.Second))
	if err != nil || !ok || left <= slice || left > 20*time.Second {
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r) // nothing to slice, or kumo's to refuse
		return
	}
	for {
		in["WaitTimeSeconds"] = int(min(left, slice) / time.Second)
		left -= slice
		again, err := json.Marshal(in)
		if err != nil { // it was JSON a moment ago
			panic(err)
		}
		part := r.Clone(r.Context())
		part.Body, part.ContentLength = io.NopCloser(bytes.NewReader(again)), int64(len(again))
		rec := newRecord()
		next.ServeHTTP(rec, part)
		if left <= 0 || rec.code != http.StatusOK || r.Context().Err() != nil || hasMessages(rec.body.Bytes()) {
			rec.send(w)
			return
		}
	}
}

func hasMessages(body []byte) bool {
	var out struct{ Messages []json.RawMessage }
	return json.Unmarshal(body, &out) != nil || len(out.Messages) > 0
}
