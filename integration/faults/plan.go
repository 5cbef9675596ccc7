package faults

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/integration/virtual"
)

// Fired is a fault that happened: its kind, and the id of what it happened to.
type Fired struct{ Kind, ID string }

// Plan chooses the faults of one schedule. A plan with Only lets nothing else
// happen: that is how a replay is made shorter.
type Plan struct {
	dice Dice
	rate float64
	only map[Fired]bool // nil: all

	mu    sync.Mutex
	fired map[Fired]bool
}

// NewPlan makes the plan of a seed.
func NewPlan(seed uint64, only map[Fired]bool) *Plan {
	d := Dice(seed)
	return &Plan{dice: d, only: only, fired: map[Fired]bool{},
		rate: []float64{0, 0.01, 0.03, 0.03, 0.08}[d.IntN(5, "rate")]}
}

// fire tells whether a fault that the dice chose may happen, and notes it.
func (p *Plan) fire(kind, id string) bool {
	f := Fired{kind, id}
	if p.only != nil && !p.only[f] {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fired[f] = true
	return true
}

// stopped reports whether the actor was ever stopped for a while.
func (p *Plan) stopped(actor string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for f := range p.fired {
		if f.Kind == string(virtual.Paused) && strings.HasPrefix(f.ID, actor+" ") {
			return true
		}
	}
	return false
}

// event tells whether something of the schedule itself happens.
func (p *Plan) event(kind, id string, chance float64) bool {
	return p.dice.Chance(chance, kind+" "+id) && p.fire(kind, id)
}

// Fired lists what happened.
func (p *Plan) Fired() []Fired {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(maps.Keys(p.fired), func(a, b Fired) int {
		return strings.Compare(a.Kind+a.ID, b.Kind+b.ID)
	})
}

// mortal reports whether the actor is a process that may be killed or stopped:
// an invocation or a worker, not the clients.
func mortal(actor string) bool { return actor != "" && !strings.HasPrefix(actor, "client") }

// slow reports whether this is one of the three in ten worlds in which whoever
// holds something is stopped, or unheard, now and then for longer than it may
// hold it: that is what fences and owners are for.
func (p *Plan) slow() bool { return p.dice.Chance(0.3, "slow world") }

// outlasts chooses the faults of a slow world: a worker stopped for longer than its
// lease, or whose write arrives later than that; a mail or push event refused or its sender
// stopped, a mark that arrives late.
func (p *Plan) outlasts(c virtual.Call) (virtual.Decision, bool) {
	fault, chance := virtual.Paused, 0.0
	switch table := c.Table(); {
	case c.Op == "UpdateItem" && table == "pose-jobs" && strings.HasPrefix(c.Actor, "worker-"):
		chance = 0.12
		if p.dice.Chance(0.6, "unheard "+c.ID) {
			fault = virtual.Straggler
		}
	case c.Op == "UpdateItem" && table == "notices":
		fault, chance = virtual.Straggler, 0.5
	case (c.Service == "ses" || c.Service == "sns") && p.dice.Chance(0.5, "refused "+c.ID):
		fault, chance = virtual.Throttled, 0.6
	case c.Service == "ses", c.Service == "sns":
		chance = 0.3
	}
	if !p.slow() || !p.dice.Chance(chance, "outlasts "+c.ID) || !p.fire(string(fault), c.ID) {
		return virtual.Decision{}, false
	}
	return virtual.Decision{Fault: fault, For: p.dice.Between(100*time.Second, 300*time.Second, "outlasts for "+c.ID)}, true
}

// request chooses the fault of a request.
func (p *Plan) request(c virtual.Call) virtual.Decision {
	if p.forgotten(c) {
		return virtual.Decision{Fault: virtual.CrashBefore}
	}
	if d, ok := p.outlasts(c); ok {
		return d
	}
	if !p.dice.Chance(p.rate, "request "+c.ID) {
		return virtual.Decision{}
	}
	kinds := []virtual.Fault{virtual.NotDone, virtual.Lost, virtual.Late, virtual.Throttled, virtual.Straggler}
	switch {
	case c.Op == "ReceiveMessage":
		kinds = kinds[:2] // the others would only be slow polls
	case c.Service == "dynamodb":
		kinds = append(kinds, virtual.Twice)
	case c.Service == virtual.ServiceWorker, c.Service == virtual.ServiceGateway:
		kinds = []virtual.Fault{virtual.NotDone, virtual.Lost, virtual.Late, virtual.Straggler, virtual.Twice}
	}
	if c.Op == "TransactWriteItems" {
		kinds = append(kinds, virtual.Conflict, virtual.Lost)
	}
	if mortal(c.Actor) {
		kinds = append(kinds, virtual.CrashBefore, virtual.CrashAfter, virtual.Paused)
	}
	d := virtual.Decision{Fault: kinds[p.dice.IntN(len(kinds), "kind "+c.ID)]}
	switch d.Fault {
	case virtual.Late:
		d.For = p.dice.Between(time.Second, 25*time.Second, "late "+c.ID)
	case virtual.Straggler:
		d.For = p.dice.Between(time.Second, 200*time.Second, "straggler "+c.ID)
	case virtual.Paused:
		d.For = p.dice.Between(10*time.Second, 200*time.Second, "paused "+c.ID)
	}
	if !p.fire(string(d.Fault), c.ID) {
		return virtual.Decision{}
	}
	return d
}

// invocation chooses the fault of an invocation by the state machine.
func (p *Plan) invocation(i virtual.Invocation) virtual.InvokeFault {
	if !p.dice.Chance(p.rate*2, "invocation "+i.ID) {
		return virtual.InvokeFault{}
	}
	kinds := []virtual.InvokeKind{virtual.InvokeRefused, virtual.InvokeTimeout, virtual.InvokeTimeout, virtual.InvokeUnknown, virtual.InvokeSlow}
	f := virtual.InvokeFault{Kind: kinds[p.dice.IntN(len(kinds), "invocation kind "+i.ID)]}
	switch f.Kind {
	case virtual.InvokeTimeout:
		f.After = p.dice.Between(time.Millisecond, time.Minute, "client timeout "+i.ID)
	case virtual.InvokeSlow:
		f.After = p.dice.Between(time.Second, 4*time.Minute, "slow "+i.ID)
	}
	if !p.fire(string(f.Kind), i.ID) {
		return virtual.InvokeFault{}
	}
	return f
}

// Kinds of faults of events, and of what else a schedule does.
const (
	eventTwice    = "event_twice"
	eventLate     = "event_late"
	eventNever    = "event_never"
	doRestart     = "restart"
	doDuplicate   = "duplicate_start"
	doForeign     = "foreign_execution"
	doAbort       = "execution_aborted"
	doCancel      = "cancelled_by_user"
	doSlowModel   = "slow_model"
	doLostModel   = "model_refuses"
	doTwoClients  = "two_clients"
	doNoUpload    = "upload_unfinished"
	doNoStart     = "start_forgotten"
	doReject      = "rejected_footage"
	doBroke       = "no_credit_left"
	doSkew        = "skewed_clock"
	doSecondOwner = "second_claim_check"
	doRedrive     = "redriven_after_end"
	doTwoGrants   = "granted_twice"
	doPayment     = "payment_told_often"
	doConfirm     = "confirmed_again"
	doRerun       = "rerun_after_end"
	doRedo        = "reported_again"
	doChoose      = "channels_chosen"
	doRelease     = "redo_released"
	doForms       = "forms_used_late"
	doReport      = "report_read"
	doExport      = "export_read"
	doStranger    = "stranger_asks"
)

// AllKinds lists every kind of fault and event that a schedule may have.
func AllKinds() []string {
	out := []string{eventTwice, eventLate, eventNever, doRestart, doDuplicate, doForeign, doAbort, doCancel, doSlowModel, doLostModel, doTwoClients,
		doNoUpload, doNoStart, doReject, doBroke, doSkew, doSecondOwner, doRedrive, doTwoGrants, doPayment, doConfirm, doRerun, doRedo, doChoose,
		doRelease, doForms, doReport, doExport, doStranger}
	for _, f := range []virtual.Fault{virtual.NotDone, virtual.Lost, virtual.Twice, virtual.Late, virtual.Straggler, virtual.Throttled, virtual.Conflict,
		virtual.CrashBefore, virtual.CrashAfter, virtual.Paused} {
		out = append(out, string(f))
	}
	for _, k := range []virtual.InvokeKind{virtual.InvokeRefused, virtual.InvokeTimeout, virtual.InvokeUnknown, virtual.InvokeSlow} {
		out = append(out, string(k))
	}
	return out
}

// events chooses the deliveries of an event.
func (p *Plan) events(kind, id string) []time.Duration {
	id = kind + " " + id
	never := p.dice.Chance(0.1, "events never") // a mode of its own: none arrives
	if (never || p.dice.Chance(p.rate, "never "+id)) && p.fire(eventNever, id) {
		return nil
	}
	out := []time.Duration{0}
	if p.dice.Chance(p.rate*3, "late "+id) && p.fire(eventLate, id) { // and so behind later ones
		out[0] = p.dice.Between(time.Second, 20*time.Minute, "late by "+id)
	}
	if p.dice.Chance(p.rate*3, "twice "+id) && p.fire(eventTwice, id) {
		out = append(out, p.dice.Between(0, 10*time.Minute, "again "+id))
	}
	return out
}

// skew is how far ahead an actor's clock is: within half of what the design
// allows two clocks to differ, either way.
func (p *Plan) skew(actor string) time.Duration {
	if !p.event(doSkew, actor, p.rate*5) {
		return 0
	}
	return p.dice.Between(-7*time.Second, 7*time.Second, "skew "+actor)
}
