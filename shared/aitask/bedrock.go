package aitask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"fastbowlinglab/shared/awserr"
	"fastbowlinglab/shared/bedrock"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/retry"
)

// BedrockProvider is the provider's name in a setting: bedrock:<model id>.
const BedrockProvider = "bedrock"

// Converser asks a model once; *bedrock.Client does.
type Converser interface {
	Converse(context.Context, bedrock.Request) (bedrock.Answer, error)
}

// Budget spaces the calls of all workers; budget.Store does.
type Budget interface {
	Wait(ctx context.Context, key string, l budget.Limit, n int) error
}

// Bedrock calls models of Amazon Bedrock. It repeats a throttled request, under
// the budget and inside the time that is left, and nothing else.
type Bedrock struct {
	API    Converser
	Budget Budget         // one for each model, shared by all workers
	Limit  budget.Limit   // of one model
	Rand   func() float64 // in [0,1); nil for math/rand
}

var modelID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.:/_-]+$`)

const maxModelID = 2048 // as the service has it

// Check looks at the form of the id alone; whether the model exists only a call
// can tell.
func (Bedrock) Check(model string) error {
	if len(model) > maxModelID || !modelID.MatchString(model) {
		return fmt.Errorf("%q is not the id of a model, an inference profile or an ARN", clip(model, 80))
	}
	return nil
}

// Version leaves the task's own prompt in place.
func (Bedrock) Version(Task) string { return "" }

// Call makes the call.
func (b Bedrock) Call(ctx context.Context, req Request) (Reply, error) {
	r, err := converse(req)
	if err != nil {
		return Reply{}, &CallError{Failure: NotSent, Detail: "make the request", Err: err}
	}
	for throttled := 0; ; {
		if err := b.Budget.Wait(ctx, budgetKey(req.Model), b.Limit, 1); err != nil {
			return Reply{}, noPlace(err, throttled)
		}
		a, err := b.API.Converse(ctx, r)
		if err == nil {
			reply, err := replyOf(a, string(req.Spec.Task), throttled)
			reply.Model = req.Model
			return reply, err
		}
		e := failed(err)
		if e.Failure != Throttled {
			e.Throttled = throttled
			return Reply{}, e
		}
		if throttled++; !b.pause(ctx, throttled, req.Spec.Timeout/10) {
			e.Throttled = throttled
			return Reply{}, e
		}
	}
}

// budgetKey is the row of a model's budget. A region's profile has a quota of its
// own, so the id is taken as it is set.
func budgetKey(model string) string { return "budget#model#" + model }

// noPlace is a call that the budget did not let leave.
func noPlace(err error, throttled int) *CallError {
	e := &CallError{Failure: NotSent, Detail: "wait for the budget", Err: err, Throttled: throttled}
	var full *budget.Exhausted
	if errors.As(err, &full) {
		e.Failure = Throttled
	}
	return e
}

// failed says what an error of the service means.
func failed(err error) *CallError {
	e := &CallError{Failure: Unknown, Detail: "Converse", Err: err}
	switch {
	case errors.Is(err, bedrock.ErrTooLarge), errors.Is(err, bedrock.ErrNotConverse):
		return &CallError{Failure: NoAnswer, Detail: err.Error(), Err: Shape}
	case bedrock.NotSent(err):
		e.Failure = NotSent
		return e
	}
	switch awserr.ModelCall(err) {
	case awserr.ModelThrottled:
		e.Failure = Throttled
	case awserr.ModelGone:
		e.Failure = Unavailable
	case awserr.ModelRefused:
		e.Failure = Refused
	default:
		if awserr.NotSent(err) {
			e.Failure = NotSent
		}
	}
	return e
}

// The waits after a throttled request: doubling, half of each by chance.
const (
	firstPause = time.Second
	mostPause  = 20 * time.Second
)

// pause waits before another try; false if less than least would be left for it.
func (b Bedrock) pause(ctx context.Context, n int, least time.Duration) bool {
	d := mostPause
	if n < 6 {
		d = min(firstPause<<(n-1), mostPause)
	}
	rnd := rand.Float64
	if b.Rand != nil {
		rnd = b.Rand
	}
	d = d/2 + time.Duration(rnd()*float64(d/2))
	if until, ok := ctx.Deadline(); ok && time.Until(until)-d < least {
		return false
	}
	return retry.Sleep(ctx, d) == nil
}

// converse is the request of a task: its prompt as the system's words, its data
// and pictures as the user's, its schema as a tool that must be used.
func converse(req Request) (bedrock.Request, error) {
	text, err := dataOf(req.Spec.Task, req.Input)
	if err != nil {
		return bedrock.Request{}, err
	}
	schema, err := toolSchema(req.Spec.Schema)
	if err != nil {
		return bedrock.Request{}, fmt.Errorf("schema of %s: %w", req.Spec.Task, err)
	}
	content := []bedrock.Block{bedrock.Text(text)}
	if req.Spec.Task == Precheck {
		for _, p := range req.Input.Pictures {
			content = append(content, bedrock.JPEG(p.JPEG))
		}
	}
	r := bedrock.Request{
		Model:      req.Model,
		System:     []bedrock.Block{bedrock.Text(req.Spec.Prompt)},
		Messages:   []bedrock.Message{{Role: "user", Content: content}},
		Inference:  &bedrock.Inference{MaxTokens: req.Spec.MaxOutput},
		ToolConfig: bedrock.OneTool(string(req.Spec.Task), "Takes the answer of the task. Use it once.", schema),
	}
	if strings.Contains(req.Model, "amazon.nova-") { // its guide asks for greedy decoding with tools; others refuse the parameter
		zero := 0.0
		r.Inference.Temperature = &zero
	}
	return r, nil
}

// toolSchema is a schema with the three keys that every model takes at the top.
func toolSchema(schema json.RawMessage) (json.RawMessage, error) {
	var s struct {
		Type       json.RawMessage `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   json.RawMessage `json:"required"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}
