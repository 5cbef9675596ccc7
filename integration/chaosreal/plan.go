package chaosreal

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"fastbowlinglab/integration/bedrock"
	"fastbowlinglab/integration/faults"
	"fastbowlinglab/integration/local/endpoint"
)

// Kinds of what happens, beside the endpoint's faults.
const (
	crashBefore = "function_killed_before_request"
	crashAfter  = "function_killed_after_request"
	killWorker  = "worker_killed"
	stopWorker  = "worker_stopped_past_its_lease"
	eventTwice  = "event_twice"
	slowModel   = "slow_model"
	lostModel   = "model_answer_lost"
	fullModel   = "model_throttles"
	restart     = "restart"
	duplicate   = "duplicate_start"
	foreign     = "foreign_execution"
	abort       = "execution_stopped"
	redrive     = "execution_redriven"
	cancel      = "cancelled_by_user"
	secondCheck = "second_claim_check"
)

// faulty is how many requests of one program and operation may meet a fault, for
// each analysis: after that the system has to bring it to its end. Requests are
// counted and not seconds, so that a slow machine sees the same faults.
const faulty = 12

// plan is what the seed of one schedule decides.
type plan struct {
	seed uint64
	dice faults.Dice
	rate float64 // of faults, for one request

	most int // requests of a program and operation that may meet one

	mu       sync.Mutex
	requests map[string]int // seen, by caller and operation
	fired    map[string]int // by kind
}

func newPlan(seed uint64) *plan {
	d := faults.Dice(seed)
	return &plan{seed: seed, dice: d, most: faulty, rate: []float64{0, 0.02, 0.04, 0.08}[d.IntN(4, "rate")], requests: map[string]int{}, fired: map[string]int{}}
}

func (p *plan) fire(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fired[kind]++
}

// number counts the requests of a caller, and tells whether faults are over.
func (p *plan) number(caller, operation string) (id string, calm bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := caller + " " + operation
	p.requests[key]++
	return fmt.Sprint(key, " ", p.requests[key]), p.requests[key] > p.most
}

// decision is what becomes of a request. Crash kills the function that sent it.
type decision struct {
	fault endpoint.Fault
	crash string // "", crashBefore or crashAfter
}

// request decides about one request of a program.
func (p *plan) request(service, operation, caller string) decision {
	id, calm := p.number(caller, service+" "+operation)
	if calm || !p.dice.Chance(p.rate, "request "+id) {
		return decision{}
	}
	kinds := []endpoint.Kind{endpoint.NotDone, endpoint.Lost, endpoint.Late, endpoint.Throttled}
	if service == endpoint.DynamoDB {
		kinds = append(kinds, endpoint.Twice)
	}
	if strings.HasSuffix(operation, "TransactWriteItems") {
		kinds = append(kinds, endpoint.Conflict, endpoint.Lost)
	}
	if service == endpoint.Bedrock {
		return decision{} // the model's script decides
	}
	n := len(kinds)
	if caller != workerApp {
		n += 3
	}
	i := p.dice.IntN(n, "kind "+id)
	switch {
	case i >= len(kinds)+1:
		p.fire(crashAfter)
		return decision{endpoint.Fault{Kind: endpoint.Lost}, crashAfter}
	case i >= len(kinds):
		p.fire(crashBefore)
		return decision{endpoint.Fault{Kind: endpoint.NotDone}, crashBefore}
	}
	f := endpoint.Fault{Kind: kinds[i]}
	if f.Kind == endpoint.Late {
		f.Delay = p.dice.Between(500*time.Millisecond, 8*time.Second, "late "+id)
	}
	p.fire("request_" + strings.ReplaceAll(f.Kind.String(), " ", "_"))
	return decision{fault: f}
}

// thing is something that happens to an analysis at a time after its start.
type thing struct {
	at   time.Duration
	kind string
	n    int
}

// things lists what happens to the analysis, beside the faults of requests.
func (p *plan) things() []thing {
	var out []thing
	n := p.dice.IntN(5, "things")
	for i := range n {
		kinds := []string{restart, duplicate, foreign, foreign, foreign, abort, abort, cancel, secondCheck, killWorker, stopWorker}
		kind := kinds[p.dice.IntN(len(kinds), fmt.Sprint("thing ", i))]
		if kind == cancel && p.dice.Chance(0.5, fmt.Sprint("spared ", i)) {
			kind = redrive
		}
		out = append(out, thing{p.dice.Between(0, 40*time.Second, fmt.Sprint("when ", i)), kind, i})
	}
	return out
}

// act decides how the model answers its nth call in the campaign. Its calls carry
// no analysis, so they are the campaign's and not one schedule's.
func (p *plan) act(n int) *bedrock.Act {
	q := fmt.Sprint("model ", n)
	a := &bedrock.Act{Delay: p.dice.Between(0, 2*time.Second, "takes "+q)}
	switch {
	case p.dice.Chance(0.06, "slow "+q):
		p.fire(slowModel)
		a.Delay = p.dice.Between(5*time.Second, 20*time.Second, "slow takes "+q)
	case p.dice.Chance(0.04, "lost "+q):
		p.fire(lostModel)
		a.Drop = true
	case p.dice.Chance(0.06, "full "+q):
		p.fire(fullModel)
		a.Status, a.Code, a.Message = 429, "ThrottlingException", "Too many requests, please wait before trying again."
	}
	return a
}
