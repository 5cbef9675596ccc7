package virtual

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/shared/names"
)

// Kinds of events whose delivery a run may double or drop.
const (
	EventNotice = "notice" // the notices table's stream
	EventEnded  = "ended"  // an execution that failed, timed out or was aborted
)

// stream watches for new notices: the table's stream in a virtual world.
func (c *Cloud) stream(call Call) {
	if call.Service != "dynamodb" || call.Op != "TransactWriteItems" {
		return
	}
	var in struct {
		TransactItems []struct {
			Put *struct {
				TableName string
				Item      json.RawMessage
			}
		}
	}
	if json.Unmarshal(call.Body, &in) != nil {
		return
	}
	for _, it := range in.TransactItems {
		if it.Put == nil || it.Put.TableName != names.Notices.Name {
			continue
		}
		var key struct {
			ID     struct{ S string } `json:"analysis_id"`
			Notice struct{ S string } `json:"notice"`
		}
		if json.Unmarshal(it.Put.Item, &key) == nil {
			c.deliver(EventNotice, key.ID.S+"/"+key.Notice.S, names.FnNotify, streamEvent(it.Put.Item))
		}
	}
}

func streamEvent(image json.RawMessage) []byte {
	ev := map[string]any{"Records": []any{map[string]any{
		"eventID": "1", "eventName": "INSERT", "eventSource": "aws:dynamodb", "awsRegion": "us-east-1",
		"dynamodb": map[string]any{"NewImage": image, "SequenceNumber": "1", "StreamViewType": "NEW_IMAGE"},
	}}}
	return mustJSON(ev)
}

// statusChanged turns an execution's end without its catch-all into the event.
func (c *Cloud) statusChanged(s stepfn.StatusChange) {
	switch s.Detail.Status {
	case stepfn.Failed, stepfn.TimedOut, stepfn.Aborted:
	default:
		return
	}
	id := s.Detail.Name
	if n := s.Detail.RedriveCount; n > 0 { // it ended before
		id += fmt.Sprint("/redrive-", n)
	}
	c.deliver(EventEnded, id, names.FnSettle, mustJSON(map[string]any{
		"version": "0", "id": s.Detail.Name, "detail-type": stepfn.EventDetailType, "source": stepfn.EventSource,
		"account": s.Account, "time": s.Time, "region": s.Region, "resources": s.Resources, "detail": s.Detail,
	}))
}

// deliver hands an event to a function, as often and as late as the run says,
// and each delivery again after a failure, a bounded number of times. Whatever
// decides about it goes by the event's id and not by who comes first.
func (c *Cloud) deliver(kind, id, fn string, payload []byte) {
	delays := []time.Duration{0}
	if c.opt.Events != nil {
		delays = c.opt.Events(kind, id)
	}
	for n, d := range delays {
		c.wg.Go(func() {
			if sleep(c.ctx, d) {
				c.try(fmt.Sprintf("%s/%s/%d", kind, id, n), fn, payload)
			}
		})
	}
}

func (c *Cloud) try(actor, fn string, payload []byte) {
	for n := range 5 {
		r := c.call(As(c.ctx, fmt.Sprintf("%s/%d", actor, n)), fn, payload)
		var partial struct {
			BatchItemFailures []json.RawMessage `json:"batchItemFailures"`
		}
		_ = json.Unmarshal(r.out, &partial) // an answer without failures is a success
		if r.fail == "" && len(partial.BatchItemFailures) == 0 {
			return
		}
		if !sleep(c.ctx, 10*time.Second) {
			return
		}
	}
}

// Schedule calls a function every so often until the world ends. A run that goes
// on for longer than three hours waits for a deadline of days: from then on, until
// the faults end, the calls are an hour apart, so that a week takes seconds.
func (c *Cloud) Schedule(fn string, every time.Duration) {
	const patience, slow = 3 * time.Hour, time.Hour
	start, last := time.Now(), time.Now()
	c.wg.Go(func() {
		for n := 0; sleep(c.ctx, every); n++ {
			if time.Since(start) > patience && !c.Gate.isCalm() && time.Since(last) < slow {
				continue
			}
			last = time.Now()
			c.call(As(c.ctx, fmt.Sprintf("%s/%d", fn, n)), fn, []byte(`{}`))
		}
	})
}

// sleep waits for d; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("virtual: encode an event: %v", err)) // our own types: cannot fail
	}
	return b
}
