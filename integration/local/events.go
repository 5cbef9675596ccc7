package local

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"fastbowlinglab/integration/local/lambdaapi"
	"fastbowlinglab/integration/stepfn"
	"fastbowlinglab/shared/names"
)

// event is EventBridge's envelope.
type event struct {
	Version    string   `json:"version"`
	ID         string   `json:"id"`
	DetailType string   `json:"detail-type"`
	Source     string   `json:"source"`
	Account    string   `json:"account"`
	Time       string   `json:"time"`
	Region     string   `json:"region"`
	Resources  []string `json:"resources"`
	Detail     any      `json:"detail"`
}

func newEvent(source, detailType string, at time.Time, resource string, detail any) event {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return event{Version: "0", ID: fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]),
		DetailType: detailType, Source: source, Account: Account, Time: at.UTC().Format(time.RFC3339),
		Region: Region, Resources: []string{resource}, Detail: detail}
}

// ends are the statuses that the rule for Function.Ended matches.
var ends = map[stepfn.Status]bool{stepfn.Failed: true, stepfn.TimedOut: true, stepfn.Aborted: true}

// changed delivers the status change of an execution to the functions whose
// rule matches it. It does not block.
func (c *Cloud) changed(s stepfn.StatusChange) {
	if !ends[s.Detail.Status] || s.Detail.StateMachineARN != StateMachineARN { // the rule is the analysis's
		return
	}
	arn := s.Detail.ExecutionARN
	payload, err := json.Marshal(newEvent(stepfn.EventSource, stepfn.EventDetailType, s.Time.Time, arn, s.Detail))
	if err != nil {
		c.cfg.Log.Error("event not made", "execution", arn, "error", err)
		return
	}
	for _, f := range c.cfg.Functions {
		if f.Ended {
			c.emit("event", f, payload)
		}
	}
}

// emit invokes a function asynchronously: Lambda tries it again when it fails,
// and drops it in the end with a log line.
func (c *Cloud) emit(source string, f names.Function, payload []byte) {
	n := 1
	if c.cfg.Duplicate(source) {
		n = 2
	}
	for range n {
		if _, err := c.lambda.InvokeEvent(lambdaapi.Request{Function: f.Name, Payload: payload}); err != nil {
			c.cfg.Log.Error("event dropped", "source", source, "function", f.Name, "error", err)
		}
	}
}

// scheduled is the payload of an invocation by a rule with a schedule.
func scheduled(f names.Function) ([]byte, error) {
	rule := "arn:aws:events:" + Region + ":" + Account + ":rule/" + names.Prefix + f.Name
	return json.Marshal(newEvent("aws.events", "Scheduled Event", time.Now(), rule, struct{}{}))
}

// schedule invokes a function each period until ctx ends.
func (c *Cloud) schedule(ctx context.Context, f names.Function, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		payload, err := scheduled(f)
		if err != nil {
			c.cfg.Log.Error("event not made", "function", f.Name, "error", err)
			continue
		}
		c.emit("schedule", f, payload)
	}
}

// Tick invokes a function as its schedule would, now, and waits for its answer.
// A function that fails is an error.
func (c *Cloud) Tick(ctx context.Context, function string) ([]byte, error) {
	payload, err := scheduled(names.Function{Name: function})
	if err != nil {
		return nil, fmt.Errorf("tick %s: %w", function, err)
	}
	out, fnErr, err := c.lambda.Invoke(ctx, function, payload)
	if err != nil {
		return nil, fmt.Errorf("tick %s: %w", function, err)
	}
	if fnErr != "" {
		return out, fmt.Errorf("tick %s: %s: %s", function, fnErr, out)
	}
	return out, nil
}
