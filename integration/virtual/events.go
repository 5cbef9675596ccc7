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

// carriedOut watches for new notices: the stream in a virtual world.
func (c *Cloud) carriedOut(call Call) {
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
		if it.Put != nil && it.Put.TableName == names.Notices.Name {
			c.deliver(EventNotice, names.FnNotify, streamEvent(it.Put.Item))
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
	c.deliver(EventEnded, names.FnSettle, mustJSON(map[string]any{
		"version": "0", "id": s.Detail.Name, "detail-type": stepfn.EventDetailType, "source": stepfn.EventSource,
		"account": s.Account, "time": s.Time, "region": s.Region, "resources": s.Resources, "detail": s.Detail,
	}))
}

// deliver hands an event to a function, as often as the run's seed says, and
// again after a failure, a bounded number of times.
func (c *Cloud) deliver(kind, fn string, payload []byte) {
	times := 1
	c.mu.Lock()
	if c.opt.Events != nil {
		times = c.opt.Events(c.Gate.rnd, kind)
	}
	c.mu.Unlock()
	for range times {
		c.mu.Lock()
		c.events++
		actor := fmt.Sprintf("%s/%d", kind, c.events)
		c.mu.Unlock()
		c.Go(actor, func(ctx context.Context) { c.try(ctx, fn, payload) })
	}
}

func (c *Cloud) try(ctx context.Context, fn string, payload []byte) {
	for range 5 {
		out, fail, err := c.call(ctx, fn, payload)
		var partial struct {
			BatchItemFailures []json.RawMessage `json:"batchItemFailures"`
		}
		_ = json.Unmarshal(out, &partial) // an answer without failures is a success
		if err == nil && fail == "" && len(partial.BatchItemFailures) == 0 {
			return
		}
		if !sleep(ctx, 10*time.Second) {
			return
		}
	}
}

// Schedule calls a function every so often until the world ends.
func (c *Cloud) Schedule(fn string, every time.Duration) {
	c.Go("schedule/"+fn, func(ctx context.Context) {
		for n := 0; sleep(ctx, every); n++ {
			if _, _, err := c.call(As(ctx, fmt.Sprintf("%s/%d", fn, n)), fn, []byte(`{}`)); err != nil {
				c.T.Errorf("%s: %v", fn, err)
			}
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
