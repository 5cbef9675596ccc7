package virtual

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/shared/aitask"
	"fastbowlinglab/shared/budget"
	"fastbowlinglab/shared/effect"
	"fastbowlinglab/shared/names"
)

// modelHost is the host and the service name of the paid model.
const modelHost = "model"

// PaidModel is the setting that chooses the paid model.
const PaidModel = "paid:one"

// ModelAnswer is how the paid model answers a call.
type ModelAnswer struct {
	After  time.Duration   // the answer comes so long after the call
	Refuse *aitask.Failure // instead of an answer
}

// ModelCall is a call that reached the paid model: it will be on the bill.
type ModelCall struct {
	At    time.Time
	Key   string // of the effect
	Fence int64
	Actor string
}

// modelService is the paid model's side: it counts.
type modelService struct {
	calls []ModelCall

	mu      sync.Mutex
	waiting map[string]map[*Proc]bool // who waits for an answer, by effect
	both    []string                  // effects that two living processes waited for at once

	departures []Departure
}

// wait notes that p waits for the answer to a call of key; the function it gives
// ends that.
func (m *modelService) wait(key string, p *Proc) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == nil {
		m.waiting = map[string]map[*Proc]bool{}
	}
	if m.waiting[key] == nil {
		m.waiting[key] = map[*Proc]bool{}
	}
	for other := range m.waiting[key] {
		if !other.Dead() {
			m.both = append(m.both, key)
		}
	}
	m.waiting[key][p] = true
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.waiting[key], p)
	}
}

// CalledTwiceAtOnce lists the effects of the paid model that two living
// processes waited for at one time.
func (c *Cloud) CalledTwiceAtOnce() []string { return c.model.both }

type modelRequest struct {
	Key   string
	Fence int64
	Actor string
}

// ServeHTTP implements http.Handler.
func (m *modelService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in modelRequest
	b, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(b, &in) != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	m.calls = append(m.calls, ModelCall{time.Now(), in.Key, in.Fence, in.Actor})
	writeJSON(w, struct{}{})
}

// paid is the provider that calls the paid model: over the wire for the bill and
// the faults, its words being those of the rules.
type paid struct {
	aitask.Rules
	c   *Cloud
	now func() time.Time // nil: the true time
}

// Departure is a call that left under the budget.
type Departure struct {
	Due, At time.Time // by the true time
	Key     string
}

// Departures are the calls that left under the budget.
func (c *Cloud) Departures() []Departure { return c.model.departures }

// place waits for a place in the model's budget, as aitask.Bedrock does, with the
// function's own clock.
func (p paid) place(ctx context.Context, key string) error {
	l := p.c.opt.Budget
	if l.Rate == 0 {
		return nil
	}
	now := time.Now
	if p.now != nil {
		now = p.now
	}
	most := budget.MaxWait
	if d, ok := ctx.Deadline(); ok {
		most = time.Until(d)
	}
	ahead := time.Until(now())
	due, err := budget.Store{DB: p.c.DB, Table: names.Effects.Name, Now: p.now, Retry: p.c.Retry}.Reserve(ctx, ModelBudget, l, 1, most)
	var full *budget.Exhausted
	switch {
	case errors.As(err, &full):
		return &aitask.CallError{Failure: aitask.Throttled, Detail: "no place in the budget", Err: err}
	case err != nil:
		return &aitask.CallError{Failure: aitask.NotSent, Detail: "no place in the budget", Err: err}
	case !p.c.Gate.sleep(ctx, ProcOf(ctx), "place "+key, due.Sub(now())):
		return &aitask.CallError{Failure: aitask.NotSent, Detail: "no time left", Err: ctx.Err()}
	}
	p.c.model.mu.Lock()
	defer p.c.model.mu.Unlock()
	p.c.model.departures = append(p.c.model.departures, Departure{Due: due.Add(-ahead), At: time.Now(), Key: key})
	return nil
}

// ModelBudget is the row of the paid model's budget.
const ModelBudget = "budget#model#one"

// Check implements aitask.Provider.
func (p paid) Check(string) error { return nil }

// Call implements aitask.Provider.
func (p paid) Call(ctx context.Context, req aitask.Request) (aitask.Reply, error) {
	claim, ok := effect.ClaimFrom(ctx)
	if !ok || ProcOf(ctx) == nil {
		return aitask.Reply{}, fmt.Errorf("virtual: a paid call outside a claim or a process")
	}
	a := ModelAnswer{}
	if p.c.opt.Model != nil {
		a = p.c.opt.Model(ctx, fmt.Sprint(claim.Key, "/", claim.Fence))
	}
	if a.Refuse != nil && *a.Refuse == aitask.Throttled { // refused calls are not on the bill
		return aitask.Reply{}, &aitask.CallError{Failure: aitask.Throttled, Detail: "as the run says"}
	}
	if err := p.place(ctx, claim.Key); err != nil {
		return aitask.Reply{}, err
	}
	body := string(mustJSON(modelRequest{claim.Key, claim.Fence, ProcOf(ctx).Name}))
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+modelHost+"/"+string(req.Spec.Task), strings.NewReader(body))
	if err != nil {
		return aitask.Reply{}, err
	}
	defer p.c.model.wait(claim.Key, ProcOf(ctx))()
	resp, err := p.c.Gate.Do(hr)
	if err != nil {
		return aitask.Reply{}, &aitask.CallError{Failure: aitask.Unknown, Detail: "no answer", Err: err}
	}
	if resp.StatusCode != http.StatusOK {
		return aitask.Reply{}, &aitask.CallError{Failure: aitask.Throttled, Detail: resp.Status}
	}
	if !p.c.Gate.sleep(ctx, ProcOf(ctx), "answer "+claim.Key, a.After) {
		return aitask.Reply{}, &aitask.CallError{Failure: aitask.Unknown, Detail: "no answer", Err: ctx.Err()}
	}
	if a.Refuse != nil {
		return aitask.Reply{}, &aitask.CallError{Failure: *a.Refuse, Detail: "as the run says"}
	}
	return p.Rules.Call(ctx, aitask.Request{Spec: req.Spec, Model: aitask.RulesModel, Input: req.Input})
}

// ModelCalls are the calls that reached the paid model.
func (c *Cloud) ModelCalls() []ModelCall { return c.model.calls }
