package local

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"fastbowlinglab/integration/local/lambdaapi"
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

// executionDetail is the detail of "Step Functions Execution Status Change".
type executionDetail struct {
	ExecutionARN    string    `json:"executionArn"`
	StateMachineARN string    `json:"stateMachineArn"`
	Name            string    `json:"name"`
	Status          string    `json:"status"`
	StartDate       int64     `json:"startDate"` // milliseconds
	StopDate        *int64    `json:"stopDate"`
	Input           string    `json:"input"`
	Output          *string   `json:"output"`
	InputDetails    *included `json:"inputDetails"`
	OutputDetails   *included `json:"outputDetails"`
	Error           *string   `json:"error"`
	Cause           *string   `json:"cause"`
	VersionARN      *string   `json:"stateMachineVersionArn"`
	AliasARN        *string   `json:"stateMachineAliasArn"`
	RedriveCount    int       `json:"redriveCount"`
	RedriveDate     *int64    `json:"redriveDate"`
	RedriveStatus   string    `json:"redriveStatus"`
	RedriveReason   *string   `json:"redriveStatusReason"`
}

type included struct {
	Included bool `json:"included"`
}

// Event is the change as EventBridge delivers it.
func (s StatusChange) Event() ([]byte, error) {
	d := executionDetail{
		ExecutionARN: s.ExecutionARN, StateMachineARN: s.StateMachineARN, Name: s.Name, Status: s.Status,
		StartDate: s.Start.UnixMilli(), Input: s.Input, Output: s.Output, Error: s.Error, Cause: s.Cause,
		InputDetails: &included{true}, RedriveStatus: "NOT_REDRIVABLE",
	}
	at := s.Start
	if !s.Stop.IsZero() {
		at = s.Stop
		ms := s.Stop.UnixMilli()
		d.StopDate = &ms
	}
	if s.Output != nil {
		d.OutputDetails = &included{true}
	}
	if s.Status == "FAILED" || s.Status == "TIMED_OUT" || s.Status == "ABORTED" {
		d.RedriveStatus = "REDRIVABLE"
	}
	return json.Marshal(newEvent("aws.states", "Step Functions Execution Status Change", at, s.ExecutionARN, d))
}

// ends are the statuses that the rule for Function.Ended matches.
var ends = map[string]bool{"FAILED": true, "TIMED_OUT": true, "ABORTED": true}

// changed delivers a status change to the functions whose rule matches it.
func (c *Cloud) changed(s StatusChange) {
	if !ends[s.Status] {
		return
	}
	payload, err := s.Event()
	if err != nil {
		c.cfg.Log.Error("event not made", "execution", s.Name, "error", err)
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
