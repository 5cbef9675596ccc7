package kumo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"fastbowlinglab/integration/local/endpoint"
)

// inflight keeps, in a file beside kumo's own, the messages that somebody has
// received and not yet deleted. kumo does not, and lost them with the process.
// After a restart they are sent again, to become visible when they would have.
// Their ids and receive counts start anew, and message attributes that the
// receiver did not ask for are lost.
type inflight struct {
	kumo    http.Handler // for what is noted here, which flushes by itself
	next    http.Handler // for everything else
	durable *durable
	file    string
	records map[string]received // by message id; guarded by durable.mu, like the file
}

// received is a message on its way.
type received struct {
	Queue      string // path of the queue's URL
	Handle     string
	Body       string
	Attributes map[string]json.RawMessage `json:",omitempty"`
	Visible    time.Time
}

// sqsCall is what this package reads of any SQS request.
type sqsCall struct {
	QueueUrl          string
	ReceiptHandle     string
	VisibilityTimeout *int
	Entries           []struct {
		ReceiptHandle     string
		VisibilityTimeout *int
	}
}

func (c sqsCall) queue() string {
	u, err := url.Parse(c.QueueUrl)
	if err != nil {
		return c.QueueUrl // kumo will refuse it
	}
	return u.Path
}

// ServeHTTP implements http.Handler.
func (f *inflight) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := endpoint.Parse(r)
	var step func(sqsCall, *record) bool
	if q.Service == endpoint.SQS {
		step = map[string]func(sqsCall, *record) bool{
			"ReceiveMessage": f.receive, "DeleteMessage": f.remove, "DeleteMessageBatch": f.remove,
			"ChangeMessageVisibility": f.delay, "ChangeMessageVisibilityBatch": f.delay,
			"PurgeQueue": f.clear, "DeleteQueue": f.clear,
		}[q.Operation]
	}
	if step == nil {
		f.next.ServeHTTP(w, r)
		return
	}
	body, err := q.Body()
	var in sqsCall
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		f.next.ServeHTTP(w, r) // kumo's to refuse
		return
	}
	rec := newRecord()
	err = f.do(rec, r, func() bool { return rec.code == http.StatusOK && step(in, rec) })
	if err != nil {
		endpoint.WriteError(w, q, http.StatusInternalServerError, "InternalFailure", err.Error())
		return
	}
	rec.send(w)
}

// do carries a call out and notes what it changed, with no flush between the
// two; then it flushes, so that a message is never in neither file.
func (f *inflight) do(rec *record, r *http.Request, changed func() bool) error {
	f.durable.mu.Lock()
	defer f.durable.mu.Unlock()
	f.kumo.ServeHTTP(rec, r)
	if !changed() {
		return nil
	}
	if err := f.save(); err != nil {
		return err
	}
	flushSnapshots()
	return nil
}

// receive notes the messages that were handed out. kumo has also just put back
// those whose time was over: they are in its file again.
func (f *inflight) receive(in sqsCall, rec *record) (changed bool) {
	now := time.Now()
	for id, m := range f.records {
		if m.Queue == in.queue() && m.Visible.Before(now.Add(-time.Second)) {
			delete(f.records, id)
			changed = true
		}
	}
	var out struct {
		Messages []struct {
			MessageId, ReceiptHandle, Body string
			MessageAttributes              map[string]json.RawMessage
		}
	}
	if json.Unmarshal(rec.body.Bytes(), &out) != nil {
		return changed
	}
	if len(out.Messages) == 0 {
		return changed
	}
	visible := f.visibility(in)
	for _, m := range out.Messages {
		f.records[m.MessageId] = received{in.queue(), m.ReceiptHandle, m.Body, m.MessageAttributes, now.Add(visible)}
	}
	return true
}

// visibility is how long a receive hides a message.
func (f *inflight) visibility(in sqsCall) time.Duration {
	if in.VisibilityTimeout != nil && *in.VisibilityTimeout > 0 {
		return time.Duration(*in.VisibilityTimeout) * time.Second
	}
	var out struct{ Attributes map[string]string }
	rec := ask(f.kumo, "GetQueueAttributes", map[string]any{"QueueUrl": in.QueueUrl, "AttributeNames": []string{"VisibilityTimeout"}})
	seconds := 30.0
	if json.Unmarshal(rec.body.Bytes(), &out) == nil {
		_, _ = fmt.Sscan(out.Attributes["VisibilityTimeout"], &seconds) // else SQS's default
	}
	return time.Duration(seconds * float64(time.Second))
}

func (f *inflight) remove(in sqsCall, _ *record) bool {
	return f.each(in, func(id string, _ received, _ int) { delete(f.records, id) })
}

func (f *inflight) delay(in sqsCall, _ *record) bool {
	return f.each(in, func(id string, m received, seconds int) {
		m.Visible = time.Now().Add(time.Duration(seconds) * time.Second)
		f.records[id] = m
	})
}

func (f *inflight) clear(in sqsCall, _ *record) (changed bool) {
	for id, m := range f.records {
		if m.Queue == in.queue() {
			delete(f.records, id)
			changed = true
		}
	}
	return changed
}

// each calls act for every message that the call names by its handle. An entry
// of a batch that failed has no such message, or one whose handle is outdated.
func (f *inflight) each(in sqsCall, act func(id string, m received, seconds int)) (changed bool) {
	named := map[string]int{}
	note := func(handle string, seconds *int) {
		named[handle] = 0
		if seconds != nil {
			named[handle] = *seconds
		}
	}
	note(in.ReceiptHandle, in.VisibilityTimeout)
	for _, e := range in.Entries {
		note(e.ReceiptHandle, e.VisibilityTimeout)
	}
	for id, m := range f.records {
		if seconds, ok := named[m.Handle]; ok {
			act(id, m, seconds)
			changed = true
		}
	}
	return changed
}

// save writes the file. The caller holds durable.mu.
func (f *inflight) save() error {
	b, err := json.Marshal(f.records)
	if err == nil {
		err = os.WriteFile(f.file+".tmp", b, 0o600)
	}
	if err == nil {
		err = os.Rename(f.file+".tmp", f.file)
	}
	if err != nil {
		return fmt.Errorf("keep the messages in flight: %w", err)
	}
	return nil
}

// maxDelay is the longest delay of a message that SQS allows.
const maxDelay = 900

// restore sends what was in flight when the last process ended, unless kumo has
// the message.
func (f *inflight) restore() error {
	f.records = map[string]received{}
	b, err := os.ReadFile(f.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var lost map[string]received
	if err == nil {
		lost, err = readInflight(b)
	}
	var have []byte
	if err == nil {
		have, err = os.ReadFile(filepath.Join(filepath.Dir(f.file), "sqs.json"))
	}
	if err != nil {
		return fmt.Errorf("messages in flight: %w", err)
	}
	for id, m := range lost {
		if bytes.Contains(have, []byte(`"`+id+`"`)) {
			continue
		}
		delay := min(max(0, math.Ceil(time.Until(m.Visible).Seconds())), maxDelay)
		rec := ask(f.kumo, "SendMessage", map[string]any{"QueueUrl": "http://localhost" + m.Queue, "MessageBody": m.Body,
			"MessageAttributes": m.Attributes, "DelaySeconds": int(delay)})
		if rec.code != http.StatusOK {
			return fmt.Errorf("message %s was in flight and cannot be sent again: %s", id, rec.body.String())
		}
	}
	flushSnapshots()
	return f.save()
}

// ask makes an SQS call of our own.
func ask(h http.Handler, op string, in any) *record {
	body, err := json.Marshal(in)
	if err != nil { // maps of strings and JSON
		panic(err)
	}
	r, err := http.NewRequest(http.MethodPost, base, bytes.NewReader(body))
	if err != nil { // a constant URL
		panic(err)
	}
	r.Header.Set("X-Amz-Target", "AmazonSQS."+op)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	rec := newRecord()
	h.ServeHTTP(rec, r)
	return rec
}
