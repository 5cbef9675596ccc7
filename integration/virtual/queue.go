package virtual

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// holdHeader asks the gate to hold an empty answer back for so many seconds.
const holdHeader = "X-Virtual-Hold"

// message is one message of the queue.
type message struct {
	id, body, receipt string
	visibleAt         time.Time
	received          int
}

// queueService is one SQS queue in memory: visibility timeouts, receive counts, long
// polling, dead letters. The gate calls it for one request at a time.
type queueService struct {
	visibility time.Duration
	maxReceive int
	messages   []*message
	dead       []*message
	seq        int
	arrived    chan struct{}
}

func newQueue(visibility time.Duration, maxReceive int) *queueService {
	return &queueService{visibility: visibility, maxReceive: maxReceive, arrived: make(chan struct{})}
}

type sqsRequest struct {
	QueueUrl            string
	MessageBody         string
	DelaySeconds        int
	MaxNumberOfMessages int
	WaitTimeSeconds     int
	VisibilityTimeout   *int
	ReceiptHandle       string
}

// ServeHTTP speaks the AWS JSON protocol of SQS.
func (q *queueService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in sqsRequest
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		writeError(w, "InvalidParameterValue", err.Error())
		return
	}
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch op {
	case "SendMessage":
		writeJSON(w, q.send(in))
	case "ReceiveMessage":
		out := q.receive(in)
		if len(out) == 0 && in.WaitTimeSeconds > 0 {
			w.Header().Set(holdHeader, strconv.Itoa(q.wait(in.WaitTimeSeconds)))
		}
		writeJSON(w, map[string]any{"Messages": out})
	case "DeleteMessage":
		q.delete(in.ReceiptHandle)
		writeJSON(w, map[string]any{})
	case "ChangeMessageVisibility":
		if !q.change(in) {
			writeError(w, "InvalidParameterValue", "the message is not in flight")
			return
		}
		writeJSON(w, map[string]any{})
	case "GetQueueAttributes":
		writeJSON(w, map[string]any{"Attributes": q.attributes()})
	default:
		writeError(w, "UnsupportedOperation", "virtual SQS has no "+op)
	}
}

func (q *queueService) send(in sqsRequest) map[string]any {
	q.seq++
	m := &message{
		id: fmt.Sprintf("m-%d", q.seq), body: in.MessageBody,
		visibleAt: time.Now().Add(time.Duration(in.DelaySeconds) * time.Second),
	}
	q.messages = append(q.messages, m)
	close(q.arrived)
	q.arrived = make(chan struct{})
	return map[string]any{"MessageId": m.id, "MD5OfMessageBody": sum(m.body)}
}

func (q *queueService) receive(in sqsRequest) []map[string]any {
	now, vis := time.Now(), q.visibility
	if in.VisibilityTimeout != nil {
		vis = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	var out []map[string]any
	for _, m := range append([]*message(nil), q.messages...) {
		if len(out) == max(1, in.MaxNumberOfMessages) {
			break
		}
		if m.visibleAt.After(now) {
			continue
		}
		if m.received >= q.maxReceive {
			q.remove(m)
			q.dead = append(q.dead, m)
			continue
		}
		m.received++
		m.visibleAt = now.Add(vis)
		m.receipt = fmt.Sprintf("%s#%d", m.id, m.received)
		out = append(out, map[string]any{
			"MessageId": m.id, "ReceiptHandle": m.receipt, "Body": m.body, "MD5OfBody": sum(m.body),
			"Attributes": map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.received)},
		})
	}
	return out
}

// wait is how long a poll of so many seconds is held: no longer than until the
// next message becomes visible.
func (q *queueService) wait(seconds int) int {
	now := time.Now()
	for _, m := range q.messages {
		if in := m.visibleAt.Sub(now); in > 0 {
			seconds = min(seconds, int((in+time.Second-1)/time.Second))
		}
	}
	return seconds
}

func (q *queueService) find(receipt string) *message {
	for _, m := range q.messages {
		if m.receipt == receipt {
			return m
		}
	}
	return nil
}

func (q *queueService) delete(receipt string) {
	if m := q.find(receipt); m != nil {
		q.remove(m)
	}
}

func (q *queueService) remove(m *message) {
	for i, x := range q.messages {
		if x == m {
			q.messages = append(q.messages[:i:i], q.messages[i+1:]...)
			return
		}
	}
}

func (q *queueService) change(in sqsRequest) bool {
	m := q.find(in.ReceiptHandle)
	if m == nil || in.VisibilityTimeout == nil || m.visibleAt.Before(time.Now()) {
		return false
	}
	m.visibleAt = time.Now().Add(time.Duration(*in.VisibilityTimeout) * time.Second)
	if *in.VisibilityTimeout == 0 {
		close(q.arrived)
		q.arrived = make(chan struct{})
	}
	return true
}

func (q *queueService) attributes() map[string]string {
	var visible, inFlight, delayed int
	for _, m := range q.messages {
		switch {
		case !m.visibleAt.After(time.Now()):
			visible++
		case m.received > 0:
			inFlight++
		default:
			delayed++
		}
	}
	return map[string]string{
		"ApproximateNumberOfMessages":           strconv.Itoa(visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(inFlight),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(delayed),
	}
}

func sum(s string) string {
	h := md5.Sum([]byte(s)) // SQS's own checksum; the SDK compares it
	return hex.EncodeToString(h[:])
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(fmt.Sprintf("virtual: encode an answer: %v", err)) // our own types: cannot fail
	}
}

func writeError(w http.ResponseWriter, code, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message})
}
